package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The store fulfills its contract on a real server.
func TestCheckStore(t *testing.T) {
	c := cluster.ForTest(t, nil)
	admin := storeAdmin(t, c)
	err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return kube.NewStore(admin, "fairlead", "lifecycle") })
	if err != nil {
		t.Error(err)
	}
}

func storeAdmin(t *testing.T, c *cluster.Cluster) client.WithWatch {
	t.Helper()
	admin, err := client.NewWithWatch(c.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fairlead"}}); err != nil {
		t.Fatal(err)
	}
	return admin
}

// Several writers append their marks to one value by compare-and-swap while the
// server is stopped and restarted. After an error that leaves the outcome open,
// a writer checks whether its mark is there. In the end each mark is there
// once, and the server's audit log has one write for each.
func TestStoreThroughAnOutage(t *testing.T) {
	const writers, each = 4, 25
	c := cluster.ForTest(t, nil)
	admin := storeAdmin(t, c)
	s, err := kube.NewStore(admin, "fairlead", "marks")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				if err := mark(t, s, fmt.Sprintf("<%d.%d>", w, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	if err := c.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	r, err := s.Get(t.Context(), "marks")
	if err != nil {
		t.Fatal(err)
	}
	for w := range writers {
		for n := range each {
			if got := strings.Count(string(r.Value), fmt.Sprintf("<%d.%d>", w, n)); got != 1 {
				t.Errorf("mark %d of writer %d is there %d times", n, w, got)
			}
		}
	}
	asked, err := c.Requests(cluster.Filter{Resource: "configmaps", Namespace: "fairlead", User: cluster.AdminUser, Where: func(r *cluster.Request) bool {
		return (r.Verb == "create" || r.Verb == "update") && r.Code < 300
	}})
	if err != nil {
		t.Fatal(err)
	}
	// For each writer, one write may have been interrupted before it was
	// logged.
	if n := len(asked); n > writers*each || n < writers*each-writers {
		t.Errorf("%d writes took place, want %d", n, writers*each)
	}
}

// mark appends to the value, once.
func mark(t *testing.T, s *kube.Store, m string) error {
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; {
		r, err := s.Get(t.Context(), "marks")
		if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if strings.Contains(string(r.Value), m) {
			return nil // a write that seemed to fail has taken place
		}
		if _, err = s.Put(t.Context(), "marks", append(r.Value, m...), r.Revision); err == nil {
			return nil
		}
		if !errors.Is(err, fairlead.ErrConflict) {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return errors.New("the server does not come back")
}
