package check

import (
	"fmt"
	"strconv"

	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/words"
)

// misnamed is an entry that replaces or skips what its author likely meant otherwise, which
// breaks the chain of a channel.
type misnamed struct {
	path      []any  // to the name
	meant     string // the entry that is meant, or ""
	why, hint string
}

// misnamed returns the first entry of a channel that replaces or skips no entry of it, but a
// name that lacks the prefix of the package, or, where the chain should go on, a bundle of
// another channel; nil if there is none. (What is in no channel may have been removed from
// the catalog, and the oldest entry of a channel often replaces one of another.)
func (ch *channelState) misnamed(p *packageState, goesOn func(entry string) bool) *misnamed {
	check := func(entry, verb, name string, path []any) *misnamed {
		if name == "" || ch.byName[name] != nil {
			return nil
		}
		says := fmt.Sprintf("%q %s %q, ", entry, verb, name)
		if meant := names.Meant(p.name(), name, func(s string) bool { return ch.byName[s] != nil && s != entry }); meant != "" && p.bundles[name] == nil {
			return &misnamed{path, meant, says + "which is no bundle; did you mean " + strconv.Quote(meant) + "?", "write " + strconv.Quote(meant)}
		}
		if !goesOn(entry) {
			return nil
		}
		var others []string
		for _, other := range p.channels {
			if other.byName[name] != nil {
				others = append(others, strconv.Quote(other.doc.Name()))
			}
		}
		if len(others) == 0 {
			return nil
		}
		where := "channel " + words.First(others, 3)
		if len(others) > 1 {
			where = "channels " + words.First(others, 3)
		}
		return &misnamed{path, "", says + "which is not in this channel, but in the " + where,
			fmt.Sprintf("add the entry %q to this channel, or make %q replace or skip entries of this one", name, entry)}
	}
	for _, i := range ch.entries {
		e := &ch.doc.Entries()[i]
		if bad := check(e.Name, "replaces", e.Replaces, at("entries", i, "replaces")); bad != nil {
			return bad
		}
		for k, s := range e.Skips {
			if bad := check(e.Name, "skips", s, at("entries", i, "skips", k)); bad != nil && bad.meant != "" {
				return bad
			}
		}
	}
	return nil
}
