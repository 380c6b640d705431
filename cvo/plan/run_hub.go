package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// hub is where the operators of a player are updated: solver/olm/install acts in their
// namespaces, each of which has a catalog that offers the hops of the next step.
type hub struct {
	y        *player
	backend  *install.MemBackend
	calls    *cluster.Faulty[*install.World, install.Action]
	store    fairlead.MemStore
	runner   *install.Runner
	spaces   map[string]*space    // by name
	deployed map[string]time.Time // since when a CSV is, by namespace and name
}

// space is a namespace of operators.
type space struct {
	operators []int // of the situation
	offered   string
	resolver  *olm.Resolver
	look      bool // something has happened
	wake      time.Time
}

// newHub installs the operators of the situation. Those of a namespace that an engine
// cannot act on are only estimated.
func newHub(ctx context.Context, y *player, seed uint64, faults cluster.Faults) (*hub, error) {
	h := &hub{y: y, spaces: map[string]*space{}, deployed: map[string]time.Time{}}
	h.backend = &install.MemBackend{Cluster: y.backend.Cluster, Health: h.health}
	h.calls = cluster.Through(h.backend, seed, faults)
	for i, o := range y.input.Situation.Operators {
		if h.spaces[o.Namespace] == nil {
			h.spaces[o.Namespace] = &space{look: true}
		}
		h.spaces[o.Namespace].operators = append(h.spaces[o.Namespace].operators, i)
	}
	for _, name := range slices.Sorted(maps.Keys(h.spaces)) {
		if why := h.unplayable(name); why != "" {
			y.out.Estimated = append(y.out.Estimated, why)
			delete(h.spaces, name)
			continue
		}
		if err := h.stock(ctx, name, nil); err != nil {
			return nil, err
		}
		if err := h.backend.Edit(name, func(w *install.World) error { return h.begin(name, w) }); err != nil {
			return nil, err
		}
	}
	return h, h.start()
}

// start begins a process of the engine.
func (h *hub) start() (err error) {
	e := h.y.policy.Estimates.Operator
	policy := &install.Policy{InstallTimeout: 3*e + time.Hour, PlanTimeout: 3*e + time.Hour}
	resolve := func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		return h.spaces[req.Namespace].resolver.Resolve(ctx, req)
	}
	h.runner, err = install.NewRunner(h.calls, resolve, policy, &fairlead.RunnerOptions{Clock: h.y.clock, Store: &h.store})
	return err
}

// unplayable says which operator of a namespace keeps the engine from acting there, and
// why; "" if none does.
func (h *hub) unplayable(name string) string {
	seen := map[string]bool{}
	for _, i := range h.spaces[name].operators {
		o := &h.y.input.Situation.Operators[i]
		why := ""
		switch {
		case name == "":
			why = "has no namespace"
		case o.Subscription == "":
			why = "has no subscription"
		case seen[o.Package] || seen["subscription "+o.Subscription]:
			why = "has two subscriptions, or one that another has, too"
		}
		for _, v := range o.Versions {
			if _, err := semverx.Parse(v.Version); err != nil && why == "" {
				why = "has a version that cannot be read, that of " + v.Name
			}
		}
		seen[o.Package], seen["subscription "+o.Subscription] = true, true
		if why != "" {
			return fmt.Sprintf("operators of namespace %q: %s %s", name, o.Package, why)
		}
	}
	return ""
}

// begin makes what a namespace holds at first.
func (h *hub) begin(name string, w *install.World) error {
	w.Namespaces = append(w.Namespaces, olm.ObjectMeta{Name: name})
	w.Groups = []install.OperatorGroup{{OperatorGroup: group.OperatorGroup{ObjectMeta: olm.ObjectMeta{Name: "operators"}, Spec: group.Spec{TargetNamespaces: []string{name}}}}}
	for _, i := range h.spaces[name].operators {
		o := &h.y.input.Situation.Operators[i]
		b, err := install.FindBundle(h.backend.Sources, install.Unpack{Source: source(name), Package: o.Package, Bundle: o.Installed})
		if err != nil {
			return err
		}
		csv, err := olm.InstalledFrom(b, name)
		if err != nil {
			return err
		}
		csv.Spec.InstallModes = group.InstallModes{{Type: group.ModeOwnNamespace, Supported: true}}
		sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Namespace: name, Name: o.Subscription}}
		sub.Spec = olm.SubscriptionSpec{Package: o.Package, InstallPlanApproval: olm.ApprovalManual}
		sub.Status = olm.SubscriptionStatus{CurrentCSV: o.Installed, InstalledCSV: o.Installed}
		w.CSVs = append(w.CSVs, install.CSV{ClusterServiceVersion: csv})
		w.Subscriptions = append(w.Subscriptions, install.Subscription{Subscription: sub})
	}
	return nil
}

// source is the catalog of a namespace.
func source(namespace string) olm.SourceKey {
	return olm.SourceKey{Name: "catalog", Namespace: namespace}
}

// stock has the catalog of a namespace hold what is installed, and what is offered.
func (h *hub) stock(ctx context.Context, name string, offers []string) error {
	var text strings.Builder
	add := func(doc map[string]any) {
		line, err := json.Marshal(doc)
		if err != nil {
			panic(err) // unreachable: plain data
		}
		text.Write(append(line, '\n'))
	}
	s := h.spaces[name]
	for _, i := range s.operators {
		o := &h.y.model.operators[i]
		is := h.y.input.Situation.Operators[i].Installed
		entries, last := []map[string]string{{"name": is}}, is
		add(h.bundle(o, is))
		for _, v := range h.hops(i, offers) {
			entries = append(entries, map[string]string{"name": v, "replaces": last, "skipRange": o.Versions[o.version(is)].Version})
			add(h.bundle(o, v))
			last = v
		}
		add(map[string]any{"schema": "olm.package", "name": o.Package, "defaultChannel": "stable"})
		add(map[string]any{"schema": "olm.channel", "package": o.Package, "name": "stable", "entries": entries})
	}
	s.offered, s.look = strings.Join(offers, " "), true
	c, err := catalog.Open(ctx, inMemory(map[string]string{"catalog.json": text.String()}), nil)
	if err != nil {
		return fmt.Errorf("the operators of the namespace %s make no catalog: %w", name, err)
	}
	own := olm.Source{SourceKey: source(name), Catalog: c}
	h.backend.Sources = append(slices.DeleteFunc(slices.Clone(h.backend.Sources), func(s olm.Source) bool { return s.SourceKey == own.SourceKey }), own)
	s.resolver, err = olm.NewResolver([]olm.Source{own}, nil)
	return err
}

// hops are the versions that the catalog leads an operator to, the oldest first: all of
// the minor version that runs if one of them is offered, and nothing else if the others
// that it depends on must take part.
func (h *hub) hops(i int, offers []string) (to []string) {
	o := &h.y.model.operators[i]
	is := o.version(h.y.input.Situation.Operators[i].Installed)
	cv := h.y.releases.Version("version")
	at, _ := parseMinor(current(&cv))
	asked := false
	for _, k := range o.byVersion {
		name := o.Versions[k].Name
		for _, x := range o.hops {
			wanted := slices.Contains(offers, name)
			if x.from == is && x.to == k && (wanted || !h.y.model.entangled(i) && (x.minors == nil || slices.Contains(x.minors, at))) {
				to, asked = append(to, name), asked || wanted
				break
			}
		}
	}
	if !asked {
		return nil
	}
	return to
}

// bundle is a version of an operator, which requires of others what it did not lack at
// first.
func (h *hub) bundle(o *operator, name string) map[string]any {
	type object = map[string]any
	k := o.version(name)
	props := []object{{"type": "olm.package", "value": object{"packageName": o.Package, "version": o.Versions[k].Version}}}
	for _, q := range o.requires[k] {
		var any []object
		for _, i := range slices.Sorted(maps.Keys(q.by)) {
			p := &h.y.model.operators[i]
			var good []string
			for n, is := range q.by[i] {
				if is {
					good = append(good, p.Versions[n].Version)
				}
			}
			if good != nil {
				any = append(any, object{"package": object{"packageName": p.Package, "versionRange": strings.Join(good, " || ")}})
			}
		}
		if any != nil && !q.lacking {
			props = append(props, object{"type": "olm.constraint", "value": object{"failureMessage": "it requires " + q.text, "any": object{"constraints": any}}})
		}
	}
	return object{"schema": "olm.bundle", "package": o.Package, "name": name, "image": "example.com/" + o.Package, "properties": props}
}

// health is how the deployment of a CSV stands.
func (h *hub) health(namespace, csv string) (install.Health, string) {
	key, now := namespace+"/"+csv, h.y.clock.Now()
	since, there := h.deployed[key]
	if !there {
		h.deployed[key], since = now, now
	}
	switch {
	case now.Sub(since) < h.y.policy.Estimates.Operator-time.Minute:
		return install.Progressing, "it starts"
	case h.y.input.Situation.Nodes == nil:
		return install.Ready, ""
	}
	if detail := h.y.all.Unready(namespace, csv); detail != "" {
		return install.Progressing, detail
	}
	return install.Ready, ""
}

// has reports whether the engine acts in a namespace.
func (h *hub) has(namespace string) bool { return h.spaces[namespace] != nil }

// next returns when a namespace is looked at again.
func (h *hub) next() (at time.Time) {
	for _, s := range h.spaces {
		if at.IsZero() || s.wake.Before(at) {
			at = s.wake
		}
	}
	return at
}

// act offers what the next step asks for, and is a pass over each namespace in which
// something has happened, or may have.
func (h *hub) act(ctx context.Context) error {
	now := h.y.clock.Now()
	var under string // the namespace of the next step
	if left := h.y.saved.Steps; len(left) > 0 && left[0].Kind == MoveOperator {
		a, ok := left[0].act(h.y.input.Situation).(Approve)
		if offers := append([]string{a.CSV}, left[0].With...); ok && h.has(a.Namespace) {
			under = a.Namespace
			if s := h.spaces[under]; s.offered != strings.Join(offers, " ") {
				if err := h.stock(ctx, under, offers); err != nil {
					return err
				}
			}
		}
	}
	if h.y.fault(100) {
		if err := h.start(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.spaces)) {
		s := h.spaces[name]
		if !s.look && now.Before(s.wake) {
			continue
		}
		d, err := h.runner.Reconcile(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.look = err != nil || len(d.Actions) > 0
		h.y.busy = h.y.busy || s.look
		if s.wake = now.Add(10 * time.Minute); name == under {
			s.wake = now.Add(time.Minute) // of pods there are no events
		}
		if !d.Wake.IsZero() && d.Wake.Before(s.wake) {
			s.wake = d.Wake
		}
		h.tell(name)
	}
	return nil
}

// tell tells which versions are installed.
func (h *hub) tell(name string) {
	w := h.backend.World(name)
	for _, i := range h.spaces[name].operators {
		o := &h.y.input.Situation.Operators[i]
		k := slices.IndexFunc(w.Subscriptions, func(s install.Subscription) bool { return s.Name == o.Subscription })
		is := standing(w.Subscriptions[k].Status.InstalledCSV, func(name string) *olm.ClusterServiceVersion {
			if c := slices.IndexFunc(w.CSVs, func(c install.CSV) bool { return c.Name == name }); c >= 0 {
				return &w.CSVs[c].ClusterServiceVersion
			}
			return nil
		})
		if is != nil && is.Name != o.Installed {
			o.Installed = is.Name
			h.y.changes++
		}
	}
}

// approve approves the install plan that brings a CSV.
func (h *hub) approve(a Approve) error {
	h.spaces[a.Namespace].look = true
	return h.backend.Edit(a.Namespace, func(w *install.World) error {
		for i := range w.Plans {
			p := &w.Plans[i]
			if p.Status.Phase != install.PlanFailed && slices.Contains(p.Spec.ClusterServiceVersionNames, a.CSV) {
				p.Spec.Approved = true
				return nil
			}
		}
		return fmt.Errorf("no install plan in the namespace %s brings %s yet", a.Namespace, a.CSV)
	})
}
