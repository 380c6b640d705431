package diagnosing

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// Advice is what a verb takes from the diagnosis into its JSON.
type Advice struct {
	Word   string           `json:"word"`   // the verdict, as diagnose has it
	Health diagnosis.Health `json:"health"` // likewise
	Says   []string         `json:"says"`   // each cause of what was asked about, in a sentence
	Steps  []diagnosis.Step `json:"steps"`  // what to do
	Rest   bool             `json:"rest"`   // whether nothing that was asked about is stuck after the steps
	// Unknown are the causes whose own cause is not known, and how to find out.
	Unknown []cvo.Gap `json:"unknown,omitempty"`

	waits []string // sentences about what ends by itself
	stuck []string // IDs of what waits for a cause, or is one
}

// Does reports whether a command is one of a step.
func (a *Advice) Does(command string) bool {
	return a != nil && slices.ContainsFunc(a.Steps, func(s diagnosis.Step) bool { return s.Command == command })
}

// Explains reports whether the causes explain what is wrong with an object of the cluster, such as
// "node w-0".
func (a *Advice) Explains(subject string) bool {
	if a == nil {
		return false
	}
	kind, name, _ := strings.Cut(subject, " ")
	if kind == "pool" {
		kind = "MachineConfigPool"
	}
	id := diagnosis.ID(kind, "", name)
	_, is := slices.BinarySearch(a.stuck, id)
	return is
}

// AdviceOf returns the part of a diagnosis that verbs repeat.
func AdviceOf(d *diagnosis.Diagnosis) *Advice {
	a := &Advice{Word: d.Word, Health: d.Health, Says: d.Says, Steps: d.Steps, Rest: d.Rest, stuck: diagnosis.Stuck(d.Causes)}
	for i := range d.Causes {
		if d.Causes[i].Open { // what is not known of causes comes first
			a.Unknown = append(a.Unknown, d.Unknown[len(a.Unknown)])
		}
	}
	for i := range d.Graph.Nodes {
		n := &d.Graph.Nodes[i]
		if n.Reason == diagnosis.PodEnding && slices.ContainsFunc(d.Graph.To(n.ID), func(e diagnosis.Edge) bool { return slices.Contains(a.stuck, e.From) }) {
			a.waits = append(a.waits, n.Says)
		}
	}
	return a
}

// brief is how many causes and steps Tell tells, unless all are wanted.
const brief = 3

// Beyond returns the advice if one of its causes is of another kind than these, and otherwise nil: a verb
// says itself what is wrong with its own objects.
func Beyond(d *diagnosis.Diagnosis, kinds ...string) *Advice {
	if slices.ContainsFunc(d.Causes, func(c diagnosis.Cause) bool { return !slices.Contains(kinds, c.Kind) }) {
		return AdviceOf(d)
	}
	return nil
}

// Some reports whether there are causes.
func (a *Advice) Some() bool { return a != nil && len(a.Says) > 0 }

// Tell writes the causes of what was asked about, and what to do: all, or the first ones. It writes nothing
// without causes. Commands are never cut.
func (a *Advice) Tell(w io.Writer, all bool) {
	if !a.Some() {
		return
	}
	d := &diagnosis.Diagnosis{Word: a.Word, Says: a.Says, Steps: a.Steps, Rest: a.Rest}
	if all {
		Causes(w, d, len(d.Says))
		for i := range d.Steps {
			Step(w, i, &d.Steps[i], true)
		}
		unknown(w, a.Unknown)
		return
	}
	Causes(w, d, brief)
	for i := range d.Steps { // counted, not by lines, which are longer with other names
		if left := len(d.Steps) - i; i == brief && left > 1 {
			words.Fprintf(w, "and %s; -v shows them\n", words.Count(left, "more step", "more steps"))
			break
		}
		Step(w, i, &d.Steps[i], i == 0)
	}
	if len(a.waits) > 0 {
		page.Fold(w, "WAIT  ", words.First(a.waits, 2))
	}
	unknown(w, a.Unknown[:min(2, len(a.Unknown))])
}

// unknown writes what is not known, and how to find out.
func unknown(w io.Writer, gaps []cvo.Gap) {
	for _, g := range gaps {
		words.Fprintf(w, "NOT KNOWN  %s: %s\n", g.What, g.How)
	}
}

// Causes writes the causes, each in a sentence, and at most most of them.
func Causes(w io.Writer, d *diagnosis.Diagnosis, most int) {
	for i, says := range d.Says {
		margin := "Cause: "
		if i > 0 {
			margin = "  and: "
		}
		if i == most && len(d.Says) > most+1 {
			words.Fprintf(w, "  and %d more causes; -v shows them\n", len(d.Says)-i)
			break
		}
		page.Fold(w, margin, says)
	}
	if len(d.Says) == 0 && d.Word != string(diagnosis.Healthy) && !d.Updating {
		fmt.Fprintln(w, "No cause was found; what is not known could have one.")
	}
}

// Steps writes what to do, in as many lines as there is room for: rather without what helps instead
// than without a step.
func Steps(w io.Writer, d *diagnosis.Diagnosis, room int) {
	for _, or := range []int{len(d.Steps), 1, 0} {
		b := page.NewBuffer(w)
		left := some(b, d, room, or)
		if left == 0 || or == 0 {
			if left > 0 {
				words.Fprintf(b, "and %s; -v shows them\n", words.Count(left, "more step", "more steps"))
			}
			w.Write(b.Bytes())
			return
		}
	}
}

// some writes as many steps as there is room for, the first ones with what helps instead, and returns how many are left.
func some(w io.Writer, d *diagnosis.Diagnosis, room, or int) (left int) {
	for i := range d.Steps {
		b := page.NewBuffer(w)
		Step(b, i, &d.Steps[i], i < or)
		if i == len(d.Steps)-1 && d.Rest {
			b.WriteString("      then nothing: the rest goes on by itself\n")
		}
		n := bytes.Count(b.Bytes(), []byte("\n"))
		if i == 5 || i > 0 && room-n < min(1, len(d.Steps)-i-1) {
			return len(d.Steps) - i
		}
		room -= n
		w.Write(b.Bytes())
	}
	return 0
}

// Step writes one step: what, what it frees, the command.
func Step(w io.Writer, i int, s *diagnosis.Step, or bool) {
	text := s.Do
	if s.Like > 0 {
		text += fmt.Sprintf(" (and %d more like it)", s.Like)
	}
	switch {
	case s.Says != "" && s.Tried:
		text += ": frees " + s.Says
	case s.Says != "":
		text += "; if that works, it frees " + s.Says
	}
	page.Fold(w, fmt.Sprintf("DO %d  ", i+1), text)
	if s.Must != "" {
		page.Fold(w, "      only if ", s.Must)
	}
	if s.Command != "" {
		words.Fprintf(w, "      %s\n", s.Command)
	}
	if s.Or != nil && or {
		or := "or: " + s.Or.Do
		if s.Or.Must != "" {
			or += "; only if " + s.Or.Must
		}
		page.Fold(w, "      ", or)
		words.Fprintf(w, "      %s\n", s.Or.Command)
	}
}
