package install_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

const ferry = `
{"schema":"olm.package","name":"ferry","defaultChannel":"stable"}
{"schema":"olm.channel","package":"ferry","name":"stable","entries":[{"name":"ferry.v1.1.0","replaces":"ferry.v1.0.0"},{"name":"ferry.v1.0.0"}]}
{"schema":"olm.bundle","package":"ferry","name":"ferry.v1.0.0","image":"example.com/ferry:1.0","properties":[
  {"type":"olm.package","value":{"packageName":"ferry","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"ferry","name":"ferry.v1.1.0","image":"example.com/ferry:1.1","properties":[
  {"type":"olm.package","value":{"packageName":"ferry","version":"1.1.0"}}]}
`

// dock returns a cluster with a subscription to ferry, and a runner for it.
func dock(approval olm.Approval, starting string) (*install.MemBackend, *install.Runner, error) {
	held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(ferry)}}, nil)
	if err != nil {
		return nil, nil, err
	}
	resolver, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}, nil)
	if err != nil {
		return nil, nil, err
	}
	sources := []olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}
	cluster := &install.MemBackend{Sources: sources}
	err = cluster.Edit("harbour", func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Subscriptions = []install.Subscription{{Subscription: olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: "ferry"},
			Spec:       olm.SubscriptionSpec{Package: "ferry", StartingCSV: starting, InstallPlanApproval: approval},
		}}}
		return nil
	})
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		return nil, nil, err
	}
	runner, err := install.NewRunner(cluster, resolver.Resolve, nil, &fairlead.RunnerOptions{Clock: clock})
	return cluster, runner, err
}

// An operator is installed at the version that its subscription starts at, and
// then updated.
func ExampleRunner_Reconcile() {
	cluster, runner, err := dock(olm.ApprovalAutomatic, "ferry.v1.0.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Changed = func(_ string, a install.Action) {
		if p, ok := a.(install.SetPhase); ok {
			fmt.Println(p.CSV, p.Phase)
		}
	}
	for {
		d, err := runner.Reconcile(context.Background(), "harbour")
		if err != nil || len(d.Actions) == 0 {
			fmt.Println("blocked:", d.Blocked, err)
			return
		}
	}
	// Output:
	// ferry.v1.0.0 Pending
	// ferry.v1.0.0 InstallReady
	// ferry.v1.0.0 Installing
	// ferry.v1.0.0 Succeeded
	// ferry.v1.0.0 Replacing
	// ferry.v1.1.0 Pending
	// ferry.v1.1.0 InstallReady
	// ferry.v1.1.0 Installing
	// ferry.v1.1.0 Succeeded
	// ferry.v1.0.0 Deleting
	// blocked: [] <nil>
}

// What goes when an operator is uninstalled is told before; an annotation has it
// done.
func ExampleWorld_Removal() {
	cluster, runner, err := dock(olm.ApprovalAutomatic, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	settle := func() {
		for {
			d, err := runner.Reconcile(context.Background(), "harbour")
			if err != nil || len(d.Actions) == 0 {
				fmt.Println(len(cluster.World("harbour").CSVs), "installed", err)
				return
			}
		}
	}
	settle()
	plan, _, err := cluster.World("harbour").Removal("ferry", install.RemovalUninstall)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range plan.Steps {
		fmt.Println(step.Verb, step.Object)
	}
	err = cluster.Edit("harbour", func(w *install.World) error {
		w.Subscriptions[0].Annotations = map[string]string{install.RemovalAnnotation: install.RemovalUninstall}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	settle()
	// Output:
	// 1 installed <nil>
	// delete Subscription harbour/ferry
	// delete ClusterServiceVersion harbour/ferry.v1.1.0
	// 0 installed <nil>
}

// A plan that is manual says what it waits for, until somebody approves it.
func ExampleInstallPlan() {
	cluster, runner, err := dock(olm.ApprovalManual, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	settle := func() {
		for {
			d, err := runner.Reconcile(context.Background(), "harbour")
			if err != nil || len(d.Actions) == 0 {
				fmt.Println(len(cluster.World("harbour").CSVs), "installed, blocked:")
				for _, b := range d.Blocked {
					fmt.Println(b.Subject, b.Reason)
				}
				return
			}
		}
	}
	settle()
	err = cluster.Edit("harbour", func(w *install.World) error {
		w.Plans[0].Spec.Approved = true
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	settle()
	// Output:
	// 0 installed, blocked:
	// installplan install-1 RequiresApproval
	// 1 installed, blocked:
}
