package e2e_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestMain prevents controller-runtime from warning about a missing logger: the
// operator has its own log.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// world is a cluster with kubelets, and a client for its admin.
type world struct {
	*testing.T
	*cluster.Cluster
	admin    client.WithWatch
	kubelets *cluster.Kubelets
}

func newWorld(t *testing.T, opts *cluster.KubeletOptions) *world {
	t.Helper()
	return newWorldOn(t, cluster.ForTest(t, nil), opts)
}

// newWorldOn is newWorld with a given cluster.
func newWorldOn(t *testing.T, c *cluster.Cluster, opts *cluster.KubeletOptions) *world {
	t.Helper()
	admin, err := client.NewWithWatch(c.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubelets, err := c.PlayKubelets(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, c, admin, kubelets}
	t.Cleanup(w.note)
	return w
}

// namespace creates a namespace and waits for its service account, so that
// pods can be created in it.
func (w *world) namespace(name string) {
	w.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	w.eventually("the service account of "+name, func() string {
		return problem(w.admin.Get(w.Context(), client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{}))
	})
}

func (w *world) create(o client.Object) {
	w.Helper()
	if err := w.admin.Create(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

// eventually waits until check returns "", or the test has failed. It allows for
// slow servers and outages.
func (w *world) eventually(what string, check func() string) {
	w.Helper()
	w.within(2*time.Minute, what, check)
}

func (w *world) within(most time.Duration, what string, check func() string) {
	w.Helper()
	begin := time.Now()
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		if time.Since(begin) > most {
			w.Fatalf("%s: after %v: %s", what, most, wrong)
		}
		if w.Failed() { // by an operator that has ended, for example
			w.Fatalf("%s: no longer waited for, because the test has failed: %s", what, wrong)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func problem(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// requests returns the requests to the server.
func (w *world) requests(f cluster.Filter) []cluster.Request {
	w.Helper()
	all, err := w.Requests(f)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// outage stops the API server for a while, and starts it again.
func (w *world) outage(d time.Duration) {
	w.Helper()
	if err := w.StopAPIServer(); err != nil {
		w.Fatal(err)
	}
	time.Sleep(d)
	if err := w.StartAPIServer(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// pod creates a pod on a node, or one to be scheduled, with one toleration or
// none.
func (w *world) pod(namespace, name, node string, edit func(*corev1.Pod)) *corev1.Pod {
	w.Helper()
	none := int64(0)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			TerminationGracePeriodSeconds: &none,
			Containers:                    []corev1.Container{{Name: "main", Image: "none"}},
		},
	}
	if edit != nil {
		edit(p)
	}
	w.create(p)
	return p
}

// client returns the typed client of the admin.
func (w *world) client() kubernetes.Interface {
	w.Helper()
	c, err := kubernetes.NewForConfig(w.Config())
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// summary formats the counts of requests by kind.
func summary(all []cluster.Request) string {
	count := map[string]int{}
	for _, r := range all {
		count[fmt.Sprintf("%s %s/%s %d", r.Verb, r.Resource, r.Subresource, r.Code)]++
	}
	return fmt.Sprint(count)
}
