package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// installer updates the operators of a player: solver/olm/install acts in their
// namespaces, each of which has a catalog that offers the hops of the next step.
type installer struct {
	y          *player
	backend    *install.MemBackend
	calls      *cluster.Faulty[*install.World, install.Action]
	store      fairlead.MemStore
	runner     *install.Runner
	namespaces map[string]*namespace // by name
	deployed   map[string]time.Time  // since when a CSV is, by namespace and name
}

// namespace is one with operators.
type namespace struct {
	operators []int // of the situation
	offered   string
	resolver  *olm.Resolver
	look      bool // something has happened
	wake      time.Time
}

// newInstaller installs the operators of the situation. Those of a namespace that an engine
// cannot act on are only estimated.
func newInstaller(ctx context.Context, y *player, seed uint64, faults cluster.Faults) (*installer, error) {
	op := &installer{y: y, namespaces: map[string]*namespace{}, deployed: map[string]time.Time{}}
	op.backend = &install.MemBackend{Cluster: y.backend.Cluster, Health: op.health}
	op.calls = cluster.Through(op.backend, seed, faults)
	for i, o := range y.input.Situation.Operators {
		if op.namespaces[o.Namespace] == nil {
			op.namespaces[o.Namespace] = &namespace{look: true}
		}
		op.namespaces[o.Namespace].operators = append(op.namespaces[o.Namespace].operators, i)
	}
	for _, name := range slices.Sorted(maps.Keys(op.namespaces)) {
		if why := op.unplayable(name); why != "" {
			y.out.Estimated = append(y.out.Estimated, why)
			delete(op.namespaces, name)
			continue
		}
		if err := op.publish(ctx, name, nil); err != nil {
			return nil, err
		}
		if err := op.backend.Edit(name, func(w *install.World) error { return op.install(name, w) }); err != nil {
			return nil, err
		}
	}
	return op, op.start()
}

// start begins a process of the engine.
func (op *installer) start() (err error) {
	e := op.y.policy.Estimates.Operator
	policy := &install.Policy{InstallTimeout: 3*e + time.Hour, PlanTimeout: 3*e + time.Hour}
	resolve := func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		return op.namespaces[req.Namespace].resolver.Resolve(ctx, req)
	}
	op.runner, err = install.NewRunner(op.calls, resolve, policy, &fairlead.RunnerOptions{Clock: op.y.clock, Store: &op.store})
	return err
}

// unplayable says which operator of a namespace keeps the engine from acting there, and
// why; "" if none does.
func (op *installer) unplayable(name string) string {
	seen := map[string]bool{}
	for _, i := range op.namespaces[name].operators {
		o := &op.y.input.Situation.Operators[i]
		why := ""
		switch {
		case name == "":
			why = "has no namespace"
		case o.Subscription == "":
			why = "has no subscription"
		case seen[o.Package] || seen["subscription "+o.Subscription]:
			why = "has two subscriptions, or shares one with another operator"
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

// install makes what a namespace holds at first: its operators as they are installed.
func (op *installer) install(name string, w *install.World) error {
	w.Namespaces = append(w.Namespaces, olm.ObjectMeta{Name: name})
	w.Groups = []install.OperatorGroup{{OperatorGroup: group.OperatorGroup{ObjectMeta: olm.ObjectMeta{Name: "operators"}, Spec: group.Spec{TargetNamespaces: []string{name}}}}}
	for _, i := range op.namespaces[name].operators {
		o := &op.y.input.Situation.Operators[i]
		b, err := install.FindBundle(op.backend.Sources, install.Unpack{Source: source(name), Package: o.Package, Bundle: o.Installed})
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
		if o.Automatic && len(op.namespaces[name].operators) == 1 { // one that others depend on is made to wait; see approvals
			sub.Spec.InstallPlanApproval = olm.ApprovalAutomatic
		}
		sub.Status = olm.SubscriptionStatus{CurrentCSV: o.Installed, InstalledCSV: o.Installed}
		w.CSVs = append(w.CSVs, install.CSV{ClusterServiceVersion: csv})
		w.Subscriptions = append(w.Subscriptions, install.Subscription{Subscription: sub})
	}
	return nil
}

// health is how the deployment of a CSV stands.
func (op *installer) health(namespace, csv string) (install.Health, string) {
	key, now := namespace+"/"+csv, op.y.clock.Now()
	since, there := op.deployed[key]
	if !there {
		op.deployed[key], since = now, now
	}
	switch {
	case now.Sub(since) < op.y.policy.Estimates.Operator-time.Minute:
		return install.Progressing, "it starts"
	case op.y.input.Situation.Nodes == nil:
		return install.Ready, ""
	}
	if detail := op.y.all.Unready(namespace, csv); detail != "" {
		return install.Progressing, detail
	}
	return install.Ready, ""
}

// actsIn reports whether the engine acts in a namespace.
func (op *installer) actsIn(namespace string) bool { return op.namespaces[namespace] != nil }

// next returns when a namespace is looked at again.
func (op *installer) next() (at time.Time) {
	for _, s := range op.namespaces {
		if at.IsZero() || s.wake.Before(at) {
			at = s.wake
		}
	}
	return at
}

// act offers what the next step asks for, and is a pass over each namespace in which
// something has happened, or may have.
func (op *installer) act(ctx context.Context) error {
	now := op.y.clock.Now()
	var under string // the namespace of the next step
	if left := op.y.saved.Steps; len(left) > 0 && left[0].Kind == MoveOperator {
		a, ok := left[0].act(op.y.input.Situation).(Approve)
		if offers := append([]string{a.CSV}, left[0].With...); ok && op.actsIn(a.Namespace) {
			under = a.Namespace
			if s := op.namespaces[under]; s.offered != strings.Join(offers, " ") {
				if err := op.publish(ctx, under, offers); err != nil {
					return err
				}
			}
		}
	}
	if op.y.fault(100) {
		if err := op.start(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(op.namespaces)) {
		s := op.namespaces[name]
		if !s.look && now.Before(s.wake) {
			continue
		}
		d, err := op.runner.Reconcile(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.look = err != nil || len(d.Actions) > 0
		op.y.busy = op.y.busy || s.look
		if s.wake = now.Add(10 * time.Minute); name == under {
			s.wake = now.Add(time.Minute) // of pods there are no events
		}
		if !d.Wake.IsZero() && d.Wake.Before(s.wake) {
			s.wake = d.Wake
		}
		op.readInstalled(name)
	}
	return nil
}

// readInstalled reads which versions of operators are installed by now.
func (op *installer) readInstalled(name string) {
	w := op.backend.World(name)
	for _, i := range op.namespaces[name].operators {
		o := &op.y.input.Situation.Operators[i]
		k := slices.IndexFunc(w.Subscriptions, func(s install.Subscription) bool { return s.Name == o.Subscription })
		is := standing(w.Subscriptions[k].Status.InstalledCSV, func(name string) *olm.ClusterServiceVersion {
			if c := slices.IndexFunc(w.CSVs, func(c install.CSV) bool { return c.Name == name }); c >= 0 {
				return &w.CSVs[c].ClusterServiceVersion
			}
			return nil
		})
		if is != nil && is.Name != o.Installed {
			o.Installed = is.Name
			op.y.changes++
		}
	}
}

// approve approves the install plan that brings a CSV.
func (op *installer) approve(a Approve) error {
	op.namespaces[a.Namespace].look = true
	return op.backend.Edit(a.Namespace, func(w *install.World) error {
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
