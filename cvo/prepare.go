package cvo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
)

// Prepared is a payload prepared for one pass: which of its manifests belong to the
// cluster, in which order, and their hash. It is immutable plain data, and depends
// only on what it was made from.
type Prepared struct {
	payload   *payload.Payload
	key       string
	selection *payload.Selection
	graph     *payload.Graph
	durations []time.Duration
	hash      string
	operators []int             // the tasks that are ClusterOperators, ascending
	wanted    map[int][]Operand // by task: the versions that they wait for
}

// Prepare prepares the payload of the release that a state applies, for
// World.Prepared. It returns nil if there is no release, or its payload is not
// available. The cost is linear in the size of the payload.
func Prepare(state State, w *World, policy *Policy) *Prepared {
	if w == nil || w.Cluster == nil || state.Work == nil {
		return nil
	}
	r := w.retrieved(state.Work.Release.Image)
	if r == nil || r.Payload == nil {
		return nil
	}
	p := policy.withDefaults()
	return w.prepare(r.Payload, state.Enabled, &p, state.Work.Mode, state.Work.Pass)
}

// prepare prepares the payload of a release. It uses World.Prepared if that fits.
func (w *World) prepare(p *payload.Payload, enabled []string, policy *Policy, mode Mode, pass int) *Prepared {
	spec, err := json.Marshal([]any{w.Cluster.Spec.Overrides, enabled, w.FeatureSet, w.Gates})
	if err != nil {
		panic(err) // unreachable: strings and booleans
	}
	key := fmt.Sprintf("%s %d %s", mode, pass, spec)
	if c := w.Prepared; c != nil && c.payload == p && c.key == key {
		return c
	}
	out := &Prepared{payload: p, key: key}
	out.selection = p.Select(policy.filter(w, enabled))
	var opts *payload.GraphOptions
	switch mode {
	case Initializing:
		opts = &payload.GraphOptions{Flatten: true}
	case Reconciling:
		opts = payload.ReconcileOptions(pass)
	}
	out.graph = payload.NewGraph(out.selection.Tasks, opts)
	out.durations = policy.Estimates.Durations(out.selection.Tasks)
	out.hash = payload.Hash(out.selection.Tasks)
	out.wanted = map[int][]Operand{}
	for i, m := range out.graph.Tasks {
		if m.ClusterOperator() && !m.Delete() {
			out.operators = append(out.operators, i)
			out.wanted[i] = wanted(m)
		}
	}
	return out
}

// filter returns the policy's filter with the observed state of the cluster.
func (p *Policy) filter(w *World, enabled []string) *payload.Filter {
	f := *p.Filter
	f.Overrides = w.Cluster.Spec.Overrides
	if w.FeatureSet != nil {
		f.FeatureSet = w.FeatureSet
	}
	if w.Gates != nil {
		f.Gates = w.Gates
	}
	if p.Capabilities != nil {
		f.Capabilities = &payload.Capabilities{Known: p.available(w, p.Capabilities.Known), Enabled: enabled}
	}
	return &f
}

// available returns capabilities, sorted and without duplicates, except those whose
// feature gates are all off.
func (p *Policy) available(w *World, names []string) []string {
	gates := p.Filter.Gates
	if w.Gates != nil {
		gates = w.Gates
	}
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		needs, gated := p.Capabilities.Gated[name]
		return gated && gates != nil && !slices.ContainsFunc(needs, func(g string) bool { return slices.Contains(gates, g) })
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// asked returns the capabilities that the spec requests, sorted.
func (p *Policy) asked(cv *ClusterVersion) []string {
	if p.Capabilities == nil {
		return nil
	}
	set := "vCurrent"
	var names []string
	if c := cv.Spec.Capabilities; c != nil {
		set = cmp.Or(c.BaselineCapabilitySet, set)
		names = append(names, c.AdditionalEnabledCapabilities...)
	}
	if set == "vCurrent" {
		set = cmp.Or(p.Capabilities.Current, set)
	}
	names = append(names, p.Capabilities.Sets[set]...)
	slices.Sort(names)
	return slices.Compact(names)
}
