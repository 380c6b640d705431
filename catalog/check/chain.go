package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
	if len(heads) != 1 {
		v.checkHeads(p, ch, heads)
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
	inChain := make(map[string]bool, len(chain))
	for _, name := range chain {
		inChain[name] = true
	}
	var stranded []string
	first := -1
	for _, i := range ch.entries {
		if name := ch.doc.Entries()[i].Name; !inChain[name] && !skipped[name] {
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

// checkHeads reports that a channel has no head, or several, and what likely makes it so.
func (v *validator) checkHeads(p *packageState, ch *channelState, heads []string) {
	subject := channelSubject(p.name(), ch.doc.Name())
	place := []string{p.name(), ch.doc.Name()}
	fault := &catalog.HeadFault{Heads: heads, Hint: "leave one entry that nothing replaces or skips"}
	if pkg, ok := v.c.Package(p.name()); ok {
		if c, ok := pkg.Channel(ch.doc.Name()); ok && c.Document() == ch.doc {
			fault = cmp.Or(c.HeadFault(catalog.AsWritten), fault)
		}
	}
	code, path, note := CodeNoHead, at("entries"), opmLeaf(place, "no channel head found in graph")
	if len(heads) > 0 {
		code, path = CodeMultipleHeads, at("entries", ch.index(heads[1]))
		note = opmLeaf(place, "multiple channel heads found in graph: %s", strings.Join(slices.Sorted(slices.Values(heads)), ", "))
	}
	if fault.Entry != "" {
		if path = at("entries", ch.index(fault.Entry)); fault.Field == "skips" {
			path = append(path, "skips", fault.Index)
		} else if ch.byName[fault.Entry].Replaces != "" {
			path = append(path, "replaces")
		}
	}
	v.add(code, ch.doc, path, subject, fault.String(), fault.Hint, note)
	if fault.Meant != "" {
		v.fix(path, fault.Meant)
	}
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
