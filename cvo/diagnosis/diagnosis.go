package diagnosis

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/internal/words"
)

// Form is the version of the JSON form of a Diagnosis. Newer forms only add fields.
const Form = 1

// Health is the state of a cluster as a whole, in one word.
type Health string

// The healths.
const (
	Healthy  Health = "Healthy"  // all that matters is known, and nothing is wrong
	Blocked  Health = "Blocked"  // something that is under way does not go on by itself
	Degraded Health = "Degraded" // something is wrong, and nothing that is under way waits for it
	Unknown  Health = "Unknown"  // nothing wrong was seen, and what would show it is not known
)

// Diagnosis says what a cluster waits for, why, and what to do next.
type Diagnosis struct {
	Form int       `json:"form"` // see Form
	At   time.Time `json:"at"`   // as of when
	// Word is the verdict: the assessment while an update is under way, and otherwise the
	// health. An update that is Completed or NotUpdating says nothing about what is wrong, so
	// then the health is the verdict, unless it is Healthy.
	Word       string         `json:"word"`
	Health     Health         `json:"health"`             // of everything
	Assessment cvo.Assessment `json:"assessment"`         // of the update
	From       string         `json:"from,omitempty"`     // the version before the update
	To         string         `json:"to,omitempty"`       // the version that is updated to, or runs
	Updating   bool           `json:"updating"`           // an update is under way or requested
	Elapsed    time.Duration  `json:"elapsed,omitempty"`  // since the update began
	Expected   time.Duration  `json:"expected,omitempty"` // how long it should take in all; 0 if not known
	Still      time.Duration  `json:"still,omitempty"`    // how long nothing has moved; 0 if not known
	Stages     []Stage        `json:"stages"`             // the operators, then each pool, control plane first
	Causes     []Cause        `json:"causes"`             // see Graph.Causes
	Says       []string       `json:"says"`               // each cause in a sentence
	Steps      []Step         `json:"steps"`              // what to do, in this order
	// Rest says whether everything else goes on by itself once the steps are done.
	Rest    bool      `json:"rest"`
	Unknown []cvo.Gap `json:"unknown"` // what is not known, and how to find out
	// Notes are facts that block nothing, and that whoever looks at an update wants to know: an earlier
	// one that was never completed, alerts.
	Notes []string `json:"notes,omitempty"`
	Graph Graph    `json:"graph"` // what waits for what
	// Prospect is what the plan says of Options.To; nil without it, or if that was requested before.
	Prospect *Prospect `json:"prospect,omitempty"`
}

// Stage is how far a part of the cluster is.
type Stage struct {
	Name  string   `json:"name"`            // Operators, or the name of a pool
	Done  int      `json:"done"`            // of Total; -1 if not known
	Total int      `json:"total"`           // -1 if not known
	Says  []string `json:"says,omitempty"`  // what it waits for, the most important first
	State string   `json:"state,omitempty"` // of a pool, as in cvo.PoolReport
}

// MarshalJSON writes durations as text, such as 5m0s.
func (d *Diagnosis) MarshalJSON() ([]byte, error) { return durations.Marshal(d) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Diagnosis) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, d) }

// Well reports whether all is well and known.
func (d *Diagnosis) Well() bool { return d.Health == Healthy && len(d.Unknown) == 0 }

// Diagnose says what a cluster waits for, why, and what to do next. now is when it was looked at;
// zero means the snapshot's own time. The snapshot is not changed, and shares no memory with the
// diagnosis except strings. Equal snapshots and options have equal diagnoses.
func Diagnose(s *snapshot.Snapshot, now time.Time, o *Options) *Diagnosis {
	if now.IsZero() {
		now = s.Clock.At
	}
	w := view(s, now)
	if o != nil {
		w.toDrain, w.atOnce, w.of = slices.Sorted(slices.Values(o.Drain)), o.AtOnce, o.Of
		if w.to = o.To; w.to != "" {
			w.planned = planned(s)
		}
	}
	return diagnose(w)
}

// diagnose asks all engines about a world.
func diagnose(w *world) *Diagnosis {
	b := build(w, nil)
	all := b.g.Causes()
	d := &Diagnosis{
		Form: Form, At: w.now, Assessment: b.report.Assessment, From: b.report.From, To: b.report.Target, Graph: b.g,
		Causes: w.concern(&b.g, all), Stages: b.stages(), Steps: []Step{}, Says: []string{}, Unknown: b.gaps(),
	}
	if d.Causes == nil {
		d.Causes = []Cause{}
	}
	for i := range d.Causes {
		d.Says = append(d.Says, b.g.Says(&d.Causes[i], w.now))
	}
	d.Prospect, d.Notes = b.prospects, b.notes()
	d.times(b)
	d.health(b, all)
	d.Steps, d.Rest = w.steps(&b.g)
	d.Unknown = append(b.open(d.Causes), d.Unknown...)
	return d
}

// open lists what nobody says about causes that are not known.
func (b *builder) open(causes []Cause) []cvo.Gap {
	gaps := []cvo.Gap{}
	for i := range causes {
		if c := &causes[i]; c.Open {
			n := b.g.Node(c.Nodes[0])
			g := cvo.Gap{What: "what " + n.title() + " waits for", How: b.knownRemedy(n).Command}
			if n.Kind == "ClusterVersion" || n.Kind == "Update" {
				g.How = "oc -n openshift-cluster-version logs deployment/cluster-version-operator --tail=100"
			}
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// notes returns facts that block nothing.
func (b *builder) notes() (all []string) {
	var alerts []string
	for i := range b.report.Findings {
		switch f := &b.report.Findings[i]; f.Reason {
		case "PreviousUpdateIncomplete":
			all = append(all, f.Message)
		case "AlertFiring":
			if said := failure.Telling(strings.TrimPrefix(f.Message, "alert: "), 80); !slices.Contains(alerts, said) {
				alerts = append(alerts, said)
			}
		}
	}
	if len(alerts) > 0 {
		all = append(all, words.Count(len(alerts), "alert fires", "alerts fire")+": "+words.First(alerts, 2))
	}
	return all
}

// times fills in how long things take.
func (d *Diagnosis) times(b *builder) {
	r := b.report
	d.Updating = r.Target != "" && (r.Updating || r.Assessment == cvo.AssessCompleted || slices.ContainsFunc(b.g.Nodes, func(n Node) bool { return n.Kind == "Update" }))
	if !d.Updating {
		return
	}
	d.Elapsed = r.Duration
	if r.Remaining != nil && r.Duration+*r.Remaining > 0 {
		d.Expected = (r.Duration + *r.Remaining).Truncate(time.Minute)
	}
	if last := b.moved(); !last.IsZero() {
		d.Still = max(0, b.now.Sub(last))
	}
}

// moved returns when something last changed: the latest transition of any condition. That
// nothing reports is no movement, so heartbeats do not count.
func (b *builder) moved() (last time.Time) {
	see := func(list []fairlead.Condition) {
		for _, c := range list {
			if c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime
			}
		}
	}
	if b.version != nil {
		see(b.version.Status.Conditions)
	}
	for i := range b.operators {
		see(b.operators[i].Status.Conditions)
	}
	for i := range b.pools {
		see(b.pools[i].Status.Conditions)
	}
	for i := range b.nodes {
		for _, c := range b.nodes[i].Status.Conditions {
			if c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime
			}
		}
	}
	return last
}

// health decides the verdict.
func (d *Diagnosis) health(b *builder, all []Cause) {
	stuck := Stuck(all)
	works := slices.ContainsFunc(stuck, func(id string) bool {
		switch n := b.g.Node(id); n.Kind {
		case "Update", "MachineConfigPool", "ClusterVersion", "Machine", "Subscription", "InstallPlan", "ClusterServiceVersion", "CatalogSource", "ClusterExtension":
			return true
		case "Node":
			return n.State == Waiting
		}
		return false
	})
	switch {
	case works:
		d.Health = Blocked
	case len(all) > 0:
		d.Health = Degraded
	case d.Assessment == cvo.AssessStalled || d.Assessment == cvo.AssessDegraded:
		d.Health = Blocked
	case len(d.Unknown) > 0:
		d.Health = Unknown
	default:
		d.Health = Healthy
	}
	d.Word = string(d.Health)
	settled := d.Assessment == cvo.AssessNotUpdating || d.Assessment == cvo.AssessCompleted
	if d.Updating && !(settled && d.Health != Healthy) {
		d.Word = string(d.Assessment)
	}
	if want := b.refusedVersion(); want != "" && want != d.To {
		d.From, d.To, d.Elapsed, d.Expected = d.To, want, 0, 0
	}
}

// Options are what else is known, or asked. Nil means nothing.
type Options struct {
	// Drain are names of nodes that somebody wants to drain, AtOnce of them at a time (at least
	// one): what their drains would wait for is part of the graph.
	Drain  []string
	AtOnce int // see Drain
	// Of limits causes and steps to what these objects wait for; they are IDs, see [ID]. A CronJob
	// that is suspended is wrong only if it is one of them. Rest is
	// then whether nothing of theirs is stuck after the steps. Empty means everything.
	Of []string
	// To is a release, or a minor version, to which somebody wants to update: what its plan waits for is
	// part of the graph. Empty means none.
	To string
}

// Says says what a cause is, in a sentence without a full stop; at is when the cluster was looked at.
func (g *Graph) Says(c *Cause, at time.Time) string {
	says := g.Node(c.Nodes[0]).Says
	if !c.Since.IsZero() && len(c.Nodes) == 1 {
		if strings.ContainsAny(says, ":,;") { // it is clear what has lasted since then
			says += " (since " + clock(c.Since, at) + ")"
		} else {
			says += " since " + clock(c.Since, at)
		}
	}
	switch {
	case c.Circle:
		says = "these wait for each other: " + words.List(g.titles(c.Nodes), "and", 4)
	case c.Open:
		says += "; what it waits for is not known"
	}
	if len(c.Nodes) > 1 && !c.Circle {
		says += "; likewise " + words.List(g.titles(c.Nodes[1:]), "and", 3)
	}
	return says
}

// clock is the time of the day, with the day if it is another one than that of at.
func clock(t, at time.Time) string {
	if at.Sub(t).Abs() < 18*time.Hour && at.UTC().Day() == t.UTC().Day() {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// titles returns what nodes of the graph are called, each once.
func (g *Graph) titles(ids []string) []string {
	var all []string
	for _, id := range ids {
		if t := g.Node(id).title(); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// title is the kind of an object in short, and its name.
func (n *Node) title() string {
	name := n.Name
	if n.Namespace != "" {
		name = n.Namespace + "/" + n.Name
	}
	switch n.Kind {
	case "ClusterVersion":
		return "the control plane"
	case "Update":
		return "the update"
	case "MachineConfigPool":
		return "pool " + name
	case "ClusterOperator":
		return "operator " + name
	case "PodDisruptionBudget":
		return "budget " + name
	case "Node", "Pod", "Machine", "Alert":
		return strings.ToLower(n.Kind) + " " + name
	}
	return n.Kind + " " + name
}
