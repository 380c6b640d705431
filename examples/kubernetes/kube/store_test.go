package kube_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func newStore(t *testing.T, c client.WithWatch) *kube.Store {
	t.Helper()
	s, err := kube.NewStore(c, "fleet", "lifecycle")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An end-to-end test runs the same check on a real server.
func TestCheckStore(t *testing.T) {
	server, c := newServer(t)
	err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return kube.NewStore(c, "fleet", "lifecycle") })
	if err != nil {
		t.Fatal(err)
	}
	if len(server.maps) != 0 {
		t.Errorf("%d ConfigMaps are left", len(server.maps))
	}
}

func TestStoresShareANamespace(t *testing.T) {
	_, c := newServer(t)
	one := newStore(t, c)
	two, err := kube.NewStore(c, "fleet", "taints")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Put(t.Context(), "Same.key_", []byte("1"), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Put(t.Context(), "Same.key_", []byte("2"), ""); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*kube.Store]string{one: "1", two: "2"} {
		for r, err := range s.List(t.Context(), "") {
			if err != nil || string(r.Value) != want || r.Key != "Same.key_" {
				t.Errorf("%s: %q %q, %v", s, r.Key, r.Value, err)
			}
		}
	}
}

// The server assigns no new resourceVersion to an update that changes
// nothing, so without the annotation two writers of the same value would both
// succeed.
func TestEqualValuesConflict(t *testing.T) {
	_, c := newServer(t)
	s := newStore(t, c)
	first, err := s.Put(t.Context(), "a", []byte("v"), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Put(t.Context(), "a", []byte("v"), first)
	if err != nil || second == first {
		t.Fatalf("%q after %q, %v", second, first, err)
	}
}

func TestForeignConfigMap(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "mine", Labels: map[string]string{"fairlead.io/store": "lifecycle"},
	}}).Build()
	for _, err := range newStore(t, c).List(t.Context(), "") {
		if err == nil || !strings.Contains(err.Error(), "ConfigMap fleet/mine") || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("List: %v", err)
		}
	}
}

func TestNewStoreRefuses(t *testing.T) {
	for _, c := range []struct{ namespace, name, want string }{
		{"Fleet", "a", `namespace "Fleet"`},
		{"", "a", `namespace ""`},
		{"fleet", "", `name ""`},
		{"fleet", "a b", `name "a b"`},
	} {
		if _, err := kube.NewStore(nil, c.namespace, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.namespace, c.name, err)
		}
	}
}

// A watch that the server ends continues; one whose history is gone starts
// over and reports what was deleted meanwhile, and nothing twice.
func TestWatchGoesOn(t *testing.T) {
	for _, history := range []bool{false, true} {
		server, c := newServer(t)
		s := newStore(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		at := map[string]fairlead.Revision{}
		put := func(key string) {
			var err error
			if at[key], err = s.Put(ctx, key, []byte(key), at[key]); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range []string{"a.1", "a.2", "a.3", "a.4", "b.1"} {
			put(key)
		}
		server.mu.Lock()
		server.expire = true // the second page of the first list
		server.mu.Unlock()
		var got []string
		for r, err := range s.Watch(ctx, "a.") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Key+"="+string(r.Value))
			if len(got) == 4 {
				if err := s.Delete(ctx, "a.3", at["a.3"]); err != nil {
					t.Fatal(err)
				}
				put("b.1")
				server.forget(history)
				put("a.5")
			}
			if len(got) == 6 {
				break
			}
		}
		want := "a.1=a.1 a.2=a.2 a.3=a.3 a.4=a.4 a.3= a.5=a.5"
		if history {
			want = "a.1=a.1 a.2=a.2 a.3=a.3 a.4=a.4 a.5=a.5 a.3="
		}
		if strings.Join(got, " ") != want {
			t.Errorf("history gone %v: %q, want %q", history, got, want)
		}
	}
}

// A watch continues from the last change that it reported, and not from its
// list.
func TestWatchTellsNothingAgain(t *testing.T) {
	server, c := newServer(t)
	s := newStore(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var at fairlead.Revision
	put := func(value string) {
		var err error
		if at, err = s.Put(ctx, "a", []byte(value), at); err != nil {
			t.Fatal(err)
		}
	}
	put("1")
	var got []string
	for r, err := range s.Watch(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(r.Value))
		if len(got) == 4 {
			break
		}
		if len(got) == 3 {
			server.forget(false)
		}
		put(strconv.Itoa(len(got) + 1))
	}
	if strings.Join(got, "") != "1234" {
		t.Errorf("%q", got)
	}
}

// A server that forgets history faster than pages are read is asked for
// everything at once, and not again and again.
func TestForgetfulServer(t *testing.T) {
	server, c := newServer(t)
	s := newStore(t, c)
	for _, key := range []string{"a.1", "a.2", "a.3", "a.4"} {
		if _, err := s.Put(t.Context(), key, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	server.mu.Lock()
	server.expire, server.forgets = true, true
	server.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	n := 0
	for _, err := range s.Watch(ctx, "a.") {
		if n++; n <= 4 && err != nil || n == 5 && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	server.mu.Lock()
	server.vanish = true
	server.mu.Unlock()
	var keys []string
	for r, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Error(err)
		}
		keys = append(keys, r.Key)
	}
	if !slices.Equal(keys, []string{"a.2", "a.3", "a.4"}) {
		t.Errorf("%q; want what is there in the end", keys)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if n != 5 || server.watches < 2 || server.watches > 11 {
		t.Errorf("%d yields, %d watches", n, server.watches)
	}
}

func TestWatchEndsWithTheServer(t *testing.T) {
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("connection refused")
		},
	}).Build()
	n := 0
	for _, err := range newStore(t, c).Watch(t.Context(), "a.") {
		n++
		if err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d yields", n)
	}
}
