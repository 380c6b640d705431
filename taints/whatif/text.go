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

// WriteText writes the prediction for people: a line for each thing that
// happens, with the time since the start, and a summary. Nodes that the same
// happens to at the same instant share a line. The error is that of w.
func (p *Prediction) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%10s  %s\n", "", p.Start.UTC().Format(time.RFC3339))
	for i := 0; i < len(p.Entries); {
		n := 1
		for i+n < len(p.Entries) && p.Entries[i].At.Equal(p.Entries[i+n].At) {
			n++
		}
		after := "+" + p.Entries[i].At.Sub(p.Start).String()
		for _, alike := range gather(p.Entries[i : i+n]) {
			fmt.Fprintf(out, "%10s  %s\n", after, line(alike))
		}
		i += n
	}
	out.WriteString("\n")
	for _, text := range p.summary() {
		out.WriteString(text + "\n")
	}
	return out.Flush()
}

// gather puts entries of one instant together that tell the same of several
// nodes, each where the first of them stands.
func gather(entries []Entry) [][]Entry {
	type what struct {
		kind  EntryKind
		text  string
		taint fairlead.Taint
	}
	var all [][]Entry
	at := map[what]int{}
	for _, e := range entries {
		if e.Kind != EntryCondition && e.Kind != EntryTaint && e.Kind != EntryUntaint {
			all = append(all, []Entry{e})
			continue
		}
		w := what{kind: e.Kind, text: e.Text}
		if e.Taint != nil {
			w.taint = *e.Taint
		}
		i, known := at[w]
		if !known {
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
	who := "node " + e.Node
	if n := len(entries); n > 1 {
		const named = 4
		var names []string
		for i := range entries[:min(n, named)] {
			names = append(names, entries[i].Node)
		}
		if n > named {
			names = append(names, "...")
		}
		who = fmt.Sprintf("%d nodes (%s):", n, strings.Join(names, ", "))
	}
	switch e.Kind {
	case EntryEvent:
		return e.Text
	case EntryZone:
		return fmt.Sprintf("zone %q: %s", e.Zone, e.Mode)
	case EntryCondition:
		return who + " Ready is " + e.Text
	case EntryTaint:
		return who + " + " + taintText(e.Taint)
	case EntryUntaint:
		return who + " - " + taintText(e.Taint)
	}
	text := fmt.Sprintf("evict %s from %s for %s", e.Pod, e.Node, taintText(e.Taint))
	if e.Toleration != nil && e.Toleration.TolerationSeconds != nil {
		text += fmt.Sprintf(", tolerated for %d s", *e.Toleration.TolerationSeconds)
	}
	if words := fateWords[e.Fate]; words != "" {
		text += "; " + words
	}
	for _, b := range e.Violates {
		text += "; violates budget " + b
	}
	return text
}

var fateWords = map[Fate]string{
	FateStranded: "no node takes it", FateLost: "not managed by a controller", FateBound: "it belongs to its node",
}

// summary says what it comes to, a line for each matter.
func (p *Prediction) summary() []string {
	if p.Evicted == 0 {
		return append([]string{"no pod is evicted"}, p.unfinished()...)
	}
	lines := []string{fmt.Sprintf("%s evicted, the last after %s", words.Count(p.Evicted, "pod is", "pods are"), p.Last.Sub(p.Start))}
	for _, m := range []struct {
		pods []eviction.PodRef
		what string
	}{{p.Stranded, "no node takes %d of them: %s"}, {p.Lost, "%d of them not managed by a controller: %s"}} {
		if len(m.pods) > 0 {
			lines = append(lines, fmt.Sprintf(m.what, len(m.pods), podNames(m.pods)))
		}
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
	const named = 5
	var names []string
	for _, p := range pods[:min(len(pods), named)] {
		names = append(names, p.String())
	}
	if len(pods) > named {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}
