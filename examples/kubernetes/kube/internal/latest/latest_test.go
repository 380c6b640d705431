package latest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// server is a server with a cache that can lag.
type server struct {
	*testing.T
	client.WithWatch               // as used by others
	cache            client.Reader // what the cache contains
	own              *latest.Client
	reads            int
	during           func() // called once, while the server answers a read
	fail             error  // the error of writes by own, which are carried out anyway
}

func newServer(t *testing.T, kinds ...schema.GroupVersionKind) *server {
	t.Helper()
	s := &server{T: t, WithWatch: fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).Build()}
	s.cache = s.WithWatch
	answered := func() {
		s.reads++
		if f := s.during; f != nil {
			s.during = nil
			f()
		}
	}
	counting := interceptor.NewClient(s.WithWatch, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			defer answered()
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			defer answered()
			return c.List(ctx, list, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return errors.Join(c.Update(ctx, o, opts...), s.fail)
		},
	})
	s.own = latest.New(counting, caching{s}, kinds)
	return s
}

// caching is a cache of a server.
type caching struct{ s *server }

func (c caching) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.s.cache.Get(ctx, key, o, opts...)
}

func (c caching) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.s.cache.List(ctx, list, opts...)
}

// lag stops updates of the cache.
func (s *server) lag() {
	s.Helper()
	var pods corev1.PodList
	var maps corev1.ConfigMapList
	for _, list := range []client.ObjectList{&pods, &maps} {
		if err := s.WithWatch.List(s.Context(), list); err != nil {
			s.Fatal(err)
		}
	}
	s.cache = fake.NewClientBuilder().WithLists(&pods, &maps).Build()
}

// catchUp brings the cache up to date.
func (s *server) catchUp() { s.cache = s.WithWatch }

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string]string{"value": value}}
}

func (s *server) create(o client.Object) {
	s.Helper()
	if err := s.Create(s.Context(), o); err != nil {
		s.Fatal(err)
	}
}

func (s *server) update(by client.Client, name, value string) error {
	s.Helper()
	o := configMap(name, value)
	if err := by.Update(s.Context(), o); err != nil {
		return err
	}
	return nil
}

// sees checks what is returned, and how many reads of the server that takes.
func (s *server) sees(what string, reads int, want ...string) {
	s.Helper()
	s.reads = 0
	all, err := latest.List(s.Context(), s.own, configMaps, &corev1.ConfigMapList{}, client.InNamespace("shop"))
	if err != nil {
		s.Fatal(err)
	}
	var got []string
	for i := range all.Items {
		m := &all.Items[i]
		got = append(got, m.Name+"="+m.Data["value"])
		one, there, err := latest.Get(s.Context(), s.own, configMaps, client.ObjectKeyFromObject(m), &corev1.ConfigMap{})
		if err != nil || !there || one.Data["value"] != m.Data["value"] {
			s.Errorf("%s: %s by its name: %v, %t, %v", what, m.Name, one.Data, there, err)
		}
	}
	if _, there, err := latest.Get(s.Context(), s.own, configMaps, client.ObjectKey{Namespace: "shop", Name: "absent"}, &corev1.ConfigMap{}); there || err != nil {
		s.Errorf("%s: absent: %t, %v", what, there, err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
	if s.reads != reads {
		s.Errorf("%s: %d reads, want %d", what, s.reads, reads)
	}
}

// Only changed objects are read again.
func TestReadOnce(t *testing.T) {
	s := newServer(t, configMaps)
	s.create(configMap("a", "1"))
	s.create(configMap("b", "1"))
	s.sees("at first", 4, "a=1", "b=1")
	s.sees("then", 0, "a=1", "b=1")
	if err := s.update(s.WithWatch, "b", "2"); err != nil {
		t.Fatal(err)
	}
	s.sees("one has changed", 2, "a=1", "b=2")
	if err := s.Delete(t.Context(), configMap("b", "")); err != nil {
		t.Fatal(err)
	}
	s.sees("one is gone", 1, "a=1")
	s.create(configMap("b", "3"))
	s.sees("it was made again", 2, "a=1", "b=3")
	s.own.Forget("shop")
	s.sees("forgotten", 4, "a=1", "b=3")
}

// Results do not go back in time with a cache that lags, and are read again as
// soon as the cache changes.
func TestNeverBack(t *testing.T) {
	s := newServer(t, configMaps)
	s.create(configMap("a", "1"))
	s.lag()
	if err := s.update(s.WithWatch, "a", "2"); err != nil {
		t.Fatal(err)
	}
	s.sees("the cache lags at first", 3, "a=2")
	s.sees("the cache has not moved", 0, "a=2")
	if err := s.update(s.WithWatch, "a", "3"); err != nil {
		t.Fatal(err)
	}
	s.sees("others write, and the cache does not know", 0, "a=2")
	s.lag() // at version 3
	if err := s.update(s.WithWatch, "a", "4"); err != nil {
		t.Fatal(err)
	}
	s.sees("it has moved, and lags", 2, "a=4")
	s.catchUp()
	s.sees("it has caught up", 0, "a=4")

	s.lag()
	s.create(configMap("b", "1"))
	s.own.Forget("shop")
	s.sees("there is one that the cache has not heard of", 4, "a=4", "b=1")
	if err := s.Delete(t.Context(), configMap("b", "")); err != nil {
		t.Fatal(err)
	}
	s.catchUp() // the cache has both changes
	s.sees("it is gone", 1, "a=4")
}

// A cache without reported changes has not changed.
func TestListen(t *testing.T) {
	s := newServer(t, configMaps)
	hear := s.own.Listen()
	s.lag()
	s.create(configMap("a", "1"))
	s.sees("at first", 3, "a=1")
	s.sees("nothing was heard", 0, "a=1")
	if err := s.Delete(t.Context(), configMap("a", "")); err != nil {
		t.Fatal(err)
	}
	hear(configMaps.GroupKind()) // it was created, and is gone
	s.sees("it is gone", 1)
}

// Writes through the Client are seen at once, no matter how far the cache is
// behind and whatever the answer was.
func TestOwnWrites(t *testing.T) {
	s := newServer(t, configMaps)
	s.create(configMap("a", "1"))
	s.create(configMap("b", "1"))
	s.sees("at first", 4, "a=1", "b=1")
	s.lag()
	if err := s.update(s.own, "a", "2"); err != nil {
		t.Fatal(err)
	}
	s.sees("written", 2, "a=2", "b=1")
	s.fail = errors.New("the answer got lost")
	if err := s.update(s.own, "a", "3"); err == nil {
		t.Fatal("no error")
	}
	s.sees("written, and the answer got lost", 2, "a=3", "b=1")
	if err := s.own.Delete(t.Context(), configMap("b", "")); err != nil {
		t.Fatal(err)
	}
	s.sees("deleted", 1, "a=3")
	s.fail = nil
	s.own.Forget("shop")
	s.during = func() {
		if err := s.update(s.own, "a", "4"); err != nil {
			t.Error(err)
		}
	}
	_, _ = latest.List(t.Context(), s.own, configMaps, &corev1.ConfigMapList{}, client.InNamespace("shop"))
	s.sees("written while it was read", 3, "a=4")
}

// A status write does not affect lists without the object.
func TestStatus(t *testing.T) {
	pods := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	s := newServer(t, pods)
	mine := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mine", Labels: map[string]string{"mine": ""}}}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}}
	s.create(mine)
	s.create(other)
	s.lag()
	look := func(what string, reads int, phase corev1.PodPhase) {
		t.Helper()
		s.reads = 0
		all, err := latest.List(t.Context(), s.own, pods, &corev1.PodList{}, client.HasLabels{"mine"})
		if err != nil || len(all.Items) != 1 || all.Items[0].Status.Phase != phase || s.reads != reads {
			t.Errorf("%s: %v, %v, by %d reads", what, all.Items, err, s.reads)
		}
	}
	look("at first", 1, "")
	other.Status.Phase = corev1.PodRunning
	if err := s.own.Status().Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	look("that of another one", 0, "")
	mine.Status.Phase = corev1.PodRunning
	if err := s.own.Status().Update(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	look("its own", 1, corev1.PodRunning)
}

// Objects of kinds that are not cached are read each time.
func TestOtherKinds(t *testing.T) {
	s := newServer(t)
	s.create(configMap("a", "1"))
	s.lag()
	for range 2 {
		s.sees("each time", 3, "a=1")
	}
	if !s.own.Cached(t.Context(), configMaps, client.ObjectKey{Namespace: "shop", Name: "absent"}) {
		t.Error("the cache reports on a kind that it does not have")
	}
}
