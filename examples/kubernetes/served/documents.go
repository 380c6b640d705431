package served

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// entry is an entry of a channel, in the form of catalogs.
type entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

// document is a document of a catalog.
type document struct {
	Schema         string     `json:"schema"`
	Package        string     `json:"package,omitempty"`
	Name           string     `json:"name,omitempty"`
	DefaultChannel string     `json:"defaultChannel,omitempty"`
	Image          string     `json:"image,omitempty"`
	Properties     []property `json:"properties,omitempty"`
	Entries        any        `json:"entries,omitempty"`
}

// told is an entry of an olm.deprecations document.
type told struct {
	Reference struct {
		Schema string `json:"schema"`
		Name   string `json:"name,omitempty"`
	} `json:"reference"`
	Message string `json:"message"`
}

// documents returns the documents of a catalog, in an order that depends only on
// the data. Data that is inconsistent was not read from one catalog.
func documents(packages []pkg, bundles []bundle) ([]json.RawMessage, error) {
	slices.SortStableFunc(packages, func(a, b pkg) int { return strings.Compare(a.name, b.name) })
	slices.SortStableFunc(bundles, func(a, b bundle) int {
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.name, b.name), strings.Compare(a.channel, b.channel))
	})
	var out []json.RawMessage
	listed := 0
	for _, p := range packages {
		first, _ := slices.BinarySearchFunc(bundles, p.name, func(b bundle, name string) int { return strings.Compare(b.pkg, name) })
		end := first
		for end < len(bundles) && bundles[end].pkg == p.name {
			end++
		}
		all, err := p.documents(bundles[first:end])
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			text, err := json.Marshal(d)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
		listed += end - first
	}
	if listed < len(bundles) {
		return nil, fmt.Errorf("some bundles belong to packages that are not listed: %w", errHalf)
	}
	return out, nil
}

// documents returns the documents of one package. Its bundles are sorted by
// name and channel.
func (p *pkg) documents(bundles []bundle) ([]document, error) {
	var deprecations []told
	tell := func(schema, name string, message *string) {
		if message != nil {
			t := told{Message: *message}
			t.Reference.Schema, t.Reference.Name = schema, name
			deprecations = append(deprecations, t)
		}
	}
	out := []document{{Schema: "olm.package", Name: p.name, DefaultChannel: p.channel}}
	tell("olm.package", "", p.deprecated)
	entries := map[string][]entry{}
	var held []document
	for i := range bundles {
		b := &bundles[i]
		entries[b.channel] = append(entries[b.channel], entry{b.name, b.replaces, b.skips, b.skipRange})
		if i > 0 && bundles[i-1].name == b.name {
			continue
		}
		held = append(held, document{Schema: "olm.bundle", Package: p.name, Name: b.name, Image: b.image, Properties: slices.Concat(b.properties, b.inline())})
		tell("olm.bundle", b.name, b.deprecated)
	}
	slices.SortStableFunc(p.channels, func(a, b channel) int { return strings.Compare(a.name, b.name) })
	for _, c := range p.channels {
		in := entries[c.name]
		if !slices.ContainsFunc(in, func(e entry) bool { return e.Name == c.head }) {
			return nil, fmt.Errorf("package %s: the head of channel %s, %s, is not among the bundles: %w", p.name, c.name, c.head, errHalf)
		}
		out = append(out, document{Schema: "olm.channel", Package: p.name, Name: c.name, Entries: in})
		tell("olm.channel", c.name, c.deprecated)
		delete(entries, c.name)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("package %s: bundles are in channels that it does not have, %q: %w", p.name, slices.Sorted(maps.Keys(entries)), errHalf)
	}
	out = append(out, held...)
	if deprecations != nil {
		out = append(out, document{Schema: "olm.deprecations", Package: p.name, Entries: deprecations})
	}
	return out, nil
}
