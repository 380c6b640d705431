package readiness_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/readiness"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// check is the interface Check of the cluster-version operator (pkg/readiness/check.go at
// 6e719331fb58).
type check interface {
	Name() string
	Run(ctx context.Context, c dynamic.Interface, current, target string) (map[string]any, error)
}

var _ check = &readiness.Check{}

// lists contains the kinds of the server, by resource.
var lists = map[string]string{
	"clusterversions.v1.config.openshift.io": "ClusterVersion", "clusteroperators.v1.config.openshift.io": "ClusterOperator",
	"machineconfigpools.v1.machineconfiguration.openshift.io": "MachineConfigPool", "machineconfigs.v1.machineconfiguration.openshift.io": "MachineConfig",
	"nodes.v1.": "Node", "pods.v1.": "Pod", "configmaps.v1.": "ConfigMap", "poddisruptionbudgets.v1.policy": "PodDisruptionBudget",
	"machines.v1beta1.machine.openshift.io": "Machine",
	"replicasets.v1.apps":                   "ReplicaSet", "statefulsets.v1.apps": "StatefulSet", "subscriptions.v1alpha1.operators.coreos.com": "Subscription",
	"clusterserviceversions.v1alpha1.operators.coreos.com": "ClusterServiceVersion", "apirequestcounts.v1.apiserver.openshift.io": "APIRequestCount",
	"machinehealthchecks.v1beta1.machine.openshift.io": "MachineHealthCheck", "infrastructures.v1.config.openshift.io": "Infrastructure",
	"networks.v1.config.openshift.io": "Network", "packagemanifests.v1.packages.operators.coreos.com": "PackageManifest",
}

// server returns a server with the objects in a text.
func server(t *testing.T, text string) *fake.FakeDynamicClient {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{}
	for name, kind := range lists {
		resource, _ := schema.ParseResourceArg(name)
		kinds[*resource] = kind + "List"
	}
	var objects []runtime.Object
	r := snapshot.Reader{Each: func(_ *snapshot.Ref, text []byte) {
		u := &unstructured.Unstructured{}
		objects = append(objects, u)
		if err := u.UnmarshalJSON(text); err != nil {
			t.Error(err)
		}
	}}
	if err := r.Stream(strings.NewReader(text), "objects"); err != nil {
		t.Fatal(err)
	}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// The answer is the plan for the objects on the server, or why there is none;
// unreadable data is reported, with what depends on it.
func TestCheck(t *testing.T) {
	data, err := os.ReadFile("../../../internal/situation/testdata/beside/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(resource string, err error) func(*fake.FakeDynamicClient) {
		return func(c *fake.FakeDynamicClient) {
			c.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
		}
	}
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", nil)
	for _, c := range []struct {
		name     string
		old, new string
		fault    func(*fake.FakeDynamicClient)
		verdict  string
		steps    int
		says     string // the answer
		unread   string // the first entry of not_seen
	}{
		{name: "nothing is in the way", verdict: "plan", steps: 3, says: "update the cluster from 4.18.1 to 4.19.2"},
		{name: "a budget", old: "{minAvailable: 1, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1,",
			new: "{minAvailable: 2, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0,", verdict: "plan", steps: 4, says: "make the budget shop/db allow one disruption"},
		{
			name: "an operator", old: "metadata: {name: network}", new: "metadata: {name: network}\nstatus: {conditions: [{type: Available, status: \"False\", message: no pods}]}\n---\nkind: X\napiVersion: v1\nmetadata: {name: x}",
			verdict: "no plan", says: "network",
		},
		{name: "no gates may be read", fault: refuse("configmaps", denied), verdict: "plan", steps: 3, says: "acknowledge", unread: "configmap openshift-config-managed/admin-gates"},
		{name: "no pods may be read", fault: refuse("pods", denied), verdict: "plan", steps: 3, says: "pods", unread: "pods: "},
		{name: "there is no OLM", fault: refuse("subscriptions", apierrors.NewNotFound(schema.GroupResource{Resource: "subscriptions"}, "")), verdict: "plan", steps: 3, says: "update the cluster"},
	} {
		text := strings.Replace(string(data), c.old, c.new, 1)
		if c.old != "" && text == string(data) {
			t.Fatalf("%s: there is no %q", c.name, c.old)
		}
		client := server(t, text)
		if c.fault != nil {
			c.fault(client)
		}
		out, err := new(readiness.Check).Run(t.Context(), client, "4.18.1", "4.19.2")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		answer, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		steps, _ := out["steps"].([]map[string]any)
		if out["verdict"] != c.verdict || len(steps) != c.steps || !strings.Contains(string(answer), c.says) {
			t.Errorf("%s: %s", c.name, answer)
		}
		if unread := out["not_seen"].([]string); c.unread == "" && len(unread) > 0 || c.unread != "" && !slices.ContainsFunc(unread, func(u string) bool { return strings.HasPrefix(u, c.unread) }) {
			t.Errorf("%s: not seen: %q", c.name, unread)
		}
	}
	if out, err := new(readiness.Check).Run(t.Context(), server(t, "kind: Network\napiVersion: config.openshift.io/v1\nmetadata: {name: cluster}\n"), "4.18.1", "4.19.2"); err == nil || !strings.Contains(err.Error(), "ClusterVersion") {
		t.Errorf("without a ClusterVersion: %v, %v", out, err)
	}
}
