package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// AddChannel adds a channel to a package, with the entries given.
func (e *Editor) AddChannel(ctx context.Context, pkg, channel string, entries ...catalog.Entry) (*Patch, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	text := jsonText(struct {
		Schema  string          `json:"schema"`
		Package string          `json:"package"`
		Name    string          `json:"name"`
		Entries []catalog.Entry `json:"entries"`
	}{catalog.SchemaChannel, pkg, channel, entries})
	if err := k.addDocument(p, text); err != nil {
		return nil, err
	}
	return k.patch(ctx)
}

// ForkChannel adds a copy of a channel under another name, after the old one,
// including comments. Deprecations of the old channel do not apply to the new
// one.
func (e *Editor) ForkChannel(ctx context.Context, pkg, from, to string) (*Patch, error) {
	_, ch, err := e.channel(pkg, from)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	t, err := k.text(ch.Document())
	if err != nil {
		return nil, err
	}
	s, err := t.member(t.tree, "name", doc.AppendText(nil, to))
	if err != nil {
		return nil, err
	}
	if err := k.addBehind(ch.Document(), slices.Concat(t.raw[:s.start], s.text, t.raw[s.end:])); err != nil {
		return nil, err
	}
	return k.patch(ctx)
}

// RenameChannel renames a channel, also in its package's default channel and in
// deprecations. Users who follow the old name no longer get updates: to leave
// nobody behind, fork it and deprecate the old one.
func (e *Editor) RenameChannel(ctx context.Context, pkg, from, to string) (*Patch, error) {
	p, ch, err := e.channel(pkg, from)
	if err != nil {
		return nil, err
	}
	name := doc.AppendText(nil, to)
	k := &change{e: e, names: map[*catalog.Document]string{ch.Document(): to}}
	if err := k.member(ch.Document(), "name", name); err != nil {
		return nil, err
	}
	if p.DefaultChannel() == from {
		if err := k.member(p.Document(), "defaultChannel", name); err != nil {
			return nil, err
		}
	}
	for d := range p.DeprecationDocuments() {
		at, _, err := deprecationIn(d, catalog.Reference{Schema: catalog.SchemaChannel, Name: from})
		if err == nil && at >= 0 {
			err = k.member(d, "name", name, "entries", at, "reference")
		}
		if err != nil {
			return nil, err
		}
	}
	return k.patch(ctx)
}

// SetDefaultChannel makes a channel the default of its package.
func (e *Editor) SetDefaultChannel(ctx context.Context, pkg, channel string) (*Patch, error) {
	p, _, err := e.channel(pkg, channel)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	if p.DefaultChannel() != channel {
		if err := k.member(p.Document(), "defaultChannel", doc.AppendText(nil, channel)); err != nil {
			return nil, err
		}
	}
	return k.patch(ctx)
}

// MoveHead makes a bundle of the package the head of a channel. A bundle that
// is not in the channel replaces the old head; for one that is, the entries
// that it can be updated to are removed. (Users who have one of those installed
// stay there until a later head skips it.)
func (e *Editor) MoveHead(ctx context.Context, pkg, channel, bundle string) (*Patch, error) {
	p, ch, err := e.channel(pkg, channel)
	if err != nil {
		return nil, err
	}
	if _, ok := p.Bundle(bundle); !ok {
		return nil, fmt.Errorf("catalog: package %q has no bundle %q", pkg, bundle)
	}
	k, heads := &change{e: e}, ch.Heads()
	switch in := slices.ContainsFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == bundle }); {
	case len(heads) != 1:
		return nil, fmt.Errorf("catalog: package %q, channel %q: it has %d heads, but must have one to be moved", pkg, channel, len(heads))
	case !in:
		if err := k.setEntry(p, channel, catalog.Entry{Name: bundle, Replaces: heads[0]}); err != nil {
			return nil, err
		}
		return k.patch(ctx)
	}
	entries := slices.Clone(ch.Entries())
	above := map[string]bool{}
	for pending := []string{bundle}; len(pending) > 0; pending = pending[1:] {
		for _, x := range entries {
			if !above[x.Name] && x.Name != bundle && (x.Replaces == pending[0] || slices.Contains(x.Skips, pending[0])) {
				above[x.Name] = true
				pending = append(pending, x.Name)
			}
		}
	}
	for {
		left := slices.DeleteFunc(slices.Clone(entries), func(x catalog.Entry) bool { return above[x.Name] })
		stray := slices.DeleteFunc(catalog.Heads(left), func(name string) bool { return name == bundle })
		if len(stray) == 0 {
			break
		}
		for _, name := range stray { // only removed entries updated it
			above[name] = true
		}
	}
	for i, x := range entries {
		if above[x.Name] {
			if err := k.dropEntry(ch, i); err != nil {
				return nil, err
			}
		}
	}
	return k.patch(ctx)
}

func (e *Editor) channel(pkg, channel string) (*catalog.Package, *catalog.Channel, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, nil, err
	}
	ch, ok := p.Channel(channel)
	if !ok {
		return nil, nil, fmt.Errorf("catalog: package %q has no channel %q", pkg, channel)
	}
	return p, ch, nil
}
