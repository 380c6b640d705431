package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// checkChain checks that the updates of a channel lead to one head. It reports
// only the first fault: others usually follow from it.
func (v *validator) checkChain(p *packageState, ch *channelState) {
	subject := channelSubject(p.name(), ch.doc.Name())
	place := []string{p.name(), ch.doc.Name()}
	entries := ch.distinct()
	heads := catalog.Heads(entries)
	switch len(heads) {
	case 0:
		v.add(CodeNoHead, ch.doc, at("entries"), subject, "it has no head: every entry is replaced or skipped by "+ch.whoCovers(),
			"make the newest entry one that nothing replaces or skips", opmLeaf(place, "no channel head found in graph"))
		return
	case 1:
	default:
		names := slices.Sorted(slices.Values(heads))
		message, hint, path := fmt.Sprintf("it has %d heads, entries that no other replaces or skips: %s", len(names), words.First(names, listed)), ch.joinHint(p, heads), at("entries", ch.index(heads[1]))
		bad := ch.misnamed(p, func(entry string) bool { return ch.above(p, entry, heads) })
		if bad != nil {
			message, hint, path = message+"; "+bad.why, bad.hint, bad.path
		}
		v.add(CodeMultipleHeads, ch.doc, path, subject, message, hint, opmLeaf(place, "multiple channel heads found in graph: %s", strings.Join(names, ", ")))
		if bad != nil && bad.meant != "" {
			v.fix(bad.path, bad.meant)
		}
		return
	}
	chain, cycle := catalog.Chain(entries, heads[0])
	skipped := catalog.Skipped(entries)
	if cycle != nil {
		v.add(CodeReplacesCycle, ch.doc, at("entries", ch.index(cycle[len(cycle)-2]), "replaces"), subject,
			"the chain of replaces forms a cycle: "+strings.Join(cycle, " -> "), "make the oldest of them replace nothing, or something older",
			opmLeaf(place, "detected cycle in replaces chain of upgrade graph: %s", strings.Join(cycle, " -> ")))
		return
	}
	var stranded []string
	first := -1
	for _, i := range ch.entries {
		if name := ch.doc.Entries()[i].Name; !slices.Contains(chain, name) && !skipped[name] {
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
	path := at("entries", first)
	bad := ch.misnamed(p, func(entry string) bool {
		return entry == chain[len(chain)-1] || len(chain) > 1 && entry == chain[len(chain)-2] && ch.byName[chain[len(chain)-1]] == nil
	})
	if bad != nil {
		message, hint, path = bad.why, bad.hint, bad.path
	}
	v.add(CodeStrandedBundle, ch.doc, path, subject,
		fmt.Sprintf("no chain of updates to the head %q includes %s: %s", heads[0], words.First(stranded, listed), message), hint,
		opmLeaf(place, "channel contains one or more stranded bundles: %s", strings.Join(stranded, ", ")))
	if bad != nil && bad.meant != "" {
		v.fix(bad.path, bad.meant)
	}
}

// above reports whether an entry has a higher version than a head other than itself, so that
// it should lead on to that.
func (ch *channelState) above(p *packageState, entry string, heads []string) bool {
	version := func(name string) (v semverx.Version) {
		if b := p.bundles[name]; b != nil {
			v = semverx.Tolerant(b.version)
		}
		return v
	}
	own := version(entry)
	return slices.ContainsFunc(heads, func(head string) bool {
		v := version(head)
		return head != entry && !v.IsZero() && v.Compare(own) < 0
	})
}

// distinct returns the entries that count: the first of each name.
func (ch *channelState) distinct() []catalog.Entry {
	list := make([]catalog.Entry, len(ch.entries))
	for k, i := range ch.entries {
		list[k] = ch.doc.Entries()[i]
	}
	return list
}

// index returns the index of the entry of that name.
func (ch *channelState) index(name string) int {
	return slices.IndexFunc(ch.doc.Entries(), func(e catalog.Entry) bool { return e.Name == name })
}

// whoCovers names what covers the entries of a channel without a head.
func (ch *channelState) whoCovers() string {
	for _, i := range ch.entries {
		e := &ch.doc.Entries()[i]
		if e.Replaces == e.Name || slices.Contains(e.Skips, e.Name) {
			return strconv.Quote(e.Name) + " itself, or another one"
		}
	}
	return "another one"
}

// joinHint says how to leave one head: the entry with the highest version.
func (ch *channelState) joinHint(p *packageState, heads []string) string {
	best, bestVersion := "", semverx.Version{}
	for _, name := range heads {
		var version semverx.Version
		if b := p.bundles[name]; b != nil {
			version, _ = semverx.ParseTolerant(b.version)
		}
		if version.IsZero() {
			return "make the newest of them replace or skip the others"
		}
		if best == "" || version.Compare(bestVersion) > 0 {
			best, bestVersion = name, version
		}
	}
	others := slices.DeleteFunc(slices.Sorted(slices.Values(heads)), func(n string) bool { return n == best })
	if len(others) == 1 {
		return fmt.Sprintf("add %q to the skips of %q, or make the chain of replaces below %[2]q include it", others[0], best)
	}
	return fmt.Sprintf("add the others to the skips of %q, the one with the highest version, or make the chain of replaces below it include them", best)
}

// listed is how many names a finding lists.
const listed = 8

// strandedWhy says where the chain from the head ends, and how to continue it.
func (ch *channelState) strandedWhy(chain []string, skipped map[string]bool) (why, hint string) {
	last := chain[len(chain)-1]
	e := ch.byName[last]
	switch {
	case e == nil && len(chain) > 1 && last != "":
		return fmt.Sprintf("the chain ends where %q replaces %q, which is not in the channel", chain[len(chain)-2], last),
			fmt.Sprintf("make %q replace the newest of them, or skip them", chain[len(chain)-2])
	case e == nil:
		e = ch.byName[chain[max(0, len(chain)-2)]]
	}
	if e != nil && skipped[e.Replaces] && e.Replaces != "" {
		return fmt.Sprintf("the chain ends where %q replaces %q, because that is skipped", e.Name, e.Replaces),
			fmt.Sprintf("add them to the skips of %q, or make it replace the newest of them", e.Name)
	}
	name := last
	if e != nil {
		name = e.Name
	}
	return fmt.Sprintf("the chain ends at %q, which replaces nothing", name), fmt.Sprintf("make %q replace the newest of them, or skip them", name)
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
	return `write comparisons separated by spaces, as in ">=1.0.0 <1.2.0"`
}
