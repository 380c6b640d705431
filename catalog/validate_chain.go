package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// checkChain checks that the updates of a channel lead to one head. Of several
// faults it reports the first: the others follow from it more often than not.
func (v *validator) checkChain(p *packageState, ch *channelState) {
	subject := channelSubject(p.name(), ch.record.doc.name)
	place := []string{p.name(), ch.record.doc.name}
	heads := ch.heads()
	switch len(heads) {
	case 0:
		v.add(CodeNoHead, ch.record.doc, at("entries"), subject, "it has no head: every entry is replaced or skipped by "+ch.whoCovers(),
			"let the newest entry be replaced and skipped by none", opmLeaf(place, "no channel head found in graph"))
		return
	case 1:
	default:
		names := ch.names(heads)
		v.add(CodeMultipleHeads, ch.record.doc, at("entries", heads[1]), subject,
			fmt.Sprintf("it has %d heads, entries that no other replaces or skips: %s", len(names), some(names)),
			ch.joinHint(p, heads), opmLeaf(place, "multiple channel heads found in graph: %s", strings.Join(names, ", ")))
		return
	}
	chain, cycle, skipped := ch.chain(heads[0])
	if cycle != nil {
		v.add(CodeReplacesCycle, ch.record.doc, at("entries", ch.index(cycle[len(cycle)-2]), "replaces"), subject,
			"the chain of replaces runs in a circle: "+strings.Join(cycle, " -> "), "let the oldest of them replace nothing, or something older",
			opmLeaf(place, "detected cycle in replaces chain of upgrade graph: %s", strings.Join(cycle, " -> ")))
		return
	}
	var stranded []string
	first := -1
	for _, i := range ch.entries {
		if name := ch.record.entries[i].Name; !slices.Contains(chain, name) && !skipped[name] {
			stranded = append(stranded, name)
			if first < 0 {
				first = i
			}
		}
	}
	if len(stranded) == 0 {
		return
	}
	slices.Sort(stranded)
	message, hint := ch.strandedWhy(chain, skipped)
	v.add(CodeStrandedBundle, ch.record.doc, at("entries", first), subject,
		fmt.Sprintf("no chain of updates to the head %q passes %s: %s", ch.record.entries[heads[0]].Name, some(stranded), message), hint,
		opmLeaf(place, "channel contains one or more stranded bundles: %s", strings.Join(stranded, ", ")))
}

// heads returns the entries that no entry replaces or skips.
func (ch *channelState) heads() []int {
	covered := map[string]bool{}
	for _, i := range ch.entries {
		e := &ch.record.entries[i]
		if e.Replaces != "" {
			covered[e.Replaces] = true
		}
		for _, s := range e.Skips {
			covered[s] = true
		}
	}
	var heads []int
	for _, i := range ch.entries {
		if !covered[ch.record.entries[i].Name] {
			heads = append(heads, i)
		}
	}
	return heads
}

// chain walks along replaces from the head, until an entry that some entry
// skips or that is not in the channel. cycle is the walk from the entry that
// comes twice to itself, nil if none does.
func (ch *channelState) chain(head int) (chain, cycle []string, skipped map[string]bool) {
	skipped = map[string]bool{}
	for _, i := range ch.entries {
		for _, s := range ch.record.entries[i].Skips {
			skipped[s] = true
		}
	}
	cur := &ch.record.entries[head]
	chain = []string{cur.Name}
	for cur != nil && !skipped[cur.Replaces] {
		if i := slices.Index(chain, cur.Replaces); i >= 0 {
			return chain, append(chain[i:], cur.Replaces), skipped
		}
		chain = append(chain, cur.Replaces)
		cur = ch.byName[cur.Replaces]
	}
	return chain, nil, skipped
}

// names returns the names of entries, sorted.
func (ch *channelState) names(entries []int) []string {
	var names []string
	for _, i := range entries {
		names = append(names, ch.record.entries[i].Name)
	}
	slices.Sort(names)
	return names
}

// index returns the place of the entry of that name.
func (ch *channelState) index(name string) int {
	return slices.IndexFunc(ch.record.entries, func(e Entry) bool { return e.Name == name })
}

// whoCovers says by what the entries of a channel without a head are covered.
func (ch *channelState) whoCovers() string {
	for _, i := range ch.entries {
		e := &ch.record.entries[i]
		if e.Replaces == e.Name || slices.Contains(e.Skips, e.Name) {
			return strconv.Quote(e.Name) + " itself, or another one"
		}
	}
	return "another one"
}

// joinHint says what would leave one head: the entry with the highest version.
func (ch *channelState) joinHint(p *packageState, heads []int) string {
	best, bestVersion := "", semverx.Version{}
	for _, i := range heads {
		name := ch.record.entries[i].Name
		var version semverx.Version
		if b := p.bundles[name]; b != nil {
			version, _ = semverx.ParseTolerant(b.version)
		}
		if version.IsZero() {
			return "let the newest of them replace or skip the others"
		}
		if best == "" || version.Compare(bestVersion) > 0 {
			best, bestVersion = name, version
		}
	}
	others := slices.DeleteFunc(ch.names(heads), func(n string) bool { return n == best })
	if len(others) == 1 {
		return fmt.Sprintf("add %q to the skips of %q, or let the chain of replaces below %[2]q pass it", others[0], best)
	}
	return fmt.Sprintf("add the others to the skips of %q, the one with the highest version, or let the chain of replaces below it pass them", best)
}

// strandedWhy says where the chain from the head ends, and how to make it go
// on.
func (ch *channelState) strandedWhy(chain []string, skipped map[string]bool) (why, hint string) {
	last := chain[len(chain)-1]
	e := ch.byName[last]
	switch {
	case e == nil && len(chain) > 1 && last != "":
		return fmt.Sprintf("the chain ends where %q replaces %q, which is not in the channel", chain[len(chain)-2], last),
			fmt.Sprintf("let %q replace the newest of them, or skip them", chain[len(chain)-2])
	case e == nil:
		e = ch.byName[chain[max(0, len(chain)-2)]]
	}
	if e != nil && skipped[e.Replaces] && e.Replaces != "" {
		return fmt.Sprintf("the chain ends where %q replaces %q, because that is skipped", e.Name, e.Replaces),
			fmt.Sprintf("add them to the skips of %q, or let it replace the newest of them", e.Name)
	}
	name := last
	if e != nil {
		name = e.Name
	}
	return fmt.Sprintf("the chain ends at %q, which replaces nothing", name), fmt.Sprintf("let %q replace the newest of them, or skip them", name)
}

// some lists names, the first ones if there are many.
func some(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func rangeReason(err error) string {
	var bad *semverx.RangeError
	if errors.As(err, &bad) {
		return bad.Reason
	}
	return err.Error()
}

func rangeHint(err error) string {
	var bad *semverx.RangeError
	if errors.As(err, &bad) && bad.Hint != "" {
		return bad.Hint
	}
	return `write comparisons parted by spaces, as in ">=1.0.0 <1.2.0"`
}
