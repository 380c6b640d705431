package cvo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/cluster"
)

// MemBackend is clusters in memory, for tests and simulations. They behave like real
// ones: releases take time to retrieve, operators take time to reach the version that
// was applied for them, Deployments and DaemonSets take time to roll out. Applied
// manifests are kept by their content, so that applying one again changes nothing. Its
// methods may be called from several goroutines.
type MemBackend struct {
	clock fairlead.Clock

	// Cluster is the cluster that this is a view of: Deployments are pods on its nodes,
	// and have rolled out when these are ready. Operators follow the pods of the
	// Deployments of their component: they reach a version when these have rolled out,
	// are not available while none is ready, and are degraded when some are missing for
	// ten minutes. Its Clock is used. Set it before the first call. Nil means a cluster
	// of its own. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once     sync.Once
	all      *cluster.Cluster
	clusters map[string]*memCluster
	releases map[string]memRelease

	// Operators is how long operators take to reach a version, and Rollouts how long
	// Deployments and DaemonSets take to roll out, by name, from when their manifest is
	// applied. Without an entry they take no time. The maps may be changed between
	// calls.
	Operators, Rollouts map[string]time.Duration
}

type memRelease struct {
	payload  *payload.Payload
	verified bool
	takes    time.Duration
}

// memCluster is one cluster.
type memCluster struct {
	version   ClusterVersion
	revision  int // of version
	own       Release
	fetched   map[string]memFetch
	resources map[payload.ID]memResource
	operators map[string]*memOperator
	writes    map[payload.ID]int
	show      func(*World)
}

type memFetch struct {
	try   int
	force bool
	ready time.Time
	here  bool
}

type memResource struct {
	content   string
	component string
	ready     time.Time // when it has rolled out
}

// memOperator is an operator that is updating to versions.
type memOperator struct {
	have, want []Operand
	at         time.Time // when it reaches them
	degraded   string    // why it is degraded; empty if it is not
	down       string    // why it is not available; empty if it is
	component  string    // whose Deployments are its own
	short      time.Time // since when pods are missing; zero while none is
	conditions []Condition
}

// degradedAfter is how long pods of an operator may be missing until it is degraded.
const degradedAfter = 10 * time.Minute

// NewMemBackend returns a backend without clusters. A nil clock is the system's.
func NewMemBackend(clock fairlead.Clock) *MemBackend {
	if clock == nil {
		clock = fairlead.SystemClock{}
	}
	return &MemBackend{clock: clock, clusters: map[string]*memCluster{}, releases: map[string]memRelease{}, Operators: map[string]time.Duration{}, Rollouts: map[string]time.Duration{}}
}

// lock takes the lock and advances the cluster to the present.
func (b *MemBackend) lock() {
	b.once.Do(func() { b.all = cluster.Of(b.Cluster, b.clock, &cluster.Options{Still: true}) })
	b.all.Lock()
	b.all.Run()
}

// SetRelease says what a release image contains, whether its signature is valid, and how
// long it takes to retrieve. A nil payload is an image that does not exist.
func (b *MemBackend) SetRelease(image string, p *payload.Payload, verified bool, takes time.Duration) {
	b.lock()
	defer b.all.Unlock()
	b.releases[image] = memRelease{p, verified, takes}
}

// SetCluster creates a cluster, or changes its spec. own is the release that the engine
// of the cluster runs from.
func (b *MemBackend) SetCluster(name string, spec Spec, own Release) {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	if c == nil {
		c = &memCluster{fetched: map[string]memFetch{}, resources: map[payload.ID]memResource{}, operators: map[string]*memOperator{}, writes: map[payload.ID]int{}}
		c.version.Name = "version"
		b.clusters[name] = c
	}
	c.version.Generation++
	c.version.Spec, c.own = spec, own
	c.changed()
}

// Ask requests, as the administrator of a cluster, the release of a version, whose image
// was given to SetRelease.
func (b *MemBackend) Ask(name, version string) error {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	if c == nil {
		return Refuse(ClassNotFound, fmt.Errorf("there is no cluster %q", name))
	}
	for _, image := range slices.Sorted(maps.Keys(b.releases)) {
		if p := b.releases[image].payload; p != nil && p.Release.Version == version {
			if old := c.version.Spec.DesiredUpdate; old == nil || old.Version != version || old.Image != image {
				c.version.Generation++
				c.version.Spec.DesiredUpdate = &Update{Version: version, Image: image}
				c.changed()
			}
			return nil
		}
	}
	return Refuse(ClassNotFound, fmt.Errorf("no image of release %s is known", version))
}

// SetStatus changes the status of a cluster's version, such as its available updates.
func (b *MemBackend) SetStatus(name string, change func(*Status)) {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	change(&c.version.Status)
	c.changed()
}

// changed gives the ClusterVersion another revision.
func (c *memCluster) changed() {
	c.revision++
	c.version.ResourceVersion = strconv.Itoa(c.revision)
}

// Show lets show add to what is observed of a cluster from now on: the updates that a
// service offers, alerts, gates and anything else that the backend does not know. Nil
// ends that. It must not call the backend's methods.
func (b *MemBackend) Show(name string, show func(*World)) {
	b.lock()
	defer b.all.Unlock()
	b.clusters[name].show = show
}

// Degrade makes an operator report that it is degraded or, with an empty message, that it
// no longer is.
func (b *MemBackend) Degrade(name, operator, message string) {
	b.lock()
	defer b.all.Unlock()
	if o := b.clusters[name].operators[operator]; o != nil {
		o.degraded = message
	}
}

// Interrupt makes an operator report that it is not available or, with an empty message,
// that it is available again. It keeps updating to its next version.
func (b *MemBackend) Interrupt(name, operator, message string) {
	b.lock()
	defer b.all.Unlock()
	if o := b.clusters[name].operators[operator]; o != nil {
		o.down = message
	}
}

// Finish makes an operator reach its next version now.
func (b *MemBackend) Finish(name, operator string) {
	b.lock()
	defer b.all.Unlock()
	if o := b.clusters[name].operators[operator]; o != nil {
		o.have, o.at = o.want, b.all.Now()
	}
}

// Version returns the ClusterVersion of a cluster.
func (b *MemBackend) Version(name string) ClusterVersion {
	b.lock()
	defer b.all.Unlock()
	return b.clusters[name].version
}

// Writes returns how often resources were changed, by identity. Applying an unchanged
// manifest does not count.
func (b *MemBackend) Writes(name string) map[payload.ID]int {
	b.lock()
	defer b.all.Unlock()
	return maps.Clone(b.clusters[name].writes)
}

// Has reports whether a resource exists.
func (b *MemBackend) Has(name string, id payload.ID) bool {
	b.lock()
	defer b.all.Unlock()
	_, ok := b.clusters[name].resources[id]
	return ok
}

// Observe implements [Backend].
func (b *MemBackend) Observe(_ context.Context, name string) (*World, error) {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	if c == nil {
		return &World{}, nil
	}
	now := b.all.Now()
	version := c.version
	w := &World{Cluster: &version, Own: c.own}
	for _, image := range slices.Sorted(maps.Keys(c.fetched)) {
		if f := c.fetched[image]; f.here || !now.Before(f.ready) {
			f.here = true // and stays so, even if the clock is set back
			c.fetched[image] = f
			w.Retrieved = append(w.Retrieved, b.fetched(image, f))
		}
	}
	missing := b.missingPods(c)
	for _, operator := range slices.Sorted(maps.Keys(c.operators)) {
		o := c.operators[operator]
		pods := missing[o.component]
		o.follow(pods.some, now)
		w.Operators = append(w.Operators, o.report(operator, now, !pods.all))
	}
	for id, r := range c.resources {
		if now.Before(r.ready) || b.starting(id) {
			w.Workloads = append(w.Workloads, Workload{ID: id, Waiting: "its pods are not ready"})
		}
	}
	slices.SortFunc(w.Workloads, func(x, y Workload) int { return strings.Compare(x.ID.String(), y.ID.String()) })
	if c.show != nil {
		c.show(w)
	}
	return w, nil
}

// Next returns when something changes in a cluster by itself: an image is retrieved, a
// workload has rolled out, an operator has reached its version. It is zero if nothing
// will.
func (b *MemBackend) Next(name string) time.Time {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	if c == nil {
		return time.Time{}
	}
	var next time.Time
	now := b.all.Now()
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, f := range c.fetched {
		at(f.ready)
	}
	for _, o := range c.operators {
		at(o.at)
		if !o.short.IsZero() {
			at(o.short.Add(degradedAfter))
		}
	}
	for _, r := range c.resources {
		at(r.ready)
	}
	at(b.all.Next())
	return next
}

// starting reports whether pods of a Deployment are not ready.
func (b *MemBackend) starting(id payload.ID) bool {
	if b.Cluster == nil || id.Kind != "Deployment" {
		return false
	}
	ready, wanted := b.all.Ready(id.Namespace, id.Name)
	return ready < wanted
}

// roll makes the pods of a Deployment run on the cluster's nodes.
func (b *MemBackend) roll(m *payload.Manifest) {
	if b.Cluster == nil || m.ID.Kind != "Deployment" {
		return
	}
	var is struct {
		Spec struct {
			Replicas *int `json:"replicas"`
			Template struct {
				Metadata ObjectMeta       `json:"metadata"`
				Spec     fairlead.PodSpec `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(m.JSON, &is) // missing fields mean the defaults
	one := 1
	b.all.SetWorkload(cluster.Workload{
		Namespace: m.ID.Namespace, Name: m.ID.Name, Replicas: *cmp.Or(is.Spec.Replicas, &one),
		Labels: is.Spec.Template.Metadata.Labels, Template: is.Spec.Template.Spec,
	})
}

// fetched is the result of retrieving an image.
func (b *MemBackend) fetched(image string, f memFetch) Retrieved {
	out := Retrieved{Image: image, Try: f.try}
	r := b.releases[image]
	if r.payload == nil {
		out.Error = "there is no such image"
		return out
	}
	out.Verified = r.verified
	if !r.verified {
		out.VerifyError = fmt.Sprintf("no signature for %s was found", image)
	}
	if r.verified || f.force {
		out.Payload = r.payload
	}
	return out
}

// memMissing is what Deployments of a component lack.
type memMissing struct {
	some bool // one of them does not have all its pods
	all  bool // one of them has no pod that is ready
}

// missingPods returns, by component, what its Deployments lack.
func (b *MemBackend) missingPods(c *memCluster) map[string]memMissing {
	if b.Cluster == nil {
		return nil
	}
	all := make(map[string]memMissing)
	for id, r := range c.resources {
		if b.starting(id) {
			m := all[r.component]
			m.some, m.all = true, m.all || b.all.Serving(id.Namespace, id.Name) == 0
			all[r.component] = m
		}
	}
	return all
}

// follow moves an operator to its versions when it is time and its Deployments have
// rolled out. It stays there even if the clock is set back.
func (o *memOperator) follow(short bool, now time.Time) {
	switch {
	case !short:
		o.short = time.Time{}
		if !now.Before(o.at) {
			o.have = o.want
		}
	case o.short.IsZero():
		o.short = now
	}
	o.short = fairlead.Past(o.short, now)
}

// report is what an operator reports. A changed condition gets the time of the
// observation.
func (o *memOperator) report(name string, now time.Time, serving bool) ClusterOperator {
	c := ClusterOperator{ObjectMeta: ObjectMeta{Name: name}}
	progressing := False
	if !slices.Equal(o.have, o.want) || !o.short.IsZero() {
		progressing = True
	}
	c.Status.Versions = o.have
	degraded := Condition{Type: "Degraded", Status: False}
	switch {
	case o.degraded != "":
		degraded = Condition{Type: "Degraded", Status: True, Reason: "Trouble", Message: o.degraded}
	case !o.short.IsZero() && !now.Before(o.short.Add(degradedAfter)):
		degraded = Condition{Type: "Degraded", Status: True, Reason: "PodsMissing", Message: "pods have been missing since " + o.short.Format(time.RFC3339)}
	}
	available := Condition{Type: "Available", Status: True}
	switch {
	case o.down != "":
		available = Condition{Type: "Available", Status: False, Reason: "Outage", Message: o.down}
	case !serving && len(o.have) > 0: // it has been there before
		available = Condition{Type: "Available", Status: False, Reason: "NoPods", Message: "none of its pods is ready"}
	}
	for _, x := range []Condition{available, {Type: "Progressing", Status: progressing}, degraded} {
		x.LastTransitionTime = now.UTC().Truncate(time.Second)
		o.conditions = fairlead.SetCondition(o.conditions, x)
	}
	c.Status.Conditions = slices.Clone(o.conditions)
	return c
}

// Apply implements [Backend].
func (b *MemBackend) Apply(_ context.Context, name string, action Action) error {
	b.lock()
	defer b.all.Unlock()
	c := b.clusters[name]
	if c == nil {
		return Refuse(ClassNotFound, fmt.Errorf("there is no cluster %q", name))
	}
	now := b.all.Now()
	switch a := action.(type) {
	case Retrieve:
		r := b.releases[a.Release.Image]
		if f, ok := c.fetched[a.Release.Image]; !ok || f.try < a.Try {
			c.fetched[a.Release.Image] = memFetch{try: a.Try, force: a.Force, ready: now.Add(r.takes)}
		}
	case Apply:
		c.apply(a.Manifest, b, now)
	case Delete:
		if _, ok := c.resources[a.Manifest.ID]; ok {
			delete(c.resources, a.Manifest.ID)
			b.all.RemoveWorkload(a.Manifest.ID.Namespace, a.Manifest.ID.Name, "")
			c.writes[a.Manifest.ID]++
		}
	case WriteStatus:
		if is := c.version.ResourceVersion; a.Revision != "" && a.Revision != is {
			return Refuse(ClassConflict, fmt.Errorf("the ClusterVersion is at revision %s, and the status was made for %s", is, a.Revision))
		}
		if !reflect.DeepEqual(c.version.Status, a.Status) {
			c.version.Status = a.Status
			c.changed()
		}
	}
	return nil
}

// apply applies a manifest to the cluster.
func (c *memCluster) apply(m *payload.Manifest, b *MemBackend, now time.Time) {
	old, there := c.resources[m.ID]
	if there && (m.CreateOnly() || old.content == string(m.JSON)) {
		return
	}
	ready := now
	if m.ID.Kind == "Deployment" || m.ID.Kind == "DaemonSet" {
		ready = now.Add(b.Rollouts[m.ID.Name])
	}
	c.resources[m.ID] = memResource{string(m.JSON), m.Name.Component, ready}
	c.writes[m.ID]++
	b.roll(m)
	if !m.ClusterOperator() {
		return
	}
	o := c.operators[m.ID.Name]
	if o == nil {
		o = &memOperator{}
		c.operators[m.ID.Name] = o
	}
	o.component = m.Name.Component
	o.follow(b.missingPods(c)[o.component].some, now)
	o.want, o.at = wanted(m), now.Add(b.Operators[m.ID.Name])
}
