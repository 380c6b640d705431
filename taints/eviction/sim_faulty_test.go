package eviction_test

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/taints/eviction"
)

// Observe implements eviction.Backend.
func (p *fleetPlay) Observe(ctx context.Context, node string) (*eviction.World, error) {
	if p.Fault("observe fails", 40) {
		return nil, sim.ErrFault
	}
	w, err := p.backend.Observe(ctx, node)
	if err != nil {
		return nil, err
	}
	if !p.clean {
		old := *w
		p.past[node] = append(p.past[node], &old)
		if len(p.past[node]) > 4 {
			p.past[node] = p.past[node][1:]
		}
		if p.Fault("stale", 12) {
			old := *p.past[node][p.IntN(len(p.past[node]))]
			w = &old
		}
		p.other(node)
	}
	for key := range p.lowest {
		if of, taint, _ := strings.Cut(key, " "); of == node && (w.Node == nil || !slices.ContainsFunc(w.Node.Spec.Taints, func(t fairlead.Taint) bool { return t.Key+"="+t.Value == taint && t.Effect == fairlead.NoExecute })) {
			delete(p.lowest, key)
		}
	}
	if p.clean && w.Node != nil {
		p.follow(w.Node)
	}
	seen := *w
	p.seen[node] = &view{world: &seen, disrupted: p.zones().Disrupted}
	return w, nil
}

// ObserveZones implements eviction.ZoneBackend.
func (p *fleetPlay) ObserveZones(ctx context.Context) (*eviction.ZoneWorld, error) {
	if p.Fault("observe fails", 40) {
		return nil, sim.ErrFault
	}
	return p.backend.ObserveZones(ctx)
}

// other lets the other runner work in the middle of a pass.
func (p *fleetPlay) other(node string) {
	if !p.two || p.nested || !p.Fault("other runner", 8) {
		return
	}
	p.nested = true
	crashed, seen := p.crashed, p.seen[node]
	p.crashed = false
	r := p.runner()
	for range 1 + p.IntN(3) {
		_, err := r.Reconcile(p.t.Context(), node)
		p.Note("  meanwhile %s: %v", node, err)
		if p.OneIn(3) {
			_, err := r.ReconcileZones(p.t.Context())
			p.Note("  meanwhile, zones: %v", err)
		}
	}
	p.nested, p.crashed, p.seen[node] = false, crashed, seen
}

// Apply implements eviction.Backend.
func (p *fleetPlay) Apply(ctx context.Context, node string, a eviction.Action) error {
	if p.crashed {
		return sim.ErrFault
	}
	p.Note("  %s", describe(a))
	if v := p.seen[node]; v != nil && v.state == nil {
		state := saved[eviction.State](p, "taints", node)
		v.state = &state
	}
	if e, ok := a.(eviction.Evict); ok {
		p.checkDecision(node, &e)
	}
	if node == eviction.AllZones {
		p.countTokens()
	}
	if !p.clean {
		p.other(p.nodes[0])
	}
	switch {
	case p.Fault("crash", 30):
		p.crashed = true
		return sim.ErrFault
	case p.Fault("apply fails", 15):
		return sim.ErrFault
	case p.Fault("delay", 30):
		p.late = append(p.late, lateAction{node, a})
		return sim.ErrFault
	case p.Fault("again", 20):
		p.late = append(p.late, lateAction{node, a})
	}
	if err := p.backend.Apply(ctx, node, a); err != nil {
		p.Note("    refused: %v", err)
		return err
	}
	if p.Fault("unconfirmed", 30) {
		return sim.ErrFault
	}
	return nil
}
