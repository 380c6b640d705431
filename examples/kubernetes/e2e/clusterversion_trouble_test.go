package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/promserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trouble is what blocks an update: a risk that a Prometheus evaluates, and a
// gate for administrators. The cluster begins without capabilities.
type trouble struct {
	service string // the address of the update service
	metrics string // the address of the Prometheus
	risky   func(bool)
}

// gateAck is the gate of the cluster's release.
const gateAck = "ack-4.18-old-api-in-4.19"

// newTrouble returns the trouble for a cluster that is exposed to the risk.
func newTrouble(t *testing.T) *trouble {
	url, set := promserver.Target(t, "risky 1\n")
	x := &trouble{metrics: promserver.StartOr(t, url), risky: func(is bool) { set(map[bool]string{true: "risky 1\n", false: "risky 0\n"}[is]) }}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("channel") != "stable-4.18" || r.FormValue("arch") != "amd64" {
			http.Error(w, "nobody knows that channel", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"nodes": [{"version": %[1]q, "payload": %[3]q}, {"version": %[2]q, "payload": %[4]q}], "edges": [],
			"conditionalEdges": [{"edges": [{"from": %[1]q, "to": %[2]q}], "risks": [{"name": "SlowDisks", "url": "https://example.com/slow-disks",
			"message": "Slow disks become slower.", "matchingRules": [{"type": "PromQL", "promql": {"promql": "max(risky)"}}]}]}]}`,
			oldVersion, newVersion, releaseImage+oldDigest, releaseImage+newDigest)
	}))
	t.Cleanup(service.Close)
	x.service = service.URL + "/graph"
	return x
}

// prepare changes the ClusterVersion to that of a cluster with the trouble, and
// creates the gates.
func (x *trouble) prepare(u *upgrade) {
	u.Helper()
	u.flags = append(u.flags, "-clusterversion-architecture=amd64", "-clusterversion-prometheus="+x.metrics, "-clusterversion-evaluate=1s")
	u.patch(fmt.Sprintf(`{"spec": {"upstream": %q, "capabilities": {"baselineCapabilitySet": "None"}}}`, x.service))
	u.namespace("openshift-config")
	u.namespace("openshift-config-managed")
	u.create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config-managed", Name: "admin-gates"},
		Data:       map[string]string{gateAck: "The old API goes. See https://example.com/old-api."},
	})
	gates := object("config.openshift.io/v1", "FeatureGate", "cluster") // those of the installed definitions
	gates.Object["spec"] = map[string]any{}
	u.eventually("the kind FeatureGate is served", func() string { return problem(u.admin.Create(u.Context(), gates)) })
	version := func(v string) any {
		return map[string]any{"version": v, "enabled": []any{}, "disabled": []any{map[string]any{"name": "ClusterUpdateAcceptRisks"}}}
	}
	gates.Object["status"] = map[string]any{"featureGates": []any{version(oldVersion), version(newVersion)}}
	if err := u.admin.Status().Update(u.Context(), gates); err != nil {
		u.Fatal(err)
	}
}

// enable enables a capability, which adds its manifests.
func (u *upgrade) enable() {
	u.Helper()
	if u.get("v1", "ConfigMap", "shop/console") != nil {
		u.Error("a manifest of a disabled capability was applied")
	}
	u.patch(`{"spec": {"capabilities": {"additionalEnabledCapabilities": ["Console"]}}}`)
	u.eventually("the capability is there", func() string {
		v, err := u.cv()
		if err != nil {
			return err.Error()
		}
		if got := fmt.Sprint(v.Status.Capabilities.EnabledCapabilities); got != "[Console]" {
			return got
		}
		if u.get("v1", "ConfigMap", "shop/console") == nil {
			return "its ConfigMap does not exist"
		}
		return ""
	})
}

// atRisk requests an update that is not recommended because of its risk, until the
// cluster is no longer exposed to it.
func (u *upgrade) atRisk() {
	u.Helper()
	recommended := func(want cvo.ConditionStatus, reason string) {
		u.Helper()
		u.eventually(fmt.Sprintf("the update is recommended: %s, %s", want, reason), func() string {
			v, err := u.cv()
			if err != nil {
				return err.Error()
			}
			list := v.Status.ConditionalUpdates
			if len(list) != 1 || list[0].Release.Version != newVersion || len(list[0].Conditions) != 1 {
				return fmt.Sprint(list)
			}
			if c := list[0].Conditions[0]; c.Status != want || c.Reason != reason {
				return fmt.Sprint(c)
			}
			return ""
		})
	}
	recommended(cvo.False, "SlowDisks")
	u.patch(fmt.Sprintf(`{"spec": {"desiredUpdate": {"version": %q}}}`, newVersion))
	u.tells("Invalid", "because of SlowDisks; to take it anyway, request its image")
	u.trouble.risky(false)
	recommended(cvo.True, "NotExposedToRisks")
}

// gated waits until the requested update is refused because of a gate, and opens
// it.
func (u *upgrade) gated() {
	u.Helper()
	u.tells("ReleaseAccepted", "AdminAckRequired", "The old API goes.")
	if v, err := u.cv(); err != nil || v.Status.Desired.Version != oldVersion || len(v.Status.History) != 1 {
		u.Errorf("the update began before the gate was open: %v %v", v, err)
	}
	u.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config", Name: "admin-acks"}, Data: map[string]string{gateAck: "true"}})
}

// flaps makes an operator degrade and recover a number of times, five times a
// second. most limits how many statuses may be written because of that; zero
// means half as many.
func (u *upgrade) flaps(name string, times, most int) {
	u.Helper()
	if most == 0 {
		most = times / 2
	}
	since := time.Now()
	for range times {
		u.operators.degrade(name, true)
		time.Sleep(200 * time.Millisecond)
		u.operators.degrade(name, false)
		time.Sleep(200 * time.Millisecond)
	}
	turns := u.requests(cluster.Filter{Resource: "clusteroperators/status", Name: name, Since: since, Verb: "update"})
	written := u.requests(cluster.Filter{User: operator.User, Resource: "clusterversions/status", Since: since, Verb: "update"})
	all := u.written(since)
	u.Logf("%s flapped in %d reports, which caused %d statuses and %d requests: %s", name, len(turns), len(written), len(all), summary(all))
	if len(turns) < times {
		u.Errorf("only %d reports of %d", len(turns), 2*times)
	}
	if len(written) > most {
		u.Errorf("%d statuses were written for it, at most %d are for people", len(written), most)
	}
}
