package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/internal/words"
)

// Verdict is the first screen of the page: what the diagnosis says.
type Verdict struct {
	Word    string            `json:"word"`              // the verdict, in capitals
	Line    string            `json:"line"`              // from and to, how long, since when nothing moved
	Causes  []string          `json:"causes,omitempty"`  // each in a sentence
	More    int               `json:"more,omitempty"`    // causes that are not listed
	Stages  []Bar             `json:"stages"`            // the operators, then each pool
	Do      []Do              `json:"do,omitempty"`      // what to do, in this order, at most five
	Later   int               `json:"later,omitempty"`   // steps that are not listed
	Rest    bool              `json:"rest,omitempty"`    // then the rest goes on by itself
	Unknown []cvo.Gap         `json:"unknown,omitempty"` // what is not known, with the command that shows it
	Said    map[string]string `json:"said,omitempty"`    // the messages behind it, whole, by what says them
	Waits   *diagnosis.Graph  `json:"waits,omitempty"`   // what waits for what

	tone Tone
}

// Bar is how far a part of the cluster is.
type Bar struct {
	Name  string `json:"name"`  // of the part
	Count string `json:"count"` // as in 32/33, or unknown
	Done  int    `json:"done"`  // in percent; -1 if not known
	Says  string `json:"says"`  // what it waits for
}

// Do is one step.
type Do struct {
	Text    string `json:"text"`              // a verb and an object
	Command string `json:"command,omitempty"` // runs as printed
	Frees   string `json:"frees,omitempty"`   // what it frees, if that is known
	Tried   bool   `json:"tried"`             // on a copy
	Must    string `json:"must,omitempty"`    // what must be true first
	See     string `json:"see,omitempty"`     // the command that shows it
	Or      *Do    `json:"or,omitempty"`      // instead
}

// most is how many causes and steps the first screen has.
const most = 5

// verdict takes the first screen from a diagnosis.
func (r *Report) verdict(d *diagnosis.Diagnosis) {
	if d == nil {
		return
	}
	v := &Verdict{Word: strings.ToUpper(d.Word), Line: line(d), Causes: d.Says[:min(most, len(d.Says))], Stages: []Bar{}, Rest: d.Rest, Unknown: d.Unknown, Waits: &d.Graph}
	v.More, v.Later = len(d.Says)-len(v.Causes), max(0, len(d.Steps)-most)
	for _, s := range d.Stages {
		b := Bar{Name: s.Name, Count: "unknown", Done: -1, Says: strings.Join(s.Says, ", ")}
		if s.Total > 0 {
			b.Count, b.Done = fmt.Sprintf("%d/%d", s.Done, s.Total), 100*s.Done/s.Total
		}
		v.Stages = append(v.Stages, b)
	}
	for i := range d.Steps[:min(most, len(d.Steps))] {
		v.Do = append(v.Do, *do(&d.Steps[i]))
	}
	for i := range d.Graph.Nodes {
		if n := &d.Graph.Nodes[i]; n.Quote != "" {
			if v.Said == nil {
				v.Said = map[string]string{}
			}
			v.Said[n.ID] = n.Quote
		}
	}
	r.Diagnosis = v
	v.tone = map[diagnosis.Health]Tone{diagnosis.Healthy: Good, diagnosis.Blocked: Bad, diagnosis.Degraded: Bad, diagnosis.Unknown: Warning}[d.Health]
}

func do(s *diagnosis.Step) *Do {
	x := &Do{Text: s.Do, Command: s.Command, Frees: s.Says, Tried: s.Tried, Must: s.Must, See: s.See}
	if s.Like > 0 {
		x.Text += fmt.Sprintf(" (and %d more like it)", s.Like)
	}
	if s.Or != nil {
		x.Or = do(s.Or)
	}
	return x
}

// line says from where to where, how long it takes, and as of when.
func line(d *diagnosis.Diagnosis) string {
	var parts []string
	switch {
	case d.Updating && d.From != "":
		parts = append(parts, d.From+" → "+d.To)
	case d.To != "":
		parts = append(parts, d.To)
	}
	if d.Updating && d.Elapsed > 0 {
		text := words.Span(d.Elapsed)
		if d.Expected > 0 {
			text += " (" + words.Span(d.Expected) + " expected)"
		}
		if d.Still > 10*time.Minute && len(d.Causes) > 0 {
			text += ", nothing moved for " + words.Span(d.Still)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// title names the cluster and the verdict.
func (r *Report) title() string {
	if r.Diagnosis == nil {
		return "fairlead report"
	}
	return r.Diagnosis.Word + ": " + cmp.Or(r.Name, r.Source)
}
