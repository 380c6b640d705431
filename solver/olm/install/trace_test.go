package install_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// warner warns of each CRD that is written, and fails once.
type warner struct {
	*install.MemBackend
	failed bool
}

func (b *warner) Apply(ctx context.Context, namespace string, a install.Action) error {
	if p, ok := a.(install.SetPhase); ok && p.CSV == "a.v2" && p.Phase == olm.PhaseSucceeded && !b.failed {
		b.failed = true
		return errors.New("not today")
	}
	if err := b.MemBackend.Apply(ctx, namespace, a); err != nil {
		return err
	}
	if step, ok := a.(install.ApplyStep); ok && step.Ref.Kind == "CustomResourceDefinition" {
		return &install.Warned{Warnings: []string{"v1beta1 is deprecated", "and more"}}
	}
	return nil
}

// Each metric of the documents has its function, which is called as often as it
// says (book, table 2.8): an installation and an update are counted through.
func TestTrace(t *testing.T) {
	lines := "a/stable a.v1\nbundle a.v1 provides=(A/v1)"
	var resolver *olm.Resolver
	cluster := &warner{MemBackend: new(install.MemBackend)}
	publish := func(text string) {
		cluster.Sources = parseShelf(text).sources(t)
		r, err := olm.NewResolver(cluster.Sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		resolver = r
	}
	publish(lines)
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	err := cluster.Edit(ns, func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Groups[0].Name = "g"
		w.Catalogs = make([]install.Catalog, 1)
		w.Catalogs[0].Name, w.Catalogs[0].Namespace = "far", "elsewhere"
		w.Catalogs[0].Spec = source.Spec{SourceType: source.TypeGRPC, Address: "far:50051"}
		w.Subscriptions = make([]install.Subscription, 1)
		w.Subscriptions[0].Name, w.Subscriptions[0].Spec = "a", olm.SubscriptionSpec{Package: "a", Channel: "stable"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	trace := new(install.Trace)
	runner, err := install.NewRunner(install.Traced(cluster, trace), func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		clock.Set(clock.Now().Add(2 * time.Millisecond))
		return resolver.Resolve(ctx, req)
	}, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	passes, counts, last := 0, map[string]int{}, map[string]string{}
	told := func(name, format string, args ...any) {
		counts[name]++
		last[name] = fmt.Sprintf(format, args...)
	}
	*trace = install.Trace{
		CatalogSourceCount: func(ns string, n int) { told("catalog_source_count", "%s %d", ns, n) },
		CatalogSourceReady: func(c olm.SourceKey, ready bool) { told("catalogsource_ready", "%s %v", c, ready) },
		CSVAbnormal:        func(c install.CSVSample) { told("csv_abnormal", "%v", c) },
		CSVCount:           func(ns string, n int) { told("csv_count", "%s %d", ns, n) },
		CSVSucceeded:       func(c install.CSVSample, ok bool) { told("csv_succeeded", "%v %v", c, ok) },
		CSVUpgraded:        func(ns, csv string) { told("csv_upgrade_count", "%s %s", ns, csv) },
		InstallPlanCount:   func(ns string, n int) { told("install_plan_count", "%s %d", ns, n) },
		InstallPlanWarning: func(ns, plan, text string) { told("installplan_warnings_total", "%s %s %s", ns, plan, text) },
		ResolutionDuration: func(ns string, took time.Duration, err error) {
			told("olm_resolution_duration_seconds", "%s %v %v", ns, took, err)
		},
		SubscriptionCount: func(ns string, n int) { told("subscription_count", "%s %d", ns, n) },
		SubscriptionSync:  func(s install.SubscriptionSample) { told("subscription_sync_total", "%v", s) },
	}
	settle := func() {
		for {
			passes++
			d, err := runner.Reconcile(t.Context(), ns)
			if len(d.Actions) == 0 {
				return
			}
			if err != nil && !strings.Contains(err.Error(), "not today") {
				t.Errorf("an action that was carried out counts as failed: %v", err)
			}
			if err != nil {
				clock.Set(clock.Now().Add(time.Minute))
			}
		}
	}
	settle()
	publish(lines + "\na/stable a.v2 replaces=a.v1\nbundle a.v2 provides=(A/v1)")
	settle()
	for name, want := range map[string]string{
		"catalog_source_count":            "ns 1",
		"catalogsource_ready":             "elsewhere/far false",
		"csv_abnormal":                    "{ns a.v1 1.0.0 Deleting Replaced}",
		"csv_count":                       "ns 1",
		"csv_succeeded":                   "{ns a.v2 2.0.0 Succeeded InstallSucceeded} true",
		"csv_upgrade_count":               "ns a.v2",
		"install_plan_count":              "ns 2",
		"installplan_warnings_total":      "ns install-2 and more",
		"olm_resolution_duration_seconds": "ns 2ms <nil>",
		"subscription_count":              "ns 1",
		"subscription_sync_total":         "{ns a a stable a.v2}",
	} {
		if last[name] != want {
			t.Errorf("%s: got %q, want %q", name, last[name], want)
		}
	}
	for name, want := range map[string]int{
		"catalog_source_count": passes, "catalogsource_ready": passes, "csv_count": passes, "install_plan_count": passes,
		"olm_resolution_duration_seconds": passes, "subscription_count": passes, "subscription_sync_total": passes,
		"csv_upgrade_count": 1, "installplan_warnings_total": 4,
	} {
		if counts[name] != want {
			t.Errorf("%s: %d times, want %d", name, counts[name], want)
		}
	}
	err = cluster.Edit(ns, func(w *install.World) error {
		w.Subscriptions = append(w.Subscriptions, install.Subscription{})
		w.Subscriptions[1].Name, w.Subscriptions[1].Spec.Package = "nothing", "nothing"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := counts["olm_resolution_duration_seconds"]
	settle()
	if text := last["olm_resolution_duration_seconds"]; !strings.Contains(text, "cannot be resolved") || counts["olm_resolution_duration_seconds"] == before {
		t.Errorf("a resolution that fails is told as %q", text)
	}
	if counts["csv_succeeded"] <= counts["csv_abnormal"] || counts["csv_abnormal"] == 0 {
		t.Errorf("%v", counts)
	}
}
