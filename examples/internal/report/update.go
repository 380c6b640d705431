package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Update contains the release of the cluster and those that it can reach.
type Update struct {
	Current    string               `json:"current"`            // the release that runs, or that the cluster updates to
	Updating   bool                 `json:"updating,omitempty"` // whether it is not there yet
	From       string               `json:"from,omitempty"`     // of the update under way
	Target     string               `json:"target,omitempty"`   // likewise
	Channel    string               `json:"channel,omitempty"`  // of updates
	Completion cvo.Completion       `json:"completion"`         // of the operators of the release
	Failing    string               `json:"failing,omitempty"`  // what its ClusterVersion says of a failure: the reason and the message
	Unwell     []cvo.OperatorReport `json:"unwell,omitempty"`   // operators of the release that are not updated or not healthy
	Releases   []string             `json:"releases"`           // that can be reached, the newest minor version first, each in order
	State      []string             `json:"state"`              // of each release: here, plan, goal, offered, risky, later
	Risks      []plan.Risk          `json:"risks,omitempty"`    // of updates
	Moves      [][]int              `json:"moves"`              // from, to (of Releases), and the numbers of its risks
}

// Operator is an installed operator and the versions that it can reach.
type Operator struct {
	Package   string   `json:"package"`                // its name
	Namespace string   `json:"namespace,omitempty"`    // where it is subscribed to
	Channel   string   `json:"channel,omitempty"`      // that it follows
	Installed string   `json:"installed"`              // the name of its CSV
	Limit     string   `json:"maxOpenShift,omitempty"` // of the installed version
	Versions  []string `json:"versions"`               // in order
	Hops      [][]int  `json:"hops"`                   // from, to
	Path      []int    `json:"path,omitempty"`         // the versions on the path of the plan
}

// update fills in the releases that can be reached.
func (r *Report) update(s *plan.Situation, status *cvo.Report) {
	if s.Cluster == nil {
		return
	}
	u := &Update{Current: s.Cluster.Status.Desired.Version, Updating: status.Updating, From: status.From, Target: status.Target, Channel: s.Cluster.Spec.Channel, Completion: status.Completion, Risks: s.Risks}
	u.Failing = failing(s.Cluster)
	for _, o := range status.Operators {
		if o.State != "updated" || o.Health != "healthy" {
			u.Unwell = append(u.Unwell, o)
		}
	}
	seen := map[string]bool{u.Current: true}
	u.Releases = []string{u.Current}
	for _, m := range s.Moves {
		for _, v := range []string{m.From, m.To} {
			if !seen[v] {
				seen[v] = true
				u.Releases = append(u.Releases, v)
			}
		}
	}
	slices.SortStableFunc(u.Releases, func(a, b string) int {
		if c := minors(b, a); c != 0 {
			return c
		}
		return semverx.Tolerant(a).Compare(semverx.Tolerant(b))
	})
	at := map[string]int{}
	for i, v := range u.Releases {
		at[v] = i
	}
	risk := map[string]int{}
	for i, x := range s.Risks {
		risk[x.Name] = i
	}
	u.State = make([]string, len(u.Releases))
	for i := range u.State {
		u.State[i] = "later"
	}
	for _, m := range s.Moves {
		move := []int{at[m.From], at[m.To]}
		state := "offered"
		for _, name := range m.Risks {
			i, ok := risk[name]
			if !ok {
				i, risk[name] = len(u.Risks), len(u.Risks)
				u.Risks = append(slices.Clip(u.Risks), plan.Risk{Name: name, Applies: fairlead.ConditionUnknown})
			}
			move = append(move, i)
			if u.Risks[i].Applies != fairlead.ConditionFalse {
				state = "risky"
			}
		}
		u.Moves = append(u.Moves, move)
		if m.From == u.Current {
			u.State[at[m.To]] = state
		}
	}
	for _, v := range r.path() {
		if i, ok := at[v]; ok {
			u.State[i] = "plan"
		}
	}
	if i, ok := at[r.goal()]; ok {
		u.State[i] = "goal"
	}
	u.State[at[u.Current]] = "here"
	r.Update = u
}

// path returns the releases on the path of the plan.
func (r *Report) path() (list []string) {
	if r.Plan == nil {
		return nil
	}
	for i := range r.Plan.Steps {
		if s := &r.Plan.Steps[i]; s.Kind == plan.MoveCluster {
			list = append(list, s.To)
		}
	}
	return list
}

// goal returns the release that the plan leads to; "" if there is none.
func (r *Report) goal() string {
	path := r.path()
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// minor is the minor version of a release, as in 4.19.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// minors compares the minor versions of two releases.
func minors(a, b string) int {
	return semverx.Tolerant(minor(a)).Compare(semverx.Tolerant(minor(b)))
}

// operatorsOf fills in the installed operators.
func (r *Report) operatorsOf(s *plan.Situation) {
	for i := range s.Operators {
		o := &s.Operators[i]
		out := Operator{Package: o.Package, Namespace: o.Namespace, Channel: o.Channel, Installed: o.Installed, Versions: []string{}, Hops: [][]int{}}
		versions := slices.Clone(o.Versions)
		slices.SortStableFunc(versions, func(a, b plan.OperatorVersion) int {
			return cmp.Or(semverx.Tolerant(a.Version).Compare(semverx.Tolerant(b.Version)), cmp.Compare(a.Name, b.Name))
		})
		at := map[string]int{}
		for k, v := range versions {
			at[v.Name] = k
			out.Versions = append(out.Versions, v.Name)
			if v.Name == o.Installed {
				out.Limit = v.MaxOpenShift
			}
		}
		for _, h := range o.Updates {
			out.Hops = append(out.Hops, []int{at[h.From], at[h.To]})
		}
		if r.Plan != nil {
			for k := range r.Plan.Steps {
				if step := &r.Plan.Steps[k]; step.Kind == plan.MoveOperator && step.Subject == o.Package {
					out.Path = append(out.Path, at[step.To])
				}
			}
		}
		r.Operators = append(r.Operators, out)
	}
}

// draw draws the pictures.
func (r *Report) draw() error {
	for _, picture := range []struct {
		to   *string
		draw func(*bytes.Buffer) error
	}{
		{&r.timeline, r.drawPlan}, {&r.releases, r.drawReleases}, {&r.operators, r.drawOperators},
		{&r.strips, r.drawNodes}, {&r.gauges, r.drawBudgets}, {&r.waits, r.drawWaits}, {&r.sofar, r.drawSoFar},
	} {
		var b bytes.Buffer
		if err := picture.draw(&b); err != nil {
			return err
		}
		*picture.to = b.String()
	}
	return nil
}

// whose returns who takes a step: people, the cluster itself, or nodes that restart.
func whose(s *plan.PlanStep) (tone int, label string) {
	switch s.Kind {
	case plan.Roll, plan.OutOfService:
		return 2, "node restart or drain"
	case plan.MoveCluster:
		return 0, "cluster update"
	case plan.MoveOperator:
		return 4, "operator update"
	case plan.Pause, plan.Unpause, plan.Acknowledge:
		return 1, "configuration change"
	}
	return 7, "preparation"
}

// drawPlan draws when the steps of the plan are taken.
func (r *Report) drawPlan(b *bytes.Buffer) error {
	if r.Plan == nil || len(r.Plan.Steps) == 0 {
		return nil
	}
	g := &diagram.Gantt{}
	if !r.Plan.Steps[0].Begins.IsZero() {
		g.Start = r.Plan.Steps[0].Begins
	}
	seen := map[string]bool{}
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		tone, label := whose(s)
		if !seen[label] {
			seen[label] = true
			g.Keys = append(g.Keys, diagram.Key{Tone: tone, Label: label})
		}
		at := s.Offset
		if !g.Start.IsZero() && !s.Begins.IsZero() {
			at = s.Begins.Sub(g.Start)
		}
		text := words.Span(s.Takes)
		g.Rows = append(g.Rows, diagram.Row{Label: fmt.Sprintf("%d. %s", i+1, short(s)), Bars: []diagram.Bar{{
			Start: at, End: at + s.Takes, Tone: tone, Label: s.String(), Text: text, ID: fmt.Sprintf("step:%d", i),
		}}})
	}
	return g.WriteInline(b)
}

// short describes a step in a few words.
func short(s *plan.PlanStep) string {
	switch s.Kind {
	case plan.MoveCluster:
		return "cluster to " + s.To
	case plan.MoveOperator:
		return s.Subject + " to " + s.To
	case plan.Roll:
		return "restart pool " + s.Subject
	case plan.Pause:
		return "pause pool " + s.Subject
	case plan.Unpause:
		return "unpause pool " + s.Subject
	case plan.Acknowledge:
		return "acknowledge " + s.Subject
	case plan.FixBudget:
		return "change budget " + s.Subject
	case plan.FreeRoom:
		return "add a node for " + s.Subject
	case plan.OutOfService:
		return "drain " + s.Subject
	case plan.ReplaceMember:
		return "replace member " + s.Subject
	}
	return s.String()
}

// onPath describes what the plan updates to, in pictures.
const onPath = "on the path of the plan"

// drawReleases draws the releases in lanes of minor versions, with those offered now and
// those on the path of the plan.
func (r *Report) drawReleases(b *bytes.Buffer) error {
	u := r.Update
	if u == nil || len(u.Releases) < 2 {
		return nil
	}
	g := &diagram.Lanes{Keys: []diagram.Key{
		{Tone: 0, Label: "runs now"}, {Tone: 4, Label: onPath}, {Tone: 1, Label: "available now"}, {Marked: true, Label: "available now, with a risk"}, {Tone: 6, Label: "reachable later"},
	}}
	if r.goal() == "" {
		g.Keys = slices.Delete(g.Keys, 1, 2)
	}
	tones := map[string]int{"here": 0, "plan": 4, "goal": 4, "offered": 1, "later": 6}
	texts := map[string]string{"here": "runs now", "plan": onPath, "goal": "the goal of the plan", "offered": "available now", "risky": "available now, with a risk", "later": "reachable later"}
	risks := map[int]string{}
	for _, m := range u.Moves {
		if u.Releases[m[0]] != u.Current {
			continue
		}
		var names []string
		for _, k := range m[2:] {
			names = append(names, u.Risks[k].Name)
		}
		risks[m[1]] = words.First(names, 5)
	}
	for i, v := range u.Releases {
		if m := minor(v); len(g.Lanes) == 0 || g.Lanes[len(g.Lanes)-1].Label != m {
			g.Lanes = append(g.Lanes, diagram.Lane{Label: m})
		}
		lane := &g.Lanes[len(g.Lanes)-1]
		state := u.State[i]
		title := v + ": " + texts[state]
		if risks[i] != "" {
			title += "; risks: " + risks[i]
		}
		lane.Dots = append(lane.Dots, diagram.Dot{ID: fmt.Sprintf("rel:%d", i), Label: v, Title: title, Tone: tones[state], Marked: state == "risky", Here: state == "here" || state == "plan" || state == "goal"})
	}
	at := slices.Index(u.Releases, u.Current)
	way := append([]string{u.Current}, r.path()...)
	for i := 1; i < len(way); i++ {
		g.Links = append(g.Links, diagram.Link{From: fmt.Sprintf("rel:%d", slices.Index(u.Releases, way[i-1])), To: fmt.Sprintf("rel:%d", slices.Index(u.Releases, way[i])), Title: way[i-1] + " to " + way[i] + ": the plan", Bold: true})
	}
	for _, m := range u.Moves {
		// Updates within a minor version are shown by colour: their lines would hide the dots.
		if m[0] == at && minor(u.Releases[m[1]]) != minor(u.Current) {
			g.Links = append(g.Links, diagram.Link{From: fmt.Sprintf("rel:%d", at), To: fmt.Sprintf("rel:%d", m[1]), Title: u.Current + " to " + u.Releases[m[1]], Dashed: len(m) > 2})
		}
	}
	return g.WriteInline(b)
}

// drawOperators draws a lane for each operator.
func (r *Report) drawOperators(b *bytes.Buffer) error {
	if len(r.Operators) == 0 {
		return nil
	}
	g := &diagram.Lanes{Keys: []diagram.Key{{Tone: 0, Label: "installed"}, {Tone: 4, Label: onPath}, {Tone: 6, Label: "in the channel"}}}
	if !slices.ContainsFunc(r.Operators, func(o Operator) bool { return len(o.Path) > 0 }) {
		g.Keys = slices.Delete(g.Keys, 1, 2)
	}
	for i := range r.Operators {
		o := &r.Operators[i]
		lane := diagram.Lane{Label: o.Package}
		for k, name := range o.Versions {
			d := diagram.Dot{ID: fmt.Sprintf("op:%d:%d", i, k), Label: strings.TrimPrefix(strings.TrimPrefix(name, o.Package), "."), Title: name, Tone: 6}
			if _, v, ok := strings.Cut(name, ".v"); ok {
				d.Label = v
			}
			switch {
			case name == o.Installed:
				d.Tone, d.Here = 0, true
			case slices.Contains(o.Path, k):
				d.Tone, d.Here = 4, true
			}
			lane.Dots = append(lane.Dots, d)
		}
		last := slices.Index(o.Versions, o.Installed)
		for _, k := range o.Path {
			g.Links = append(g.Links, diagram.Link{From: fmt.Sprintf("op:%d:%d", i, last), To: fmt.Sprintf("op:%d:%d", i, k), Title: "the plan", Bold: true})
			last = k
		}
		g.Lanes = append(g.Lanes, lane)
	}
	return g.WriteInline(b)
}

// failing is what a ClusterVersion says of a failure; empty if of none.
func failing(cv *cvo.ClusterVersion) string {
	c := fairlead.FindCondition(cv.Status.Conditions, "Failing")
	if c == nil || c.Status != fairlead.ConditionTrue {
		return ""
	}
	return strings.Trim(c.Reason+": "+c.Message, ": ")
}
