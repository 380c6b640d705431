package cvo

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
)

// preparation is a payload made ready for one pass. It depends on what key says
// and nothing else, so a Runner may keep it from pass to pass.
type preparation struct {
	payload   *payload.Payload
	key       string
	selection *payload.Selection
	graph     *payload.Graph
	durations []time.Duration
	hash      string
}

// prepare makes the payload of a release ready. The world's cache serves when it
// fits.
func (w *World) prepare(p *payload.Payload, implicit []string, policy *Policy, mode Mode, pass int) *preparation {
	spec, err := json.Marshal([]any{w.Cluster.Spec.Overrides, w.Cluster.Spec.Capabilities, implicit})
	if err != nil {
		panic(err) // unreachable: strings and booleans
	}
	key := fmt.Sprintf("%s %d %s", mode, pass, spec)
	if c := w.cache; c != nil && c.payload == p && c.key == key {
		return c
	}
	out := &preparation{payload: p, key: key}
	out.selection = p.Select(policy.filter(w.Cluster, implicit))
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
	if w.keep != nil {
		w.keep(out)
	}
	return out
}

// filter returns the policy's filter with what the ClusterVersion says.
func (p *Policy) filter(cv *ClusterVersion, implicit []string) *payload.Filter {
	f := *p.Filter
	f.Overrides = cv.Spec.Overrides
	if p.Capabilities != nil {
		known, enabled := p.capabilities(cv, implicit)
		f.Capabilities = &payload.Capabilities{Known: known, Enabled: enabled}
	}
	return &f
}

// capabilities returns the optional parts that are known and enabled, sorted.
func (p *Policy) capabilities(cv *ClusterVersion, implicit []string) (known, enabled []string) {
	if p.Capabilities == nil {
		return nil, nil
	}
	set := "vCurrent"
	if c := cv.Spec.Capabilities; c != nil {
		if c.BaselineCapabilitySet != "" {
			set = c.BaselineCapabilitySet
		}
		enabled = append(enabled, c.AdditionalEnabledCapabilities...)
	}
	if set == "vCurrent" && p.Capabilities.Current != "" {
		set = p.Capabilities.Current
	}
	enabled = append(append(enabled, p.Capabilities.Sets[set]...), implicit...)
	slices.Sort(enabled)
	known = slices.Sorted(slices.Values(p.Capabilities.Known))
	return known, slices.Compact(enabled)
}
