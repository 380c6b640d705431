package diagnosis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// TestTriedSteps: the effect of each kind of step that is tried is real. With the step, what it frees is
// not stuck any more; without it, it is.
func TestTriedSteps(t *testing.T) {
	const app = "node a\nnode b\npod shop/web-0 node=a of=ReplicaSet/web app=web\nreplicas ReplicaSet/shop/web 1\n"
	for name, c := range map[string]struct{ world, verb, frees string }{
		"cordon":    {"node a cordoned\npod shop/web-0 of=ReplicaSet/web app=web", "Allow pods on node a", "pod/shop/web-0"},
		"budget":    {app + "budget shop/web app=web max=0\nmachine api/m node=a deleted=1h", "Let budget shop/web", "machine/api/m"},
		"finalizer": {app + "pod shop/old node=a deleted=2h finalizer=example.com/x", "Bring back the controller of finalizer", "pod/shop/old"},
		"taint":     {"node a taint=node.kubernetes.io/out-of-service\npod shop/web-0 of=ReplicaSet/web app=web", "Remove the taint", "pod/shop/web-0"},
		"pool":      {"version 4.19.8 4.19.12 done\npool worker paused\nnode a pool=worker old", "Let pool worker go on", "machineconfigpool/worker"},
		"cronjob":   {"node a\ncronjob shop/report suspended", "Let CronJob shop/report go on", "cronjob/shop/report"},
		"overrides": {"version 4.19.8 4.19.8 done overrides refused=4.19.9:PreconditionChecks:Precondition_\"ClusterVersionUpgradeable\"_failed_because_of_\"ClusterVersionOverridesSet\":_Disabling", "Remove spec.overrides", "update/4.19.9"},
		"withdraw":  {"version 4.18.1 4.18.1 done refused=4.19.2:PreconditionChecks:Precondition_\"ClusterVersionUpgradeable\"_failed_because_of_\"AdminAckRequired\":_x.\ngate ack-what says=x", "Withdraw the request", "update/4.19.2"},
		"risk":      {"version 4.19.8 4.19.8 done\nwanted 4.19.9 risk=SlowDNS", "Read what risk SlowDNS means", "update/4.19.9"},
		"channel":   {"version 4.18.8 4.18.8 done\nwanted 4.19.9 channel=stable-4.18 with=stable-4.19", "Set the channel stable-4.19", "update/4.19.9"},
		"wanted":    {"version 4.18.8 4.18.8 done\nwanted 4.19.9\ngate ack-4.18-apis says=x", "Acknowledge ack-4.18-apis", "update/4.19.9"},
		"hook":      {"node a\nmachine api/m node=a deleted=1h hook=Backup", "See why tests has not removed hook Backup", "machine/api/m"},
		"machine":   {"node a\nmachine api/m failed of=workers", "Delete machine api/m", "machine/api/m"},
		"gates":     {"version 4.18.1 4.18.1 done refused=4.19.2:PreconditionChecks:Precondition_\"ClusterVersionUpgradeable\"_failed_because_of_\"AdminAckRequired\":_x.\ngate ack-4.18-apis says=x", "Acknowledge ack-4.18-apis", "update/4.19.2"},
	} {
		w, err := testWorld(c.world)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "cronjob" { // only for whoever asks about it
			w.of = []string{c.frees}
		}
		d := diagnose(w)
		if !slices.Contains(Stuck(d.Causes), c.frees) {
			t.Errorf("%s: %s is not stuck before: %v", name, c.frees, Stuck(d.Causes))
		}
		k := slices.IndexFunc(d.Steps, func(s Step) bool { return s.Tried && strings.HasPrefix(s.Do, c.verb) })
		if k < 0 || !slices.Contains(d.Steps[k].Frees, c.frees) {
			t.Errorf("%s: no tried step %q frees %s: %+v", name, c.verb, c.frees, d.Steps)
			continue
		}
		played(t, w, d)
	}
}

// TestScaledToNone: a workload is run again if a node has room for its pod; otherwise no such step is
// called tried.
func TestScaledToNone(t *testing.T) {
	for cpu, tried := range map[string]bool{"1": true, "64": false} {
		var r snapshot.Reader
		err := r.Stream(strings.NewReader(`{"apiVersion":"v1","kind":"List","items":[
			{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","pods":"9"},"conditions":[{"type":"Ready","status":"True"}]}},
			{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"kube-system"},"spec":{"nodeName":"a"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}},
			{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"policy"},"spec":{"nodeName":"a"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}},
			{"apiVersion":"v1","kind":"Service","metadata":{"name":"hook","namespace":"policy"},"spec":{"selector":{"app":"hook"}}},
			{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"hook","namespace":"policy"}},
			{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"hook","namespace":"other"},"spec":{"replicas":0,"template":{"metadata":{"labels":{"app":"hook"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"64"}}}]}}}},
			{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"hook","namespace":"policy"},"spec":{"replicas":0,"template":{"metadata":{"labels":{"app":"hook"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"`+cpu+`"}}}]}}}},
			{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"policy"},"webhooks":[{"name":"p.example","clientConfig":{"service":{"namespace":"policy","name":"hook"}},"rules":[{"resources":["pods"]}]}]}]}`), "x.json")
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		d := Diagnose(s, testNow.Add(time.Hour), nil)
		if len(d.Causes) != 1 || d.Causes[0].Reason != ScaledToNone || len(d.Steps) == 0 {
			t.Fatalf("cpu %s: causes %v, steps %v", cpu, d.Says, d.Steps)
		}
		if first := &d.Steps[0]; first.Tried != tried || tried && !slices.Contains(first.Frees, "validatingwebhookconfiguration/policy") {
			t.Errorf("cpu %s: %+v", cpu, first)
		}
	}
}
