package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reporters simulates the operators of a release: each reports the newest
// version as soon as it is applied, unless it is held.
type reporters struct {
	u    *upgrade
	mu   sync.Mutex
	held map[string]bool // the operators that stay at the old version
	sick map[string]bool // the degraded operators
}

// report starts the simulation.
func (u *upgrade) report() *reporters {
	u.Helper()
	r := &reporters{u: u, held: map[string]bool{}, sick: map[string]bool{}}
	ctx, cancel := context.WithCancel(u.Context())
	var playing sync.WaitGroup
	u.Cleanup(playing.Wait)
	u.Cleanup(cancel)
	playing.Go(func() {
		for ctx.Err() == nil {
			r.play(ctx)
			time.Sleep(100 * time.Millisecond)
		}
	})
	return r
}

func (r *reporters) hold(name string, degraded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[name], r.sick[name] = true, degraded
}

// degrade makes an operator degraded or healthy, at its present version.
func (r *reporters) degrade(name string, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sick[name] = is
}

func (r *reporters) release(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, name)
	delete(r.sick, name)
}

// play updates all reports. Failures because of a missing server or a
// conflict are retried.
func (r *reporters) play(ctx context.Context) {
	version := oldVersion
	if v, err := r.u.cv(); err != nil {
		return
	} else if v.Status.Desired.Version != "" {
		version = v.Status.Desired.Version
	}
	var list unstructured.UnstructuredList
	list.SetAPIVersion("config.openshift.io/v1")
	list.SetKind("ClusterOperatorList")
	if r.u.admin.List(ctx, &list) != nil {
		return
	}
	for i := range list.Items {
		o := &list.Items[i]
		r.mu.Lock()
		degraded, held := r.sick[o.GetName()], r.held[o.GetName()]
		r.mu.Unlock()
		at := version
		if held {
			at = oldVersion
		}
		status := r.u.statusOf(o.GetName(), at, degraded)
		before, _ := json.Marshal(o.Object["status"])
		if after, _ := json.Marshal(status); string(before) != string(after) {
			o.Object["status"] = status
			_ = r.u.admin.Status().Update(ctx, o)
		}
	}
}

// statusOf returns the report of an operator at a version: for the operands
// that its manifest names.
func (u *upgrade) statusOf(name, version string, degraded bool) map[string]any {
	condition := func(kind, status string) any {
		return map[string]any{"type": kind, "status": status, "reason": "AsPlayed", "lastTransitionTime": "2026-01-01T00:00:00Z"}
	}
	is := "False"
	if degraded {
		is = "True"
	}
	var versions any
	for _, m := range u.tasks[version] {
		var o unstructured.Unstructured
		if m.ClusterOperator() && m.ID.Name == name && o.UnmarshalJSON(m.JSON) == nil {
			versions, _, _ = unstructured.NestedFieldNoCopy(o.Object, "status", "versions")
		}
	}
	return map[string]any{"versions": versions, "conditions": []any{condition("Available", "True"), condition("Progressing", "False"), condition("Degraded", is)}}
}

// changes contains the changes to the resources of a release as seen by the
// test's own watches: each change of content, not of status.
type changes struct {
	mu   sync.Mutex
	last map[payload.ID]string  // content
	at   map[payload.ID][]int64 // the resourceVersions of its changes
	max  int64                  // the highest resourceVersion
}

// newest returns the highest resourceVersion that was seen.
func (c *changes) newest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.max
}

// watchAll watches all kinds of both releases, from now on.
func (u *upgrade) watchAll() *changes {
	u.Helper()
	c := &changes{last: map[payload.ID]string{}, at: map[payload.ID][]int64{}}
	kinds := map[schema.GroupVersionKind]bool{}
	for _, m := range slices.Concat(u.tasks[oldVersion], u.tasks[newVersion]) {
		kinds[schema.FromAPIVersionAndKind(m.APIVersion, m.ID.Kind)] = true
	}
	ctx, cancel := context.WithCancel(u.Context())
	var watching sync.WaitGroup
	u.Cleanup(watching.Wait)
	u.Cleanup(cancel)
	for kind := range kinds {
		at := u.listed(ctx, kind, c, false)
		watching.Go(func() {
			for ctx.Err() == nil {
				at = u.follow(ctx, kind, c, at)
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	u.Logf("watching %d kinds", len(kinds))
	return c
}

// listed records the existing objects; as changes if they were listed before.
func (u *upgrade) listed(ctx context.Context, kind schema.GroupVersionKind, c *changes, again bool) string {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := u.admin.List(ctx, &list); err != nil {
		return ""
	}
	for i := range list.Items {
		c.note(&list.Items[i], again)
	}
	return list.GetResourceVersion()
}

// follow runs one watch until it ends. It returns where to continue.
func (u *upgrade) follow(ctx context.Context, kind schema.GroupVersionKind, c *changes, at string) string {
	if at == "" {
		return u.listed(ctx, kind, c, true)
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	events, err := u.admin.Watch(ctx, &list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: at}})
	if err != nil {
		return at // the server is stopped
	}
	defer events.Stop()
	for e := range events.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if e.Type == watch.Error || !ok {
			return "" // its history is gone
		}
		at = o.GetResourceVersion()
		if e.Type != watch.Deleted {
			c.note(o, true)
		}
	}
	return at
}

// note records the content of an object, and whether it has changed.
func (c *changes) note(o *unstructured.Unstructured, change bool) {
	kind := o.GroupVersionKind()
	id := payload.ID{Group: kind.Group, Kind: kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err) // unreachable: they are numbers since Kubernetes 1.35
	}
	content := o.DeepCopy()
	delete(content.Object, "status")
	notes := content.GetAnnotations()
	maps.DeleteFunc(notes, func(key, _ string) bool { return strings.HasPrefix(key, "deployment.kubernetes.io/") })
	content.SetAnnotations(notes)
	content.SetManagedFields(nil)
	content.SetResourceVersion("")
	content.SetGeneration(0)
	text, err := content.MarshalJSON()
	if err != nil {
		panic(err) // unreachable: it was decoded from JSON
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = max(c.max, version)
	if before, known := c.last[id]; change && (!known || before != string(text)) {
		c.at[id] = append(c.at[id], version)
	}
	c.last[id] = string(text)
}

// inOrder checks that changes were made runlevel by runlevel, by the server's
// count of all changes, and that nothing behind the held operators was changed
// before the last of them was released.
func (u *upgrade) inOrder(c *changes, held int64) {
	u.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	first, last := map[string]int64{}, map[string]int64{}
	gate := ""
	for _, m := range u.tasks[newVersion] {
		level := m.Name.Runlevel
		if m.ClusterOperator() && m.ID.Name == u.slow {
			gate = level
		}
		for _, at := range c.at[m.ID] {
			if first[level] == 0 || at < first[level] {
				first[level] = at
			}
			last[level] = max(last[level], at)
		}
	}
	levels := slices.Sorted(maps.Keys(first))
	if len(levels) < 4 {
		u.Errorf("changes at runlevels %v only", levels)
	}
	for i, level := range levels {
		u.Logf("runlevel %s: changes %d to %d", level, first[level], last[level])
		if i > 0 && first[level] < last[levels[i-1]] {
			u.Errorf("runlevel %s has begun at %d, and runlevel %s has ended at %d", level, first[level], levels[i-1], last[levels[i-1]])
		}
		if level > gate && first[level] <= held {
			u.Errorf("runlevel %s has begun at %d, and %s was held until %d", level, first[level], u.slow, held)
		}
	}
}

// onceEach checks that everything that differs between the releases was
// changed once, and nothing else.
func (u *upgrade) onceEach(c *changes) {
	u.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	before := map[payload.ID]string{}
	for _, m := range u.tasks[oldVersion] {
		before[m.ID] = string(m.JSON)
	}
	changed := 0
	for _, m := range u.tasks[newVersion] {
		old, there := before[m.ID]
		want := 1
		if m.Delete() || m.ClusterOperator() || there && (m.CreateOnly() || old == string(m.JSON)) {
			want = 0
		}
		if got := len(c.at[m.ID]); got != want {
			u.Errorf("%s has changed %d times, at %v, want %d", m.ID, got, c.at[m.ID], want)
		}
		changed += want
	}
	u.Logf("of %d resources of the release %d have changed, each once", len(u.tasks[newVersion]), changed)
}

// politely checks the server's audit log: manifests are applied with the right
// field manager and never by force, and no more often than outage and restart
// explain. It logs how many requests the update took.
func (u *upgrade) politely(since time.Time) {
	u.Helper()
	all := u.written(since)
	patches := map[string]int{}
	for _, r := range all {
		if r.Verb != "patch" || r.Resource == "events" {
			continue
		}
		if manager, force := r.FieldManager(); manager != clusterversion.FieldManager || force {
			u.Errorf("%s: field manager %q, force %v", r.URI, manager, force)
		}
		patches[fmt.Sprintf("%s %s/%s", r.Resource, r.Namespace, r.Name)]++
	}
	more := 0
	for what, n := range patches {
		if n > 1 {
			more++
			u.Logf("%s was applied %d times", what, n)
		}
	}
	const workers = 16 // patches under way when the manager is killed, and when the server is stopped
	if more > 2*workers {
		u.Errorf("%d resources were applied more than once", more)
	}
	u.Logf("the update took %d requests for %d manifests: %s", len(all), len(u.tasks[newVersion]), summary(all))
	u.Logf("of them %d of %s", len(u.requests(cluster.Filter{User: operator.User, Since: since, Resource: "configmaps", Namespace: operator.Namespace})), "the state")
	u.Logf("memory of the manager: %+v", u.manager.Memory())
}
