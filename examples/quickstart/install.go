package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

const namespace = "pier"

// installAndUpdate simulates a cluster in memory: lighthouse is installed at an old
// version and then updated, each time after the plan is approved.
func installAndUpdate(ctx context.Context, w io.Writer, resolver *olm.Resolver) error {
	phases := make(map[string]olm.Phase)
	sources := resolver.Visible(&olm.Request{Namespace: namespace})
	cluster := &install.MemBackend{Sources: sources, Changed: func(_ string, a install.Action) {
		switch a := a.(type) {
		case install.SetPhase:
			if phases[a.CSV] != a.Phase { // otherwise only its reason has changed
				fmt.Fprintf(w, "   %-18s is %s\n", a.CSV, a.Phase)
			}
			phases[a.CSV] = a.Phase
		case install.ApplyStep:
			fmt.Fprintf(w, "   %s %s is written\n", a.Ref.Kind, a.Ref.Name)
		}
	}}
	err := cluster.Edit(namespace, func(world *install.World) error {
		world.Groups = make([]install.OperatorGroup, 1)
		world.Subscriptions = []install.Subscription{{Subscription: olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: "lighthouse"},
			Spec: olm.SubscriptionSpec{
				Package: "lighthouse", StartingCSV: "lighthouse.v1.0.0", InstallPlanApproval: olm.ApprovalManual,
			},
		}}}
		return nil
	})
	if err != nil {
		return err
	}
	runner, err := install.NewRunner(cluster, resolver.Resolve, nil, nil)
	if err != nil {
		return err
	}
	for range 2 {
		if err := rest(ctx, w, runner); err != nil {
			return err
		}
		if err := cluster.Edit(namespace, approve); err != nil {
			return err
		}
		fmt.Fprint(w, "   You approve it.\n\n")
	}
	if err := rest(ctx, w, runner); err != nil {
		return err
	}
	var stand []string
	for _, csv := range cluster.World(namespace).CSVs {
		stand = append(stand, csv.Name)
	}
	indent(w, "Installed are "+strings.Join(stand, ", ")+".")
	return nil
}

// rest reconciles until there is nothing to do, and reports what waits.
func rest(ctx context.Context, w io.Writer, runner *install.Runner) error {
	for {
		d, err := runner.Reconcile(ctx, namespace)
		if err != nil {
			return err
		}
		if len(d.Actions) == 0 {
			for _, b := range d.Blocked {
				indent(w, fmt.Sprintf("%s: %s; to unblock: %s", b.Subject, b.Message, b.Unblock))
			}
			return nil
		}
	}
}

func approve(world *install.World) error {
	for i := range world.Plans {
		world.Plans[i].Spec.Approved = true
	}
	return nil
}
