package diagnose

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// lines is how many lines a first screen has at most; more on a terminal that is narrower than usual.
const lines = 15

// Screen writes the first screen of a diagnosis: the verdict, causes by name, how far each part is,
// what to do, and what is not known, in at most 15 lines. Commands are never cut.
func Screen(w io.Writer, d *diagnosis.Diagnosis) {
	head, tail := page.NewBuffer(w), page.NewBuffer(w)
	verdict(head, d)
	diagnosing.Causes(head, d, 3)
	stages(head, d, 5)
	notes(head, d)
	unknown(tail, d, 2)
	room := max(lines, lines*page.Width/page.Columns(w)) - bytes.Count(head.Bytes(), []byte("\n")) - bytes.Count(tail.Bytes(), []byte("\n"))
	w.Write(head.Bytes())
	diagnosing.Steps(w, d, room)
	w.Write(tail.Bytes())
}

// verdict writes the first line.
func verdict(w io.Writer, d *diagnosis.Diagnosis) {
	parts := []string{strings.ToUpper(d.Word)}
	switch {
	case d.Updating && d.From != "":
		parts = append(parts, d.From+" -> "+d.To)
	case d.To != "":
		parts = append(parts, d.To)
	}
	if d.Updating && d.Elapsed > 0 {
		text := span(d.Elapsed)
		if d.Expected > 0 {
			text += " (" + span(d.Expected) + " expected)"
		}
		if d.Still > 10*time.Minute && len(d.Causes) > 0 {
			text += ", nothing moved for " + span(d.Still)
		}
		parts = append(parts, text)
	}
	if !d.At.IsZero() {
		parts = append(parts, "as of "+d.At.UTC().Format("2006-01-02 15:04"))
	}
	words.Fprintf(w, "%v\n", strings.Join(parts, "   "))
}

// span writes a duration as people do: 3h04m, 43m, 3d2h.
func span(d time.Duration) string {
	d = d.Truncate(time.Minute)
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// stages writes how far each part is; pools that are done share a line.
func stages(w io.Writer, d *diagnosis.Diagnosis, most int) {
	width, done := 9, 0
	var shown []diagnosis.Stage
	for i, s := range d.Stages {
		if i >= 3 && s.Done == s.Total && len(s.Says) == 0 || len(shown) == most {
			done++
			continue
		}
		shown = append(shown, s)
		width = max(width, len(s.Name))
	}
	for _, s := range shown {
		count := "unknown"
		if s.Total >= 0 {
			count = fmt.Sprintf("%d/%d", s.Done, s.Total)
		}
		words.Fprintf(w, "%v\n", strings.TrimRight(fmt.Sprintf("%-*s  %-7s  %s", width, s.Name, count, strings.Join(s.Says, ", ")), " "))
	}
	if done > 0 {
		words.Fprintf(w, "and %s; -v shows them\n", words.Count(done, "more pool", "more pools"))
	}
}

// notes writes what blocks nothing.
func notes(w io.Writer, d *diagnosis.Diagnosis) {
	for _, n := range d.Notes {
		page.Fold(w, "Note: ", n)
	}
}

// unknown writes what is not known, with the commands that show it.
func unknown(w io.Writer, d *diagnosis.Diagnosis, most int) {
	for i, g := range d.Unknown {
		if i == most-1 && len(d.Unknown) > most {
			words.Fprintf(w, "NOT KNOWN  and %s; -v shows them\n", words.Count(len(d.Unknown)-i, "more thing", "more things"))
			return
		}
		words.Fprintf(w, "NOT KNOWN  %s: %s\n", g.What, g.How)
	}
}

// whole writes everything.
func whole(w io.Writer, d *diagnosis.Diagnosis) {
	verdict(w, d)
	diagnosing.Causes(w, d, len(d.Says))
	stages(w, d, len(d.Stages))
	notes(w, d)
	for i := range d.Steps {
		s := &d.Steps[i]
		diagnosing.Step(w, i, s, true)
		if s.See != "" {
			words.Fprintf(w, "      to see that: %s\n", s.See)
		}
		if s.Shows != "" {
			words.Fprintf(w, "      whether it worked: %s\n", s.Shows)
			page.Fold(w, "      ", s.Means)
		}
	}
	if d.Rest && len(d.Steps) > 0 {
		fmt.Fprintln(w, "then nothing: the rest goes on by itself")
	}
	unknown(w, d, len(d.Unknown))
	if len(d.Graph.Nodes) > 0 {
		fmt.Fprintln(w, "\nWhat waits for what:")
	}
	for i := range d.Graph.Nodes {
		n := &d.Graph.Nodes[i]
		page.Fold(w, "  ", n.Says)
		if n.Quote != "" {
			page.Fold(w, "      it says: ", n.Quote)
		}
		for _, e := range d.Graph.From(n.ID) {
			words.Fprintf(w, "      waits for %s (%s, %s)\n", e.To, e.Rule, e.Sure)
		}
	}
}
