package catalog

import (
	"slices"
	"sync"
)

// Channel is an olm.channel document: a line of updates of a package.
type Channel struct {
	doc     *Document
	pkg     *Package
	changed []Entry  // instead of those of doc, see WithEntries
	origin  *Channel // the channel that this one stands for, see WithEntries
	lazy    lazyGraphs
	headed  sync.Once // heads are known
	heads   []string
}

// Entry is a bundle's entry in a channel: its name, and what it updates from.
type Entry struct {
	// Name is the name of the bundle.
	Name string `json:"name"`
	// Replaces is the name of the bundle that this one updates. The catalog
	// need not have it.
	Replaces string `json:"replaces,omitempty"`
	// Skips are names of bundles that this one also updates, and that should
	// no longer be installed. The catalog need not have them.
	Skips []string `json:"skips,omitempty"`
	// SkipRange is a range of versions that this bundle also updates.
	SkipRange string `json:"skipRange,omitempty"`
}

// Name returns the channel's name.
func (ch *Channel) Name() string { return ch.doc.name }

// Package returns the package that the channel belongs to.
func (ch *Channel) Package() *Package { return ch.pkg }

// Document returns the channel's document.
func (ch *Channel) Document() *Document { return ch.doc }

// Entries returns the channel's entries in the order they are written. The
// list is the catalog's own and must not be changed.
func (ch *Channel) Entries() []Entry {
	if ch.origin != nil {
		return ch.changed
	}
	return ch.doc.record.entries
}

// WithEntries returns a channel as it would be with other entries, of which it keeps a copy,
// in the same package with the same other channels. It is not a part of the catalog, and
// its Document is that of the receiver.
func (ch *Channel) WithEntries(entries []Entry) *Channel {
	origin := ch
	if ch.origin != nil {
		origin = ch.origin
	}
	return &Channel{doc: ch.doc, pkg: ch.pkg, changed: slices.Clone(entries), origin: origin}
}
