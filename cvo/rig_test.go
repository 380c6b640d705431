package cvo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
)

// rig is a cluster in memory of which a script decides more: what operators say,
// which resources the server refuses, what the update service offers, which
// feature gates are on. It counts what is done.
type rig struct {
	*cvo.MemBackend
	says     map[string]string // by operator: what it says, see operator
	fails    map[string]*fairlead.RefusedError
	broken   map[string]string // by image: why its payload cannot be read
	updates  *graph.Updates
	known    graph.Evaluations
	answered cvo.Condition
	gates    []string
	modes    map[cvo.Mode]int  // what was applied, by mode
	stuck    map[string]string // by Deployment: why it cannot go on
	writes   int               // of the status
	turned   bool              // lists are observed the other way round
}

// Observe implements cvo.Backend.
func (r *rig) Observe(ctx context.Context, name string) (*cvo.World, error) {
	w, err := r.MemBackend.Observe(ctx, name)
	if err != nil {
		return nil, err
	}
	for i, o := range w.Operators {
		if text, ok := r.says[o.Name]; ok {
			w.Operators[i] = *operator(text)
			w.Operators[i].Name = o.Name
		}
	}
	for i, have := range w.Retrieved {
		if why, ok := r.broken[have.Image]; ok {
			w.Retrieved[i].Payload, w.Retrieved[i].LoadError = nil, why
		}
	}
	for name, why := range r.stuck {
		w.Workloads = append(w.Workloads, cvo.Workload{ID: payload.ID{Group: "apps", Kind: "Deployment", Namespace: name, Name: name}, Failed: why})
	}
	if r.turned {
		slices.Reverse(w.Operators)
		slices.Reverse(w.Workloads)
	}
	w.Updates, w.Evaluations, w.UpdatesCondition, w.Gates = r.updates, r.known, r.answered, r.gates
	return w, nil
}

// Apply implements cvo.Backend.
func (r *rig) Apply(ctx context.Context, name string, a cvo.Action) error {
	switch a := a.(type) {
	case cvo.Apply:
		if err := r.fails[strings.ToLower(a.Manifest.ID.Kind)+" "+a.Manifest.ID.Name]; err != nil {
			return err
		}
		r.modes[a.Mode]++
	case cvo.WriteStatus:
		r.writes++
	}
	return r.MemBackend.Apply(ctx, name, a)
}

// counted tells what was applied in which mode since the last time.
func (r *rig) counted() string {
	var out strings.Builder
	for _, mode := range []cvo.Mode{cvo.Initializing, cvo.Updating, cvo.Reconciling} {
		if n := r.modes[mode]; n > 0 {
			fmt.Fprintf(&out, "%s %d\n", mode, n)
		}
	}
	fmt.Fprintf(&out, "status %d\n", r.writes)
	clear(r.modes)
	r.writes = 0
	return out.String()
}

// offer reads what the update service offers: "current VERSION IMAGE" or
// "VERSION IMAGE", then url=U, channels=A,B and risk=NAME:True, False or Unknown,
// or risk=NAME.
func (r *rig) offer(t *testing.T, text string) {
	r.updates, r.known, r.answered = nil, graph.Evaluations{}, cvo.Condition{}
	for line := range strings.Lines(text) {
		if r.updates == nil {
			r.updates, r.answered = &graph.Updates{}, cvo.Condition{Type: "RetrievedUpdates", Status: cvo.True}
		}
		f := strings.Fields(line)
		current := f[0] == "current"
		if current {
			f = f[1:]
		}
		to := graph.Update{Release: graph.Release{Version: f[0], Payload: f[1], Metadata: map[string]string{}}}
		for _, word := range f[2:] {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "url":
				to.Metadata["url"] = value
			case "channels":
				to.Metadata["io.openshift.upgrades.graph.release.channels"] = value
			case "risk":
				to.Risks = append(to.Risks, r.risk(value))
			default:
				t.Fatalf("unknown word %s", word)
			}
		}
		switch {
		case current:
			r.updates.Current = to.Release
		case len(to.Risks) > 0:
			r.updates.Conditional = append(r.updates.Conditional, to)
		default:
			r.updates.Available = append(r.updates.Available, to)
		}
	}
}

// risk reads NAME:True, and has its rule evaluated; that of NAME alone is not.
func (r *rig) risk(text string) graph.Risk {
	name, applies, evaluated := strings.Cut(text, ":")
	rule := graph.Rule{Type: graph.RulePromQL, Query: strings.ToLower(name)}
	var err error
	if applies == string(cvo.Unknown) {
		err = errDown
	}
	if evaluated {
		r.known = r.known.With(rule, applies == string(cvo.True), err, noon)
	}
	return graph.Risk{Name: name, URL: "https://example.com/" + name, Message: "it breaks.", MatchingRules: []graph.Rule{rule}}
}

// told lists the updates and risks of a status, by reasons and data.
func (s *stage) told(status cvo.Status) string {
	var out strings.Builder
	verdict := func(list []cvo.Condition, kind string) string {
		c := fairlead.FindCondition(list, kind)
		if c == nil {
			return ""
		}
		return fmt.Sprintf("%s %s%s", c.Status, c.Reason, s.words.Data(kind+"="+string(c.Status)+" "+c.Reason, c.Message))
	}
	for _, r := range status.AvailableUpdates {
		fmt.Fprintf(&out, "available %s %s %v\n", r.Version, r.URL, r.Channels)
	}
	for _, u := range status.ConditionalUpdates {
		fmt.Fprintf(&out, "conditional %s %v %s\n", u.Release.Version, u.RiskNames, verdict(u.Conditions, "Recommended"))
	}
	for _, r := range status.ConditionalUpdateRisks {
		fmt.Fprintf(&out, "risk %s %s\n", r.Name, verdict(r.Conditions, "Applies"))
	}
	return out.String()
}

// was reads a history: "VERSION IMAGE Completed|Partial [verified]" a line, newest first.
func was(s *cvo.Status, text string) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		h := cvo.History{Version: strings.TrimPrefix(f[0], "?"), Image: f[1], State: cvo.HistoryState(f[2]), StartedTime: noon, Verified: slices.Contains(f, "verified")}
		if h.State == cvo.Completed || len(s.History) > 0 {
			h.CompletionTime = &noon
		}
		s.History = append(s.History, h)
	}
	if len(s.History) > 0 {
		s.Desired = cvo.Release{Version: s.History[0].Version, Image: s.History[0].Image}
	}
}

// newRunner returns a runner of a policy that is well.
func newRunner(tb testing.TB, backend cvo.Backend, policy *cvo.Policy, opts *fairlead.RunnerOptions) *cvo.Runner {
	tb.Helper()
	r, err := cvo.NewRunner(backend, policy, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// waitsFor is how many operators a state waits for.
func waitsFor(s cvo.State) int {
	n := 0
	for _, w := range s.Waits {
		if w.Reason == "Reached" {
			n++
		}
	}
	return n
}
