package diagnosis

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestScripts runs testdata/*.txt: each command reads a cluster (see testWorld), of which it may ask
// as in Options with drain=(NODE ...) atonce=N of=(ID ...), and prints
//
//	diagnose   the verdict, the causes with their reasons, the steps with their commands, what
//	           each frees, and how many things are not known
//	graph      the whole graph
//	words      what people read
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			w, err := testWorld(c.Input)
			if err != nil {
				t.Fatalf("%s: %v", c.Pos, err)
			}
			w.toDrain, w.of = c.Values("drain"), c.Values("of")
			w.atOnce, _ = strconv.Atoi(c.Value("atonce"))
			d := diagnose(w)
			switch c.Name {
			case "diagnose":
				return facts(d)
			case "graph":
				return shown(&d.Graph)
			case "words":
				return said(d)
			}
			t.Fatalf("%s: no command %s", c.Pos, c.Name)
			return ""
		}
	})
}

// facts prints what programs read.
func facts(d *Diagnosis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s health=%s assessment=%s", d.Word, d.Health, d.Assessment)
	if d.Updating {
		fmt.Fprintf(&b, " %s>%s", d.From, d.To)
	}
	fmt.Fprintf(&b, " unknown=%d rest=%v\n", len(d.Unknown), d.Rest)
	for _, c := range d.Causes {
		fmt.Fprintf(&b, "cause %s %v affects %d", c.Reason, c.Nodes, len(c.Affects))
		for _, x := range []struct {
			is   bool
			word string
		}{{c.Danger, "danger"}, {c.Open, "open"}, {c.Circle, "circle"}} {
			if x.is {
				b.WriteString(" " + x.word)
			}
		}
		b.WriteByte('\n')
	}
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "step %s tried=%v like=%d frees %v\n$ %s\n", s.Object, s.Tried, s.Like, s.Frees, s.Command)
		if s.Or != nil {
			fmt.Fprintf(&b, "or $ %s\n", s.Or.Command)
		}
	}
	return b.String()
}

// shown prints a graph.
func shown(g *Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s %s %s %s\n", n.ID, n.State, n.Reason, n.Sure)
		for _, e := range g.From(n.ID) {
			fmt.Fprintf(&b, "  > %s %s %s\n", e.To, e.Rule, e.Sure)
		}
	}
	return b.String()
}

// said prints what people read.
func said(d *Diagnosis) string {
	var b strings.Builder
	for _, s := range d.Says {
		fmt.Fprintf(&b, "cause: %s\n", s)
	}
	for _, s := range d.Stages {
		fmt.Fprintf(&b, "%s %d/%d %s\n", s.Name, s.Done, s.Total, strings.Join(s.Says, ", "))
	}
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "do: %s; frees %s\n", s.Do, s.Says)
		if s.Must != "" {
			fmt.Fprintf(&b, "  must: %s\n", s.Must)
		}
		if s.Or != nil {
			fmt.Fprintf(&b, "  or: %s; must: %s\n", s.Or.Do, s.Or.Must)
		}
	}
	for _, g := range d.Unknown {
		fmt.Fprintf(&b, "not known: %s\n", g.What)
	}
	return b.String()
}
