package graph

import (
	"slices"
	"strings"
)

// The names of metadata that affect a graph.
const (
	metaURL          = "url"
	metaArch         = "release.openshift.io/architecture"
	metaPrefix       = "io.openshift.upgrades.graph."
	metaChannels     = metaPrefix + "release.channels"
	metaReleaseArch  = metaPrefix + "release.arch"
	metaPreviousAdd  = metaPrefix + "previous.add"
	metaNextAdd      = metaPrefix + "next.add"
	metaPrevious     = metaPrefix + "previous.remove"
	metaPreviousExpr = metaPrefix + "previous.remove_regex"
	metaNextRemove   = metaPrefix + "next.remove"
	metaRemove       = metaPrefix + "release.remove"
)

// Release is one node of a graph.
type Release struct {
	Version string `json:"version"`           // a semantic version, unique in its graph
	Payload string `json:"payload,omitempty"` // the pull specification of its image
	// Metadata is what the service says about it, by name. It is shared with the
	// graph: do not change it.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// URL returns the address of the release's documentation, or "".
func (r Release) URL() string { return strings.TrimSpace(r.Metadata[metaURL]) }

// Channels returns the channels that the release is in, sorted.
func (r Release) Channels() []string {
	list := fields(r.Metadata[metaChannels])
	slices.Sort(list)
	return slices.Compact(list)
}

// Architecture returns the architecture that the release is built for: "multi",
// a name such as "amd64", or "" if it does not say.
func (r Release) Architecture() string {
	if arch := r.Metadata[metaArch]; arch != "" {
		return arch
	}
	return r.Metadata[metaReleaseArch]
}

// fields splits a list at commas, without empty elements.
func fields(list string) []string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
