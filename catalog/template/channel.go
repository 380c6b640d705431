package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// channel is a channel derived from versions.
type channel struct {
	name      string
	archetype string
	typ       string // major or minor
	bundles   []*rendered
	edges     map[string]edges // by name of the bundle
}

// edges are the updates into a bundle.
type edges struct {
	replaces string
	skips    []string
}

// makeChannels splits bundles, sorted by version, into channels of one type.
//
// Updates are within a major: the last patch of every minor replaces the last
// patch of the minor before and skips everything else that is lower, sorted by
// name. Other bundles update nothing: their users move on to the last patch of
// their minor or a later one. Updates are the same in channels of both types;
// in those of a minor, what is replaced or skipped may be in another channel.
func makeChannels(archetype, typ string, bundles []*rendered) []*channel {
	var channels []*channel
	updates := link(bundles)
	for _, b := range bundles {
		name := fmt.Sprintf("%s-v%d", archetype, b.version.Major())
		if typ == minor {
			name += fmt.Sprintf(".%d", b.version.Minor())
		}
		if len(channels) == 0 || channels[len(channels)-1].name != name {
			channels = append(channels, &channel{name: name, archetype: archetype, typ: typ, edges: updates})
		}
		last := channels[len(channels)-1]
		last.bundles = append(last.bundles, b)
	}
	return channels
}

// link returns the updates between bundles that are sorted by version.
func link(bundles []*rendered) map[string]edges {
	updates := map[string]edges{}
	replaced := "" // the last patch of the minor before
	var lower []string
	for i, b := range bundles {
		if i > 0 {
			before := bundles[i-1].version
			switch {
			case before.Major() != b.version.Major():
				replaced, lower = "", nil
			case before.Minor() != b.version.Minor():
				replaced = bundles[i-1].name
			}
		}
		lastPatch := i+1 == len(bundles) || bundles[i+1].version.Major() != b.version.Major() || bundles[i+1].version.Minor() != b.version.Minor()
		if lastPatch {
			e := edges{replaces: replaced}
			for _, name := range lower {
				if name != replaced {
					e.skips = append(e.skips, name)
				}
			}
			slices.Sort(e.skips)
			updates[b.name] = e
		}
		lower = append(lower, b.name)
	}
	return updates
}

// defaultChannel returns the default channel of a package: of the most stable
// archetype present, the channel of the preferred type with the highest
// version.
func defaultChannel(channels []*channel, prefer string) *channel {
	return slices.MaxFunc(channels, func(a, b *channel) int {
		return cmp.Or(
			cmp.Compare(slices.Index(archetypes, a.archetype), slices.Index(archetypes, b.archetype)),
			cmp.Compare(b2i(a.typ == prefer), b2i(b.typ == prefer)),
			a.bundles[len(a.bundles)-1].version.Compare(b.bundles[len(b.bundles)-1].version),
		)
	})
}

// document makes the olm.channel document.
func (ch *channel) document(pkg string) json.RawMessage {
	entries := make([]catalog.Entry, 0, len(ch.bundles))
	for _, b := range ch.bundles {
		e := ch.edges[b.name]
		entries = append(entries, catalog.Entry{Name: b.name, Replaces: e.replaces, Skips: e.skips})
	}
	return marshal(struct {
		Schema  string          `json:"schema"`
		Name    string          `json:"name"`
		Package string          `json:"package"`
		Entries []catalog.Entry `json:"entries"`
	}{catalog.SchemaChannel, ch.name, pkg, entries})
}
