package drain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// testCluster is a small cluster in virtual time: one node is drained, and evicted
// pods come back elsewhere, not ready for a while.
type testCluster struct {
	now, wake  time.Time
	node       Node
	stopped    bool
	pods       []Pod
	budgets    []PodDisruptionBudget
	allowed    map[string]int // fixed numbers of budgets
	replicas   map[string]int
	namespaces []ObjectMeta
	sets       []ObjectMeta
	setsKnown  bool
	labels     map[string]string
	hidden     bool
	failing    map[string]fairlead.Outcome
	failures   []fairlead.Outcome
	evictions  int // calls
	replaced   int
}

func newCluster() *testCluster {
	c := &testCluster{now: drainStart, allowed: map[string]int{}, replicas: map[string]int{}, failing: map[string]fairlead.Outcome{}}
	c.node.Name, c.node.UID = "n", "node"
	return c
}

func (c *testCluster) world() View {
	w := View{
		Node: &c.node, Stopped: c.stopped, Namespaces: c.namespaces, DaemonSets: c.sets, DaemonSetsListed: c.setsKnown,
		Outcomes: slices.Clone(c.failures),
	}
	w.Pods = append(w.Pods, c.pods...)
	if !c.hidden {
		w.Budgets = slices.Clone(c.budgets)
	}
	return w
}

// line reads one line of a cluster.
func (c *testCluster) line(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	opts := map[string]string{}
	var rest []string
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			opts[k] = v
		} else {
			rest = append(rest, w)
		}
	}
	has := func(w string) bool { return slices.Contains(rest, w) }
	switch words[0] {
	case "node":
		c.node.Name, c.node.Spec.Unschedulable, c.stopped = rest[0], has("cordoned"), has("stopped")
		c.node.Status.Conditions = nil
		if r := opts["ready"]; r != "" {
			c.node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionStatus(r)}}
		}
	case "pod":
		c.pod(rest[0], opts, has)
	case "gone":
		c.pods = slices.DeleteFunc(c.pods, func(p Pod) bool { return p.Name == rest[0] })
	case "budget":
		return c.budget(rest[0], opts, has)
	case "replicas":
		c.replicas[rest[0]], _ = strconv.Atoi(rest[1])
	case "namespace":
		c.namespaces = append(c.namespaces, ObjectMeta{Name: rest[0], Labels: pairs(opts["labels"])})
	case "daemonsets":
		c.setsKnown = true
		for _, name := range rest {
			c.sets = append(c.sets, ObjectMeta{Namespace: "d", Name: name})
		}
	case "machine":
		c.labels = pairs(strings.Join(rest, ","))
	default:
		return fmt.Errorf("there is no %s", words[0])
	}
	return nil
}

func pairs(text string) map[string]string {
	labels := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if k, v, ok := strings.Cut(pair, ":"); ok {
			labels[k] = v
		}
	}
	return labels
}

func (c *testCluster) pod(name string, opts map[string]string, has func(string) bool) {
	p := Pod{ObjectMeta: ObjectMeta{Namespace: "d", Name: name, UID: "uid-" + name, Labels: pairs(opts["labels"])}}
	if ns := opts["ns"]; ns != "" {
		p.Namespace = ns
	}
	if uid := opts["uid"]; uid != "" {
		p.UID = strings.Trim(uid, "-")
	}
	p.Spec.NodeName = c.node.Name
	if n := opts["node"]; n != "" {
		p.Spec.NodeName = n
	}
	yes := true
	for key, kind := range map[string]string{"rs": "ReplicaSet", "ds": "DaemonSet", "job": "Job", "sts": "StatefulSet"} {
		if owner := opts[key]; owner != "" {
			api := "apps/v1"
			if kind == "Job" {
				api = "batch/v1"
			}
			p.OwnerReferences = []OwnerReference{{APIVersion: api, Kind: kind, Name: owner, UID: "uid-" + owner, Controller: &yes}}
		}
	}
	p.Status.Phase = fairlead.PodRunning
	if phase := opts["phase"]; phase != "" {
		p.Status.Phase = fairlead.PodPhase(phase)
	}
	if !has("notready") && p.Status.Phase == fairlead.PodRunning {
		p.Status.Conditions = readyCondition()
	}
	if has("emptydir") {
		p.Spec.Volumes = []Volume{{Name: "scratch", EmptyDir: new(struct{})}}
	}
	if has("mirror") {
		p.Annotations = map[string]string{MirrorAnnotation: "hash"}
	}
	if g, err := strconv.ParseInt(opts["grace"], 10, 64); err == nil {
		p.Spec.TerminationGracePeriodSeconds = &g
	}
	if d, err := time.ParseDuration(opts["deleting"]); err == nil {
		at := c.now.Add(d)
		p.DeletionTimestamp = &at
		p.Status.Reason = "replaced" // its controller did so when its deletion began
	}
	if f := opts["finalizer"]; f != "" {
		p.Finalizers = []string{f}
	}
	c.pods = slices.DeleteFunc(c.pods, func(q Pod) bool { return q.Name == p.Name && q.Namespace == p.Namespace })
	c.pods = append(c.pods, p)
}

func (c *testCluster) budget(name string, opts map[string]string, has func(string) bool) error {
	b := PodDisruptionBudget{ObjectMeta: ObjectMeta{Namespace: "d", Name: name}}
	if ns := opts["ns"]; ns != "" {
		b.Namespace = ns
	}
	amount := func(text string) *IntOrString {
		if text == "" {
			return nil
		}
		if n, err := strconv.Atoi(text); err == nil {
			return &IntOrString{Int: n}
		}
		return &IntOrString{Text: text}
	}
	b.Spec.MinAvailable, b.Spec.MaxUnavailable = amount(opts["min"]), amount(opts["max"])
	b.Spec.Selector = &LabelSelector{}
	if app := opts["app"]; app != "" {
		b.Spec.Selector.MatchLabels = map[string]string{"app": app}
	}
	if has("always") {
		b.Spec.UnhealthyPodEvictionPolicy = fairlead.AlwaysAllow
	}
	if b.Generation = 1; has("stale") {
		b.Generation = 2
	}
	delete(c.allowed, name)
	if n, err := strconv.Atoi(opts["allowed"]); err == nil {
		c.allowed[name] = n
	}
	c.budgets = slices.DeleteFunc(c.budgets, func(o PodDisruptionBudget) bool { return o.Name == name })
	if has("gone") {
		return nil
	}
	c.budgets = append(c.budgets, b)
	return b.Check()
}

func readyCondition() []fairlead.Condition {
	return []fairlead.Condition{{Type: "Ready", Status: "True"}}
}

// control computes the numbers of budgets, as the disruption controller does.
func (c *testCluster) control() {
	var pods []*Pod
	for i := range c.pods {
		pods = append(pods, &c.pods[i])
	}
	scale := func(_ string, o *OwnerReference) (int, bool) { n, ok := c.replicas[o.Name]; return n, ok }
	for i := range c.budgets {
		b := &c.budgets[i]
		s, err := b.Measure(pods, scale, c.now)
		if err != nil {
			panic(err)
		}
		if n, fixed := c.allowed[b.Name]; fixed {
			s.DisruptionsAllowed = n
		}
		s.ObservedGeneration = 1
		b.Status = s
	}
}

// apply carries an action out as an API server does.
func (c *testCluster) apply(a Action) {
	switch a := a.(type) {
	case Cordon:
		if a.UID == c.node.UID && !c.fails(a, "cordon/"+a.Node) {
			c.node.Spec.Unschedulable, c.node.Annotations = true, map[string]string{CordonAnnotation: a.Mark}
		}
	case Evict:
		c.evictions++
		if p := c.find(a.UID); p != nil && !c.fails(a, "evict/"+a.Name) {
			verdict, b := c.judgeNow(p)
			switch verdict {
			case object.EvictionAllowed, object.EvictionUnguarded:
				c.remove(p, a.GracePeriodSeconds)
			case object.EvictionRefused:
				c.failed(a, 429, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy))
			default:
				c.failed(a, 500, verdict.String())
			}
		}
	case DeletePod:
		if p := c.find(a.UID); p != nil && !c.fails(a, "delete/"+a.Name) {
			c.remove(p, a.GracePeriodSeconds)
		}
	}
	c.control()
}

func (c *testCluster) find(uid string) *Pod {
	for i := range c.pods {
		if c.pods[i].UID == uid {
			return &c.pods[i]
		}
	}
	return nil
}

func (c *testCluster) fails(a Action, key string) bool {
	f, is := c.failing[key]
	if is {
		c.failed(a, f.Code, f.Message)
	}
	return is
}

func (c *testCluster) failed(a Action, code int, message string) {
	c.failures = slices.DeleteFunc(c.failures, func(f fairlead.Outcome) bool { return f.Key == a.Key() })
	c.failures = append(c.failures, fairlead.Outcome{Failed: true, Key: a.Key(), Code: code, Message: message, At: c.now})
}

// remove begins the deletion of a pod.
func (c *testCluster) remove(p *Pod, grace *int64) {
	if p.DeletionTimestamp != nil {
		return
	}
	s := int64(30)
	if p.Spec.TerminationGracePeriodSeconds != nil {
		s = *p.Spec.TerminationGracePeriodSeconds
	}
	if grace != nil {
		s = *grace
	}
	at := c.now.Add(time.Duration(s) * time.Second)
	p.DeletionTimestamp = &at
}

// next returns when something happens next.
func (c *testCluster) next() time.Time {
	next := c.wake
	for i := range c.pods {
		p := &c.pods[i]
		for _, t := range []*time.Time{p.DeletionTimestamp, p.Status.StartTime} {
			if t != nil && t.After(c.now) && (next.IsZero() || t.Before(next)) {
				next = *t
			}
		}
	}
	return next
}

// to lets the time pass: pods end, replacements begin to serve.
func (c *testCluster) to(t time.Time) {
	c.now = t
	var stay []Pod
	for _, p := range c.pods {
		dead := p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(t) && len(p.Finalizers) == 0 &&
			(p.Spec.NodeName != c.node.Name || !Unreachable(&c.node))
		if !dead {
			if p.Status.StartTime != nil && !p.Status.StartTime.After(t) {
				p.Status.StartTime, p.Status.Conditions = nil, readyCondition()
			}
			stay = append(stay, p)
			continue
		}
		if o := p.ControllerOf(); o != nil && o.Kind != "Job" && o.Kind != "DaemonSet" && !p.Finished() && p.Status.Reason != "replaced" {
			c.replaced++
			q := p
			q.Name = fmt.Sprintf("%s-r%d", p.Name, c.replaced)
			if o.Kind == "StatefulSet" {
				q.Name = p.Name
			}
			q.UID = fmt.Sprintf("uid-r%d", c.replaced)
			q.Spec.NodeName, q.DeletionTimestamp, q.Status.Conditions = "other", nil, nil
			ready := t.Add(20 * time.Second)
			q.Status.StartTime = &ready
			stay = append(stay, q)
		}
	}
	c.pods = stay
	c.control()
}
