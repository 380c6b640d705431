package clusterversion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
)

// TestRequests checks how many requests an update takes. Reports on the progress of a
// Deployment cost none.
func TestRequests(t *testing.T) {
	cache := &reports{}
	c := newCluster(t, clusterversion.Options{Own: releaseA, Verifier: cvo.Digests{digestB}, Reports: cache}, clusterVersion())
	cache.Reader = c
	c.source[imageA], c.source[imageB] = files("1.0.0", small), files("1.1.0", small)
	saved := 0
	m := &managed{cluster: c}
	m.pass = c.backend.Pass(newRunner(t, c.backend, nil, &fairlead.RunnerOptions{Clock: c.clock, Trace: &fairlead.Trace{
		Saved: func(string, fairlead.Revision) { saved++ },
	}}))
	within := func(what string, gets, states, statuses, applied int) {
		t.Helper()
		c.gets, saved = 0, 0
		got := map[string]int{}
		for _, call := range m.passes() {
			verb, _, _ := strings.Cut(call, " ")
			got[verb]++
		}
		t.Logf("%s: the ClusterVersion read %d times, the state written %d times, statuses and manifests: %v", what, c.gets, saved, got)
		if is, most := fmt.Sprint(c.gets, saved, got["update"], got["apply"]), fmt.Sprint(gets, states, statuses, applied); is != most {
			t.Errorf("%s: reads, states, statuses, manifests: %s, want %s", what, is, most)
		}
	}
	m.passes()
	m.establish()
	m.passes()
	m.rollOut()
	m.passes()
	m.report("1.0.0", "False")
	m.passes()
	within("at rest", 0, 0, 0, 0)

	replicas := func(n int) {
		m.edit(m.read("apps/v1", "Deployment", "ns/b"), "status", fmt.Sprintf("{replicas: %d, updatedReplicas: 0, availableReplicas: 0}", n))
	}
	replicas(1)
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.desiredUpdate", "{image: "+imageB+"}")
	within("asked for, until the Deployment rolls out", 2, 5, 3, 3)
	for n := range 3 {
		replicas(2 + n)
		within("the Deployment is in progress", 0, 0, 0, 0)
	}
	m.rollOut()
	within("rolled out", 0, 2, 2, 0)
	m.report("1.1.0", "False")
	within("to the end", 0, 2, 2, 1)
	within("at rest again", 0, 0, 0, 0)
}
