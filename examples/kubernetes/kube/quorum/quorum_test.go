package quorum_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	"github.com/fairlead/fairlead/lifecycle"
	engine "github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// fakeEtcd is a cluster of members behind one address, which answers like etcd's
// gateway: numbers as text, zero fields left out.
type fakeEtcd struct {
	*httptest.Server
	mu      sync.Mutex
	members []map[string]any // as listed
	down    map[string]bool  // by ID
	log     map[string]int   // how far the log of a member is, by ID; 100 by default
	alarm   map[string]string
	refuse  string   // the error that refuses changes
	asked   []string // the requested changes
}

func newEtcd(t *testing.T, voters int) *fakeEtcd {
	e := &fakeEtcd{down: map[string]bool{}, log: map[string]int{}, alarm: map[string]string{}}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	for i := range voters {
		e.add(fmt.Sprintf("https://10.0.0.%d:2380", i+1), fmt.Sprint("n", i+1), false)
	}
	return e
}

func (e *fakeEtcd) add(peer, name string, learner bool) {
	id := strconv.Itoa(1000 + len(e.members) + len(e.asked))
	m := map[string]any{"ID": id, "name": name, "peerURLs": []string{peer}, "clientURLs": []string{e.URL + "/" + id}}
	if learner {
		m["isLearner"] = true
	}
	e.members = append(e.members, m)
}

func (e *fakeEtcd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var body struct {
		ID           string
		PeerURLs     []string `json:"peerURLs"`
		IsLearner    bool     `json:"isLearner"`
		Linearizable bool     `json:"linearizable"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	say := func(code int, v any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	refused := func(message string) {
		say(http.StatusBadRequest, map[string]any{"error": message, "code": 9, "message": message})
	}
	at := slices.IndexFunc(e.members, func(m map[string]any) bool { return m["ID"] == body.ID })
	up := 0
	for _, m := range e.members {
		if m["isLearner"] == nil && !e.down[m["ID"].(string)] {
			up++
		}
	}
	switch path := r.URL.Path; {
	case path == "/v3/cluster/member/list":
		if body.Linearizable && up < 2 {
			say(http.StatusServiceUnavailable, map[string]any{"message": "etcdserver: request timed out"})
			return
		}
		say(http.StatusOK, map[string]any{"members": e.members})
	case strings.HasSuffix(path, "/v3/maintenance/status"):
		id := strings.Split(path, "/")[1]
		if e.down[id] {
			panic(http.ErrAbortHandler)
		}
		index := 100
		if n, is := e.log[id]; is {
			index = n
		}
		s := map[string]any{"leader": "1000", "raftIndex": strconv.Itoa(index)}
		if a := e.alarm[id]; a != "" {
			s["errors"] = []string{a}
		}
		say(http.StatusOK, s)
	case e.refuse != "":
		refused(e.refuse)
	case path == "/v3/cluster/member/add":
		e.add(body.PeerURLs[0], "", body.IsLearner)
		e.asked = append(e.asked, "add "+body.PeerURLs[0])
		say(http.StatusOK, map[string]any{})
	case at < 0:
		refused("etcdserver: member not found")
	case path == "/v3/cluster/member/promote":
		e.asked = append(e.asked, "promote "+body.ID)
		delete(e.members[at], "isLearner")
		say(http.StatusOK, map[string]any{})
	case path == "/v3/cluster/member/remove":
		e.asked = append(e.asked, "remove "+body.ID)
		e.members = slices.Delete(e.members, at, at+1)
		say(http.StatusOK, map[string]any{})
	default:
		http.NotFound(w, r)
	}
}

// with changes the etcd between two passes.
func (e *fakeEtcd) with(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// plane is a control plane with an engine.
type plane struct {
	*testing.T
	client.WithWatch
	etcd    *fakeEtcd
	backend *quorum.Backend
	runner  *engine.Runner
	clock   *fairlead.ManualClock
}

func newPlane(t *testing.T, nodes int, extra ...client.Object) *plane {
	objects := extra
	for i := range nodes {
		objects = append(objects, host(i+1), controlPlane(i+1), etcdPod(i+1, true))
	}
	p := &plane{T: t, etcd: newEtcd(t, 3), clock: &fairlead.ManualClock{}, WithWatch: fake.NewClientBuilder().WithObjects(objects...).Build()}
	p.clock.Set(time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC))
	p.backend = &quorum.Backend{
		Client: p, Etcd: &quorum.Etcd{Endpoints: []string{"http://127.0.0.1:1", p.etcd.URL}}, Desired: 3, Namespace: "fleet",
		Machines: labels.SelectorFromSet(labels.Set{"role": "master"}),
		Pods:     quorum.Pods{Namespace: "etcd", Selector: labels.SelectorFromSet(labels.Set{"app": "etcd"})},
		Guards:   quorum.Pods{Namespace: "etcd", Selector: labels.SelectorFromSet(labels.Set{"app": "guard"})},
	}
	runner, err := engine.NewRunner(p.backend, nil, &fairlead.RunnerOptions{Store: &fairlead.MemStore{}, Clock: p.clock})
	if err != nil {
		t.Fatal(err)
	}
	p.runner = runner
	return p
}

func host(i int) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}},
		Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "x"}, {Type: corev1.NodeInternalIP, Address: fmt.Sprint("10.0.0.", i)}}},
	}
}

func controlPlane(i int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{}, "status": map[string]any{"phase": "Running", "nodeRef": map[string]any{"name": fmt.Sprint("n", i)},
			"addresses": []any{map[string]any{"type": "InternalIP", "address": fmt.Sprint("10.0.0.", i)}}},
	}}
	u.SetGroupVersionKind(machines.Kind)
	u.SetNamespace("fleet")
	u.SetName(fmt.Sprint("m", i))
	u.SetLabels(map[string]string{"role": "master"})
	u.SetFinalizers([]string{lifecycle.Finalizer})
	return u
}

func etcdPod(i int, ready bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: fmt.Sprint("etcd-", i), Labels: map[string]string{"app": "etcd"}}, Spec: corev1.PodSpec{NodeName: fmt.Sprint("n", i)}}
	p.Status.Phase = corev1.PodRunning
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func (p *plane) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// passes makes passes, and returns the reasons for waiting at the end.
func (p *plane) passes() (reasons []string) {
	p.Helper()
	for range 8 {
		d, err := p.runner.Reconcile(p.Context(), "plane")
		p.must(err)
		p.clock.Advance(31 * time.Second)
		reasons = nil
		for _, b := range d.Blocked {
			reasons = append(reasons, b.Reason)
		}
	}
	return reasons
}

func (p *plane) hooks(i int) []lifecycle.Hook {
	p.Helper()
	w, err := p.backend.Observe(p.Context(), "plane")
	p.must(err)
	for _, m := range w.Machines {
		if m.Name == fmt.Sprint("m", i) {
			return m.Spec.LifecycleHooks.PreDrain
		}
	}
	return nil
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	guard := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "g", UID: "gu", Labels: map[string]string{"app": "guard"}}, Spec: corev1.PodSpec{NodeName: "n1"}}
	p := newPlane(t, 4, guard)
	p.backend.Facts = func(_ context.Context, w *engine.World) error {
		w.Busy, w.Endpoints = "a revision is rolled out", []string{"10.0.0.1"}
		return nil
	}
	n := host(1)
	n.Spec.Unschedulable = true
	p.must(p.Update(t.Context(), n))
	waits := etcdPod(4, false)
	p.must(p.Status().Update(t.Context(), waits))
	p.etcd.with(func() {
		p.etcd.add("https://[fd00::4]:2380", "n4", true)
		p.etcd.down["1001"], p.etcd.alarm["1002"] = true, "memberID:1002 alarm:CORRUPT"
		p.etcd.log["1003"] = 95
	})
	w, err := p.backend.Observe(t.Context(), "plane")
	p.must(err)
	without := *p.backend
	without.Machines = nil
	alone, err := without.Observe(t.Context(), "plane")
	p.must(err)
	silent := without
	silent.Etcd = &quorum.Etcd{Endpoints: []string{"http://127.0.0.1:1"}}
	unknown, err := silent.Observe(t.Context(), "plane")
	p.must(err)
	// The Runner sets Outcomes.
	if unset := worlds.Unset(w, alone, unknown); !slices.Equal(unset, []string{"Outcomes"}) {
		t.Errorf("unset fields: %q", unset)
	}
	var members []string
	for _, m := range w.Members {
		members = append(members, fmt.Sprintf("%s %s %v healthy=%v caughtUp=%v", m.ID, m.Name, m.Addresses, m.Healthy, m.CaughtUp))
	}
	want := []string{
		"3e8 n1 [10.0.0.1] healthy=true caughtUp=false", "3e9 n2 [10.0.0.2] healthy=false caughtUp=false",
		"3ea n3 [10.0.0.3] healthy=false caughtUp=false", "3eb n4 [fd00::4] healthy=true caughtUp=true",
	}
	if !slices.Equal(members, want) {
		t.Errorf("members %q", members)
	}
	if h := w.Hosts[3]; h.Node != "n4" || !h.Waiting || w.Hosts[0].Waiting || !slices.Equal(h.Addresses, []string{"10.0.0.4"}) {
		t.Errorf("hosts %+v", w.Hosts)
	}
	if g := w.Guards[0]; !g.Cordoned || g.UID != "gu" {
		t.Errorf("guards %+v", w.Guards)
	}
	p.etcd.with(func() { p.etcd.log["1003"] = 89 })
	if w, err := p.backend.Observe(t.Context(), "plane"); err != nil || w.Members[3].CaughtUp {
		t.Errorf("a learner that lags has caught up: %v", err)
	}
}

// TestReplace replaces a machine of the control plane: its member is removed when
// another one votes, and then the hook.
func TestReplace(t *testing.T) {
	p := newPlane(t, 3)
	if got := p.passes(); len(got) > 0 {
		t.Errorf("at rest: %v", got)
	}
	for i := 1; i <= 3; i++ {
		if !slices.Equal(p.hooks(i), []lifecycle.Hook{engine.Hook()}) {
			t.Fatalf("machine %d has hooks %v", i, p.hooks(i))
		}
	}
	p.must(p.Delete(t.Context(), controlPlane(1)))
	if got := p.passes(); !slices.Equal(got, []string{engine.ReasonReplacement}) || len(p.etcd.asked) > 0 {
		t.Errorf("no machine takes its place: %v, %v", got, p.etcd.asked)
	}
	for _, o := range []client.Object{host(4), controlPlane(4), etcdPod(4, false)} {
		p.must(p.Create(t.Context(), o))
	}
	p.etcd.with(func() { p.etcd.log["1003"] = 1 })
	if got := p.passes(); !slices.Contains(got, engine.ReasonLearnerBehind) {
		t.Errorf("the learner lags: %v", got)
	}
	p.etcd.with(func() { p.etcd.log["1003"] = 99 })
	if got := p.passes(); len(got) > 0 {
		t.Errorf("at the end: %v", got)
	}
	if want := []string{"add https://10.0.0.4:2380", "promote 1003", "remove 1000"}; !slices.Equal(p.etcd.asked, want) {
		t.Errorf("asked %q, want %q", p.etcd.asked, want)
	}
	if len(p.hooks(1)) > 0 || len(p.hooks(2)) != 1 {
		t.Errorf("hooks %v and %v", p.hooks(1), p.hooks(2))
	}
}

// TestLost loses the quorum: the members are still known, and nothing changes.
func TestLost(t *testing.T) {
	p := newPlane(t, 3)
	p.etcd.with(func() { p.etcd.down["1001"], p.etcd.down["1002"] = true, true })
	if got := p.passes(); !slices.Equal(got, []string{engine.ReasonQuorumLost}) || len(p.etcd.asked) > 0 {
		t.Errorf("waits for %v, asked %v", got, p.etcd.asked)
	}
	p.etcd.Close()
	w, err := p.backend.Observe(t.Context(), "plane")
	if err != nil || !strings.Contains(w.Unanswered, "etcd: ") || len(w.Machines) == 0 {
		t.Errorf("nobody answers: %v", err)
	}
}

// TestApplyRefuses makes changes at another revision than that of the decision,
// and changes that etcd refuses.
func TestApplyRefuses(t *testing.T) {
	p := newPlane(t, 3)
	w, err := p.backend.Observe(t.Context(), "plane")
	p.must(err)
	refused := func(want string, code int, a engine.Action) {
		t.Helper()
		var r *fairlead.RefusedError
		if err := p.backend.Apply(t.Context(), "plane", a); !errors.As(err, &r) || r.Code != code || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %v, want %d %q", a, err, code, want)
		}
	}
	refused("have changed since", 409, engine.RemoveMember{ID: "3e8", Revision: "old"})
	p.etcd.with(func() { p.etcd.refuse = "etcdserver: unhealthy cluster" })
	refused("etcdserver: unhealthy cluster", 400, engine.RemoveMember{ID: "3e8", Revision: w.Revision})
	if len(p.etcd.asked) > 0 {
		t.Errorf("asked %v", p.etcd.asked)
	}
	if err := p.backend.Apply(t.Context(), "plane", engine.Promote{ID: "no number", Revision: w.Revision}); err == nil {
		t.Error("an ID that is none")
	}
	// A hook of another owner stays; a machine that is being deleted gets no
	// hook.
	other := lifecycle.Hook{Name: engine.HookName, Owner: "somebody"}
	p.must(p.backend.Apply(t.Context(), "plane", engine.SetHook{Machine: "fleet/m1", Hook: other}))
	p.must(p.backend.Apply(t.Context(), "plane", engine.RemoveHook{Machine: "fleet/m1", Hook: engine.Hook()}))
	if got := p.hooks(1); !slices.Equal(got, []lifecycle.Hook{other}) {
		t.Errorf("hooks %v", got)
	}
	p.must(p.Delete(t.Context(), controlPlane(2)))
	p.must(p.backend.Apply(t.Context(), "plane", engine.SetHook{Machine: "fleet/m2", Hook: other}))
	p.must(p.backend.Apply(t.Context(), "plane", engine.SetHook{Machine: "fleet/gone", Hook: other}))
	if got := p.hooks(2); len(got) > 0 {
		t.Errorf("hooks %v on a machine that is being deleted", got)
	}
	guard := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "g", UID: types.UID("gu")}}
	p.must(p.Create(t.Context(), guard))
	p.must(p.backend.Apply(t.Context(), "plane", engine.DeleteGuard{Namespace: "etcd", Name: "g", UID: "gu"}))
	p.must(p.backend.Apply(t.Context(), "plane", engine.DeleteGuard{Namespace: "etcd", Name: "g", UID: "gu"}))
}
