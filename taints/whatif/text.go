package whatif

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/eviction"
)

// WriteText writes the prediction for people: a line for each thing that happens,
// with the time since the start, and a summary. Nodes with the same event at the same
// time share a line, and so do many pods. The error is that of w.
func (p *Prediction) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	words.Fprintf(out, "%10s  %s\n", "", p.Start.UTC().Format(time.RFC3339))
	for i := 0; i < len(p.Entries); {
		n := 1
		for i+n < len(p.Entries) && p.Entries[i].At.Equal(p.Entries[i+n].At) {
			n++
		}
		after := "+" + p.Entries[i].At.Sub(p.Start).String()
		for _, alike := range gather(p.Entries[i : i+n]) {
			words.Fprintf(out, "%10s  %s\n", after, line(alike))
		}
		i += n
	}
	out.WriteString("\n")
	for _, text := range p.summary() {
		words.Fprintf(out, "%s\n", text)
	}
	return out.Flush()
}

// named is how many nodes or pods of one line are named.
const named = 4

// gather groups entries of one time that say the same about several nodes, or about
// many pods, each group at the place of its first entry.
func gather(entries []Entry) [][]Entry {
	type what struct {
		kind     EntryKind
		text     string
		taint    fairlead.Taint
		finite   bool // it was tolerated for seconds
		seconds  int64
		fate     Fate
		violates bool
	}
	key := func(e *Entry) what {
		w := what{kind: e.Kind, text: e.Text, fate: e.Fate, violates: len(e.Violates) > 0}
		if e.Taint != nil {
			w.taint = *e.Taint
			w.taint.TimeAdded = nil
		}
		if e.Toleration != nil && e.Toleration.TolerationSeconds != nil {
			w.finite, w.seconds = true, *e.Toleration.TolerationSeconds
		}
		return w
	}
	count := map[what]int{}
	for i := range entries {
		count[key(&entries[i])]++
	}
	var all [][]Entry
	at := map[what]int{}
	for _, e := range entries {
		w := key(&e)
		i, known := at[w]
		switch {
		case e.Kind == EntryEvent, e.Kind == EntryZone, e.Kind == EntryEvict && count[w] <= named:
			all = append(all, []Entry{e})
			continue
		case !known:
			i = len(all)
			at[w] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], e)
	}
	return all
}

// line writes entries that are alike.
func line(entries []Entry) string {
	e := &entries[0]
	switch e.Kind {
	case EntryEvent:
		return e.Text
	case EntryZone:
		return fmt.Sprintf("zone %q: %s", e.Zone, e.Mode)
	case EntryCondition:
		return nodes(entries) + " Ready is " + e.Text
	case EntryTaint:
		return nodes(entries) + " + " + taintText(e.Taint)
	case EntryUntaint:
		return nodes(entries) + " - " + taintText(e.Taint)
	}
	what := fmt.Sprintf("%s from %s", e.Pod, e.Node)
	if n := len(entries); n > 1 {
		what = fmt.Sprintf("%d pods from %s", n, strings.TrimPrefix(strings.TrimSuffix(nodes(entries), ":"), "node "))
	}
	text := fmt.Sprintf("evict %s for %s", what, taintText(e.Taint))
	if e.Toleration != nil && e.Toleration.TolerationSeconds != nil {
		text += fmt.Sprintf(", tolerated for %d s", *e.Toleration.TolerationSeconds)
	}
	switch many := len(entries) > 1; {
	case e.Fate == FateStranded && many:
		text += "; no node takes them"
	case e.Fate == FateStranded:
		text += "; no node takes it"
	case e.Fate == FateHeld && many:
		text += "; they are not replaced until their nodes return or are fenced"
	case e.Fate == FateHeld:
		text += "; it is not replaced until the node returns or is fenced"
	case e.Fate == FateLost:
		text += "; not managed by a controller"
	case e.Fate == FateBound && many:
		text += "; they belong to their nodes"
	case e.Fate == FateBound:
		text += "; it belongs to its node"
	}
	switch {
	case len(entries) == 1:
		for _, b := range e.Violates {
			text += "; violates budget " + b
		}
	case len(e.Violates) > 0:
		text += "; each violates a budget"
	}
	if len(entries) > 1 {
		var pods []eviction.PodRef
		for i := range entries {
			pods = append(pods, *entries[i].Pod)
		}
		text += ": " + podNames(pods)
	}
	return text
}

// nodes names the nodes of entries, each once.
func nodes(entries []Entry) string {
	var names []string
	seen := map[string]bool{}
	for i := range entries {
		if !seen[entries[i].Node] {
			seen[entries[i].Node] = true
			names = append(names, entries[i].Node)
		}
	}
	if len(names) == 1 {
		return "node " + names[0]
	}
	return fmt.Sprintf("%d nodes (%s):", len(names), words.First(names, named))
}

// summary sums up the prediction, a line for each matter.
func (p *Prediction) summary() []string {
	if p.Evicted == 0 {
		return append([]string{"no pod is evicted"}, p.unfinished()...)
	}
	lines := []string{fmt.Sprintf("%s evicted, the last after %s", words.Count(p.Evicted, "pod is", "pods are"), p.Last.Sub(p.Start))}
	if n := len(p.Stranded); n > 0 {
		lines = append(lines, fmt.Sprintf("no node takes %d of them: %s", n, podNames(p.Stranded)))
	}
	if n := len(p.Held); n > 0 {
		lines = append(lines, fmt.Sprintf("%d of them %s to StatefulSets, and %s Terminating until their nodes report again, are deleted, or are tainted out-of-service: %s",
			n, words.Plural(n, "belongs", "belong"), words.Plural(n, "stays", "stay"), podNames(p.Held)))
	}
	if n := len(p.Lost); n > 0 {
		lines = append(lines, fmt.Sprintf("%d of them %s not managed by a controller: %s", n, words.Plural(n, "is", "are"), podNames(p.Lost)))
	}
	if p.Violations > 0 {
		lines = append(lines, words.Count(p.Violations, "eviction violates", "evictions violate")+" a disruption budget")
	}
	return append(lines, p.unfinished()...)
}

func (p *Prediction) unfinished() []string {
	if !p.Open {
		return nil
	}
	return []string{fmt.Sprintf("more would happen after %s, the horizon", p.End.Sub(p.Start))}
}

// podNames names the first pods of a list.
func podNames(pods []eviction.PodRef) string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.String()
	}
	return words.First(names, named)
}
