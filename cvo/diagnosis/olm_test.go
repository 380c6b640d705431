package diagnosis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/explain"
)

// testOperators adds an object of OLM.
func (w *world) testOperators(kind string, plain []string, x words_) error {
	if w.olm == nil {
		w.olm = &explain.Cluster{Now: testNow, Kinds: []explain.Kind{
			explain.KindSubscription, explain.KindCSV, explain.KindInstallPlan, explain.KindOperatorGroup, explain.KindCatalogSource, explain.KindNamespace, explain.KindDefinition,
		}, Global: "marketplace"}
	}
	ns, name, _ := strings.Cut(plain[0], "/")
	o := map[string]any{"metadata": map[string]any{"namespace": ns, "name": name}}
	ago := testNow.Add(-2 * 3600e9).Format("2006-01-02T15:04:05Z")
	switch kind {
	case "package":
		o["kind"], o["metadata"], o["status"] = "PackageManifest", map[string]any{"namespace": "marketplace", "name": plain[0]}, testPackage(plain[1:], x)
	case "subscription":
		spec, status := map[string]any{"name": name}, map[string]any{"installedCSV": x["installed"], "currentCSV": x["installed"]}
		if x.has("channel") {
			spec["channel"] = x["channel"]
		}
		if x.has("catalog") {
			spec["source"], spec["sourceNamespace"] = x["catalog"], "marketplace"
			for _, c := range w.olm.Catalogs {
				if c.Name == x["catalog"] {
					spec["sourceNamespace"] = c.Namespace
				}
			}
		}
		if x.has("plan") {
			status["installPlanRef"], spec["installPlanApproval"], status["state"] = map[string]any{"namespace": ns, "name": x["plan"]}, "Manual", "UpgradePending"
		} else {
			status["currentCSV"] = name + ".v1"
		}
		if reason, text, is := strings.Cut(x["failed"], ":"); is {
			status["conditions"] = []any{map[string]any{"type": "ResolutionFailed", "status": "True", "reason": reason, "message": text, "lastTransitionTime": ago}}
		}
		o["kind"], o["spec"], o["status"] = "Subscription", spec, status
	case "group":
		spec := map[string]any{"targetNamespaces": []any{ns}}
		if x.has("all") {
			spec = map[string]any{}
		}
		o["kind"], o["spec"] = "OperatorGroup", spec
	case "catalog":
		ns := "marketplace"
		if x.has("in") {
			ns = x["in"]
		}
		state := "READY"
		if x.has("down") {
			state = "TRANSIENT_FAILURE"
		}
		o["kind"], o["metadata"] = "CatalogSource", map[string]any{"namespace": ns, "name": plain[0]}
		o["spec"], o["status"] = map[string]any{"sourceType": "grpc", "image": "r.example/c:1"}, map[string]any{"connectionState": map[string]any{"lastObservedState": state}}
	case "installplan":
		status := map[string]any{"phase": "RequiresApproval"}
		if crd, version, is := strings.Cut(x["drops"], ":"); is {
			status["plan"] = []any{map[string]any{"resolving": x["csv"], "resource": map[string]any{"kind": "CustomResourceDefinition", "manifest": fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"versions":[{"name":"v9"}]}}`, crd)}}}
			d := map[string]any{"kind": "CustomResourceDefinition", "metadata": map[string]any{"name": crd}, "status": map[string]any{"storedVersions": []any{version}}}
			if err := w.testAdd(d); err != nil {
				return err
			}
		}
		o["kind"], o["spec"], o["status"] = "InstallPlan", map[string]any{"clusterServiceVersionNames": []any{x["csv"]}, "approval": "Manual"}, status
	case "csv":
		o["kind"], o["spec"] = "ClusterServiceVersion", map[string]any{"installModes": []any{map[string]any{"type": x["mode"], "supported": true}}}
		o["status"] = map[string]any{"phase": "Failed", "reason": x["failed"], "lastTransitionTime": ago}
		if !x.has("failed") {
			o["status"] = map[string]any{"phase": "Succeeded"}
		}
	}
	return w.testAdd(o)
}

// testPackage returns the status of a package with channels, of which the first is the default.
func testPackage(channels []string, x words_) map[string]any {
	var all []any
	for _, c := range channels {
		name, list, _ := strings.Cut(c, ":")
		csvs := strings.Split(list, ",")
		entries := []any{}
		for _, csv := range csvs {
			entries = append(entries, map[string]any{"name": csv})
		}
		all = append(all, map[string]any{"name": name, "currentCSV": csvs[0], "entries": entries})
	}
	first, _, _ := strings.Cut(channels[0], ":")
	return map[string]any{"catalogSource": x["catalog"], "catalogSourceNamespace": cmp.Or(x["in"], "marketplace"), "defaultChannel": first, "channels": all}
}

func (w *world) testAdd(o map[string]any) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	odd, err := w.olm.Add(fmt.Sprint(o["kind"]), text)
	if len(odd) > 0 {
		err = fmt.Errorf("%v", odd)
	}
	return err
}

// TestOperatorsStep: what is changed of OLM's objects frees what it should, or is not called tried.
func TestOperatorsStep(t *testing.T) {
	const sub = "subscription shop/web catalog=index"
	for name, c := range map[string]struct {
		world, command, frees string
		tried                 bool
	}{
		"approval": {"catalog index\ngroup shop/g\n" + sub + " plan=install-1\ninstallplan shop/install-1 csv=web.v1", `kubectl patch installplan -n shop install-1 --type merge -p '{"spec":{"approved":true}}'`, "subscription/shop/web", true},
		"approval that loses data": {
			"catalog index\ngroup shop/g\n" + sub + " plan=install-1\ninstallplan shop/install-1 csv=web.v1 drops=webs.example.com:v1alpha1", "kubectl ", "subscription/shop/web", false,
		},
		"three groups":                    {"catalog index\ngroup shop/a\ngroup shop/b\ngroup shop/c\n" + sub, "kubectl delete operatorgroup -n shop b && kubectl delete operatorgroup -n shop c", "subscription/shop/web", true},
		"no group":                        {"catalog index\n" + sub, "printf ", "subscription/shop/web", true},
		"groups of a CSV":                 {"catalog index\ngroup shop/g\nsubscription shop/web catalog=index installed=web.v1\ncsv shop/web.v1 failed=UnsupportedOperatorGroup mode=AllNamespaces", `kubectl patch operatorgroup -n shop g --type merge -p '{"spec":{"selector":null,"targetNamespaces":null}}'`, "subscription/shop/web", true},
		"catalog is down":                 {"catalog index down\ngroup shop/g\n" + sub, "kubectl describe pods -n marketplace -l olm.catalogSource=index", "subscription/shop/web", false},
		"other namespace":                 {"group shop/g\n" + sub + "\ncatalog index in=shop", `kubectl patch subscriptions.operators.coreos.com -n shop web --type merge -p '{"spec":{"sourceNamespace":"shop"}}'`, "subscription/shop/web", true},
		"channel is gone":                 {"catalog index\ngroup shop/g\npackage web catalog=index stable:web.v2,web.v1\n" + sub + " channel=old failed=ConstraintsNotSatisfiable:constraints_not_satisfiable:_no_operators_found_in_channel_old_of_package_web_in_the_catalog_referenced_by_subscription_web", `kubectl patch subscriptions.operators.coreos.com -n shop web --type merge -p '{"spec":{"channel":"stable"}}'`, "subscription/shop/web", true},
		"installed one's channel is gone": {"catalog index\ngroup shop/g\npackage web catalog=index stable:web.v9 eus:web.v2,web.v1\ncsv shop/web.v1\n" + sub + " installed=web.v1 channel=old failed=ConstraintsNotSatisfiable:constraints_not_satisfiable:_no_operators_found_in_channel_old_of_package_web_in_the_catalog_referenced_by_subscription_web", `kubectl patch subscriptions.operators.coreos.com -n shop web --type merge -p '{"spec":{"channel":"eus"}}'`, "subscription/shop/web", true},
		"starting CSV":                    {"catalog index\ngroup shop/g\n" + sub + " channel=old failed=ConstraintsNotSatisfiable:constraints_not_satisfiable:_no_operators_found_with_name_web.v0_in_channel_old_of_package_web_in_the_catalog_referenced_by_subscription_web", `kubectl patch subscriptions.operators.coreos.com -n shop web --type merge -p '{"spec":{"startingCSV":null}}'`, "subscription/shop/web", true},
		"orphaned CSV":                    {"catalog index\ngroup shop/g\n" + sub + " failed=ConstraintsNotSatisfiable:constraints_not_satisfiable:_clusterserviceversion_old.v1_exists_and_is_not_referenced_by_a_subscription\ncsv shop/old.v1 failed=X mode=OwnNamespace", "kubectl delete csv -n shop old.v1", "subscription/shop/web", true},
		"catalog, message":                {"catalog index down\ngroup shop/g\n" + sub + " failed=ErrorPreventedResolution:failed_to_populate_resolver_cache_from_source_index/marketplace:_failed_to_list_bundles", "kubectl describe pods -n marketplace -l olm.catalogSource=index", "subscription/shop/web", false},
	} {
		w, err := testWorld("node a\n" + c.world)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d := diagnose(w)
		if !slices.Contains(Stuck(d.Causes), c.frees) {
			t.Errorf("%s: %s is not stuck before: %v", name, c.frees, Stuck(d.Causes))
		}
		k := slices.IndexFunc(d.Steps, func(s Step) bool { return slices.Contains(s.Frees, c.frees) })
		if k < 0 {
			t.Errorf("%s: no step frees %s: %+v\n%v", name, c.frees, d.Steps, d.Says)
			continue
		}
		if s := &d.Steps[k]; s.Tried != c.tried || !strings.HasPrefix(s.Command, c.command) {
			t.Errorf("%s: %+v", name, s)
		}
		played(t, w, d)
	}
}
