package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
)

// drawnUpdate draws a cluster and what it says about its updates.
func drawnUpdate(seed uint64) []map[string]any {
	r := rand.New(rand.NewPCG(seed, 44))
	one := func(n int) bool { return r.IntN(n) == 0 }
	image := func(v string) string {
		return "quay.io/r@sha256:" + strings.Repeat(fmt.Sprintf("%02x", len(v)+int(v[len(v)-1])), 32)
	}
	condition := func(kind, status, reason, message string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-03-01T08:00:00Z"}
	}
	release := func(v string) map[string]any {
		return map[string]any{"version": v, "image": image(v), "channels": []any{"stable-4.18", "stable-4.19"}}
	}
	conditions := []any{condition("Available", "True", "R", "done"), condition("Failing", "False", "R", ""), condition("RetrievedUpdates", "True", "R", "")}
	spec, available, conditional := map[string]any{"channel": "stable-4.18", "clusterID": "c"}, []any{}, []any{}
	for _, v := range []string{"4.18.25", "4.19.12"} {
		switch r.IntN(4) {
		case 0, 1:
			available = append(available, release(v))
		case 2:
			status := []string{"False", "Unknown"}[r.IntN(2)]
			conditional = append(conditional, map[string]any{
				"release": release(v), "conditions": []any{condition("Recommended", status, "SlowDisk", "Disks are slow https://e/d")},
				"risks": []any{map[string]any{"name": "SlowDisk", "message": "Disks are slow", "url": "https://e/d", "matchingRules": []any{map[string]any{"type": "PromQL", "promql": map[string]any{"promql": "x"}}}}},
			})
		}
	}
	history := []any{map[string]any{"state": "Completed", "version": "4.18.20", "image": image("4.18.20"), "startedTime": "2026-02-01T08:00:00Z", "completionTime": "2026-02-01T09:00:00Z"}}
	desired, progressing := "4.18.20", condition("Progressing", "False", "R", "Cluster version is 4.18.20")
	switch to := []string{"4.18.25", "4.19.12"}[r.IntN(2)]; r.IntN(5) {
	case 0:
		spec["desiredUpdate"] = map[string]any{"version": to, "image": image(to)}
		conditions = append(conditions, condition("ReleaseAccepted", "False", "PreconditionChecks", `Preconditions failed for payload loaded version="`+to+`" image="`+image(to)+`": Precondition "ClusterVersionUpgradeable" failed because of "AdminAckRequired": an API goes`))
	case 1:
		desired, progressing = to, condition("Progressing", "True", "R", "Working towards "+to+": 100 of 800 done (12% complete)")
		spec["desiredUpdate"] = map[string]any{"version": to, "image": image(to)}
		history = append([]any{map[string]any{"state": "Partial", "version": to, "image": image(to), "startedTime": "2026-03-01T08:00:00Z"}}, history...)
		available, conditional = []any{}, []any{}
	}
	conditions = append(conditions, progressing)
	if one(3) {
		conditions = append(conditions, condition("Upgradeable", "False", "IncompatibleOperatorsInstalled", "Cluster operator operator-lifecycle-manager should not be upgraded between minor versions: logging.v5 is not compatible"))
	}
	if one(6) {
		spec["overrides"] = []any{map[string]any{"group": "apps", "kind": "Deployment", "namespace": "x", "name": "y", "unmanaged": true}}
	}
	all := []map[string]any{{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": map[string]any{"name": "version", "generation": 2}, "spec": spec,
		"status": map[string]any{"observedGeneration": 2, "desired": release(desired), "history": history, "conditions": conditions, "availableUpdates": available, "conditionalUpdates": conditional},
	}}
	for _, role := range []string{"master", "worker"} {
		config := "rendered-" + role
		paused, degraded := role == "worker" && one(4), role == "worker" && one(5)
		pool := []any{condition("Updated", "True", "", ""), condition("Updating", "False", "", "")}
		if degraded {
			pool = []any{condition("Updated", "False", "", ""), condition("NodeDegraded", "True", "1 nodes are reporting degraded status on sync", `Node worker-0 is reporting: "unexpected on-disk state"`), condition("Degraded", "True", "", "")}
		}
		all = append(all, map[string]any{
			"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "metadata": map[string]any{"name": role},
			"spec":   map[string]any{"paused": paused, "configuration": map[string]any{"name": config}, "nodeSelector": map[string]any{"matchLabels": map[string]any{"node-role.kubernetes.io/" + role: ""}}},
			"status": map[string]any{"machineCount": 1, "updatedMachineCount": 1, "readyMachineCount": 1, "configuration": map[string]any{"name": config}, "conditions": pool},
		}, map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": role + "-0", "uid": role, "labels": map[string]any{"node-role.kubernetes.io/" + role: ""}, "annotations": map[string]any{
				"machineconfiguration.openshift.io/currentConfig": config, "machineconfiguration.openshift.io/desiredConfig": config, "machineconfiguration.openshift.io/state": "Done",
			}}, "spec": map[string]any{}, "status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		}, map[string]any{
			"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": map[string]any{"name": config, "annotations": map[string]any{"machineconfiguration.openshift.io/release-image-version": "4.18.20"}}, "spec": map[string]any{},
		})
	}
	for _, name := range []string{"etcd", "operator-lifecycle-manager"} {
		all = append(all, map[string]any{
			"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": map[string]any{"name": name},
			"status": map[string]any{"versions": []any{map[string]any{"name": "operator", "version": "4.18.20"}}, "conditions": []any{condition("Available", "True", "", ""), condition("Degraded", "False", "", ""), condition("Progressing", "False", "", ""), condition("Upgradeable", "True", "", "")}},
		})
	}
	return all
}

// at returns a value in JSON, by the path to it; nil if it is not there.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// listAt returns a list in JSON.
func listAt(v any, path ...string) []any {
	list, _ := at(v, path...).([]any)
	return list
}

// planSteps returns what the steps of a plan do.
func planSteps(plan any) (all []string) {
	for _, s := range listAt(plan, "steps") {
		all = append(all, fmt.Sprint(at(s, "kind"), " ", at(s, "subject"), " ", at(s, "to"), " ", at(s, "command")))
	}
	return all
}

// reasonsOf returns the reasons why there is no plan.
func reasonsOf(plan any) (all []string) {
	for _, r := range listAt(plan, "reasons") {
		all = append(all, fmt.Sprint(at(r, "reason")))
	}
	return all
}

// The verbs that are asked about an update answer as one: plan takes no step first that recommend
// says is refused, and has a way to what recommend recommends, or names what recommend does not look
// at; what update status says is under way is not planned again; the page has the plan of plan.
func TestAgreeUpdates(t *testing.T) {
	inputs, _ := filepath.Glob("../../../shared/reports/cvo/*.yaml")
	dir := t.TempDir()
	for seed := range uint64(long.N(60, 1_000)) {
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": drawnUpdate(seed)})
		name := filepath.Join(dir, fmt.Sprintf("seed-%d.json", seed))
		if err == nil {
			err = os.WriteFile(name, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, name)
	}
	planned, refused, under := 0, 0, 0
	for _, in := range inputs {
		status, advice := agreeRun(t, "update status", in), agreeRun(t, "update recommend", in)
		if status == nil || advice == nil {
			continue
		}
		targets := map[string]any{}
		for _, c := range listAt(advice, "choices") {
			targets[fmt.Sprint(at(c, "release", "version"))] = c
		}
		moving := at(status, "updating") == true
		if moving {
			targets[fmt.Sprint(at(status, "target"))] = nil
		}
		for _, to := range slices.Sorted(maps.Keys(targets)) {
			choice := targets[to]
			plan, page := agreeRun(t, "plan -to "+to, in), agreeRun(t, "report -to "+to, in)
			if plan == nil || page == nil {
				t.Errorf("%s: plan -to %s: %v, report: %v", in, to, plan, page)
				continue
			}
			list, why := planSteps(plan), reasonsOf(plan)
			about := fmt.Sprintf("%s: -to %s: steps %q, reasons %q; recommend: %v %v", in, to, list, why, at(choice, "recommended"), at(choice, "reasons"))
			if got := planSteps(at(page, "plan")); !slices.Equal(got, list) {
				t.Errorf("%s; the page: %q", about, got)
			}
			if len(list) > 0 {
				planned++
			} else {
				refused++
			}
			waits := len(list) > 0 && strings.HasPrefix(list[0], "UpdateCluster") && strings.Contains(list[0], "oc wait")
			switch {
			case moving && at(status, "target") == to:
				under++
				if len(list) > 0 && !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "oc wait clusterversion") }) {
					t.Errorf("%s; it is under way", about)
				}
			case waits:
				t.Errorf("%s; nothing is under way", about)
			case at(choice, "blocked") == true && len(list) > 0 && strings.HasPrefix(list[0], "UpdateCluster") && strings.Contains(list[0], "--to="+to) && len(listAt(listAt(plan, "steps")[0], "first")) <= 1:
				t.Errorf("%s; recommend says that it is refused", about)
			case at(choice, "recommended") == "True" && at(choice, "blocked") != true && len(list) == 0 && slices.ContainsFunc(why, func(s string) bool {
				return slices.Contains([]string{"NoPath", "UpdatesUnknown", "RiskApplies", "Refused"}, s)
			}):
				t.Errorf("%s; recommend recommends it", about)
			}
		}
	}
	t.Logf("%d plans, %d refusals, %d under way", planned, refused, under)
	if planned < 20 || refused < 10 || under < 3 {
		t.Error("that compares too little")
	}
}
