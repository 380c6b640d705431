package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// Verdict is the first screen of the page: what the diagnosis says.
type Verdict struct {
	Word    string            `json:"word"`              // the verdict, in capitals
	Line    string            `json:"line"`              // from and to, how long, since when nothing moved
	Causes  []string          `json:"causes,omitempty"`  // each in a sentence; the first screen has three
	More    int               `json:"more,omitempty"`    // causes that the first screen leaves out
	Stages  []Bar             `json:"stages"`            // the operators, then each pool
	Do      []Do              `json:"do,omitempty"`      // what to do, in this order; the first screen has five
	Later   int               `json:"later,omitempty"`   // steps that the first screen leaves out
	Rest    bool              `json:"rest,omitempty"`    // then the rest goes on by itself
	Unknown []cvo.Gap         `json:"unknown,omitempty"` // what is not known, with the command that shows it
	Advice  *Offer            `json:"advice,omitempty"`  // which update to take; nil while one is under way, or where there is no ClusterVersion
	Said    map[string]string `json:"said,omitempty"`    // the messages behind it, whole, by what says them
	Waits   *diagnosis.Graph  `json:"waits,omitempty"`   // what waits for what

	tone Tone
}

// drawn is a verdict as the page has it: of what waits for what, the part that is drawn, with
// what is like it.
type drawn struct {
	*Verdict
	Waits *diagnosis.Graph    `json:"waits,omitempty"`
	Likes map[string]int      `json:"likes,omitempty"` // how many others are like a node of those
	Like  map[string][]string `json:"like,omitempty"`  // what is wrong with the first of these others
}

// mostLike is how many of the nodes that are alike the details name.
const mostLike = 20

// drawn selects what the page shows of the verdict.
func (v *Verdict) drawn() *drawn {
	if v == nil {
		return nil
	}
	if v.Waits == nil {
		return &drawn{Verdict: v}
	}
	shown := diagnosing.Show(v.Waits)
	d := &drawn{Verdict: v, Waits: &shown.Graph, Like: map[string][]string{}, Likes: map[string]int{}}
	for id, like := range shown.Like {
		d.Likes[id] = len(like)
		for _, other := range like[:min(mostLike, len(like))] {
			d.Like[id] = append(d.Like[id], v.Waits.Node(other).Says)
		}
	}
	return d
}

// Offer is the update that is recommended.
type Offer struct {
	To      string `json:"to,omitempty"`      // empty: none
	Why     string `json:"why"`               // why that one, or why none
	Command string `json:"command,omitempty"` // that starts it, or that helps where there is none
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
	Shows   string `json:"shows,omitempty"`   // the command that shows whether it worked
	Means   string `json:"means,omitempty"`   // what its outcomes mean
	Or      *Do    `json:"or,omitempty"`      // instead
}

// Brief is what the step frees, for the first screen: of a long list the first.
func (d *Do) Brief() string {
	const most = 60
	first, rest, more := strings.Cut(d.Frees, ", ")
	if !more || len(d.Frees) <= most {
		return d.Frees
	}
	n := 1 + strings.Count(rest, ", ") + strings.Count(rest, " and ")
	if at := strings.LastIndex(rest, " and "); at >= 0 {
		if left, is := strings.CutSuffix(rest[at+len(" and "):], " more"); is {
			if k, err := strconv.Atoi(left); err == nil {
				n += k - 1
			}
		}
	}
	return fmt.Sprintf("%s and %d more", first, n)
}

// What the first screen has at most: causes, steps, stages and unknown things.
const (
	mostCauses = 3
	mostSteps  = 5
	mostStages = 6
	mostGaps   = 3
)

// First are the causes on the first screen.
func (v *Verdict) First() []string { return v.Causes[:len(v.Causes)-v.More] }

// Now are the steps on the first screen.
func (v *Verdict) Now() []Do { return v.Do[:len(v.Do)-v.Later] }

// Parts are the stages on the first screen: if there are many, those that are done and wait for
// nothing come last, and are left out.
func (v *Verdict) Parts() []Bar {
	if len(v.Stages) <= mostStages {
		return v.Stages
	}
	var open, done []Bar
	for i, s := range v.Stages {
		if i == 0 || s.Done < 100 || s.Says != "" {
			open = append(open, s)
		} else {
			done = append(done, s)
		}
	}
	return slices.Concat(open, done)[:mostStages]
}

// Hidden is how many stages the first screen leaves out.
func (v *Verdict) Hidden() int { return len(v.Stages) - len(v.Parts()) }

// Gaps are the unknown things on the first screen: the fewer, the more there is to do.
func (v *Verdict) Gaps() []cvo.Gap {
	most := mostGaps
	if len(v.Now()) > 2 {
		most = 1
	}
	if len(v.Unknown) == most+1 {
		most++
	}
	return v.Unknown[:min(most, len(v.Unknown))]
}

// verdict takes the first screen from a diagnosis.
func (r *Report) verdict(d *diagnosis.Diagnosis) {
	if d == nil {
		return
	}
	v := &Verdict{Word: strings.ToUpper(d.Word), Line: line(d), Causes: d.Says, Stages: []Bar{}, Rest: d.Rest, Unknown: d.Unknown, Waits: &d.Graph}
	v.More = max(0, len(v.Causes)-mostCauses)
	most := mostSteps
	if len(d.Steps) > mostSteps && len(v.First()) == mostCauses {
		most-- // the screen is full
	}
	v.Later = max(0, len(d.Steps)-most)
	for _, s := range d.Stages {
		b := Bar{Name: s.Name, Count: "unknown", Done: -1, Says: strings.Join(s.Says, ", ")}
		if s.Total >= 0 {
			b.Count, b.Done = fmt.Sprintf("%d/%d", s.Done, s.Total), 100
			if s.Total > 0 {
				b.Done = 100 * s.Done / s.Total
			}
		}
		v.Stages = append(v.Stages, b)
	}
	for i := range d.Steps {
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
	x := &Do{Text: s.Do, Command: s.Command, Frees: s.Says, Tried: s.Tried, Must: s.Must, See: s.See, Shows: s.Shows, Means: s.Means}
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

// offer says which update to take.
func (r *Report) offer(in *Input) {
	cv := in.Situation.Cluster
	if r.Diagnosis == nil || cv == nil || r.Update == nil || r.Update.Updating {
		return
	}
	a := cvo.Advise(cv, in.Alerts, nil)
	r.Diagnosis.Advice = &Offer{To: a.Take, Why: a.Why}
	if a.Take != "" {
		r.Diagnosis.Advice.Command = shell.Command("oc adm upgrade --to=%s", a.Take)
	} else if why, command, ok := strings.Cut(a.Why, ": oc "); ok { // the way out stands in a box of its own
		r.Diagnosis.Advice.Why, r.Diagnosis.Advice.Command = why, "oc "+command
	}
}

// title names the cluster and the verdict.
func (r *Report) title() string {
	if r.Diagnosis == nil {
		return "fairlead report"
	}
	return r.Diagnosis.Word + ": " + cmp.Or(r.Called, r.Name, r.Source)
}
