package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Kind is a kind of objects: its name, and how to get its objects' metadata.
type Kind[T any] struct {
	Name string                        // as in Pod
	Meta func(*T) *fairlead.ObjectMeta // of an object
}

// Pods returns the kind of pods.
func Pods() Kind[fairlead.Pod] {
	return Kind[fairlead.Pod]{"Pod", func(p *fairlead.Pod) *fairlead.ObjectMeta { return &p.ObjectMeta }}
}

// Nodes returns the kind of nodes.
func Nodes() Kind[fairlead.Node] {
	return Kind[fairlead.Node]{"Node", func(n *fairlead.Node) *fairlead.ObjectMeta { return &n.ObjectMeta }}
}

// Budgets returns the kind of disruption budgets.
func Budgets() Kind[fairlead.PodDisruptionBudget] {
	return Kind[fairlead.PodDisruptionBudget]{"PodDisruptionBudget", func(b *fairlead.PodDisruptionBudget) *fairlead.ObjectMeta { return &b.ObjectMeta }}
}

// entry is a stored object: a pointer to a value that is replaced, never changed.
type entry struct {
	value any
	meta  *fairlead.ObjectMeta
}

// table returns the objects of a kind, by "namespace/name".
func (c *Cluster) table(kind string) map[string]*entry {
	t := c.tables[kind]
	if t == nil {
		t = map[string]*entry{}
		c.tables[kind] = t
	}
	return t
}

// Put stores an object unchanged, with a new revision, in place of the one with its
// name, and returns it. It must not be changed after that.
func Put[T any](c *Cluster, k Kind[T], v *T) *T {
	c.revision++
	m := k.Meta(v)
	m.ResourceVersion = strconv.Itoa(c.revision)
	name := m.String()
	e := &entry{v, m}
	old := c.table(k.Name)[name]
	c.table(k.Name)[name] = e
	c.tell(k.Name, name, old, e)
	return v
}

// Drop removes an object at once, regardless of its finalizers.
func Drop[T any](c *Cluster, k Kind[T], name string) {
	if old, ok := c.table(k.Name)[name]; ok {
		delete(c.table(k.Name), name)
		c.tell(k.Name, name, old, nil)
	}
}

// tell reports a change to everything that follows it.
func (c *Cluster) tell(kind, name string, old, is *entry) {
	if c.watched {
		c.log = append(c.log, Event{kind, name})
	}
	switch kind {
	case "Pod":
		c.podChanged(name, pointer[fairlead.Pod](old), pointer[fairlead.Pod](is))
	case "Node":
		c.nodeChanged(name, pointer[fairlead.Node](old), pointer[fairlead.Node](is))
	case "PodDisruptionBudget":
		c.budgetChanged(pointer[fairlead.PodDisruptionBudget](old), pointer[fairlead.PodDisruptionBudget](is))
	}
}

func pointer[T any](e *entry) *T {
	if e == nil {
		return nil
	}
	return e.value.(*T)
}

// Create creates an object, with a UID and a creation time if it has none, and a
// generation. The error is a *fairlead.RefusedError with code 409 if there is one
// with its name.
func Create[T any](c *Cluster, k Kind[T], v T) (T, error) {
	m := k.Meta(&v)
	if m.Name == "" && m.GenerateName != "" {
		m.Name = m.GenerateName + strconv.Itoa(c.Serial())
	}
	if _, there := c.table(k.Name)[m.String()]; there {
		return v, refused(409, "AlreadyExists", "%s %s already exists", k.Name, m)
	}
	if m.UID == "" {
		m.UID = c.UID(k.Name)
	}
	m.Generation = max(m.Generation, 1)
	if m.CreationTimestamp.IsZero() {
		m.CreationTimestamp = c.Now()
	}
	return *Put(c, k, &v), nil
}

// UID returns a new UID for an object of a kind.
func (c *Cluster) UID(kind string) string {
	return strings.ToLower(kind) + "-" + strconv.Itoa(c.Serial())
}

// Ref returns an object by "namespace/name", or by the name of a cluster-scoped
// object, and nil if there is none. It must not be changed.
func Ref[T any](c *Cluster, k Kind[T], name string) *T { return pointer[T](c.table(k.Name)[name]) }

// Get returns a copy of an object, and false if there is none.
func Get[T any](c *Cluster, k Kind[T], name string) (v T, ok bool) {
	if p := Ref(c, k, name); p != nil {
		return *p, true
	}
	return v, false
}

// List returns copies of the objects of a kind, by namespace and name.
func List[T any](c *Cluster, k Kind[T]) []T { return list[T](c.table(k.Name)) }

// Refs returns the objects of a kind, by namespace and name. They must not be changed.
func Refs[T any](c *Cluster, k Kind[T]) []*T {
	t := c.table(k.Name)
	all := make([]*T, 0, len(t))
	for _, name := range names(t) {
		all = append(all, t[name].value.(*T))
	}
	return all
}

func list[T any](table map[string]*entry) []T {
	var all []T
	for _, name := range names(table) {
		all = append(all, *table[name].value.(*T))
	}
	return all
}

// names returns the names of a table in order.
func names(table map[string]*entry) []string {
	all := slices.AppendSeq(make([]string, 0, len(table)), maps.Keys(table))
	slices.Sort(all)
	return all
}

// PodsOn returns the pods of a node, by namespace and name; "" means those without a
// node. They must not be changed.
func (c *Cluster) PodsOn(node string) []*fairlead.Pod {
	on := c.onNode[node]
	if len(on) == 0 {
		return nil
	}
	all := slices.AppendSeq(make([]*fairlead.Pod, 0, len(on)), maps.Values(on))
	slices.SortFunc(all, func(a, b *fairlead.Pod) int {
		if a.Namespace != b.Namespace {
			return strings.Compare(a.Namespace, b.Namespace)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// PodsIn returns the pods of a namespace, in any order. They must not be changed.
func (c *Cluster) PodsIn(namespace string) []*fairlead.Pod {
	in := c.inSpace[namespace]
	return slices.AppendSeq(make([]*fairlead.Pod, 0, len(in)), maps.Values(in))
}

// PodOf returns the pod with a UID, nil if there is none. It must not be changed.
func (c *Cluster) PodOf(uid string) *fairlead.Pod { return c.byUID[uid] }

// Update writes an object that was read before. The error is a
// *fairlead.RefusedError: with code 404 if it is gone or another one has its name,
// with code 409 if it has changed since it was read. An object that is being deleted
// is removed with its last finalizer.
func Update[T any](c *Cluster, k Kind[T], v T) (T, error) {
	m := k.Meta(&v)
	old := c.table(k.Name)[m.String()]
	switch {
	case old == nil || m.UID != "" && m.UID != old.meta.UID:
		return v, refused(404, "NotFound", "there is no %s %s with UID %s", k.Name, m, m.UID)
	case m.ResourceVersion != "" && m.ResourceVersion != old.meta.ResourceVersion:
		return v, refused(409, "Conflict", "%s %s has changed since it was read", k.Name, m)
	}
	m.UID, m.CreationTimestamp = old.meta.UID, old.meta.CreationTimestamp
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = old.meta.DeletionTimestamp, old.meta.DeletionGracePeriodSeconds
	Put(c, k, &v)
	if m.DeletionTimestamp != nil && m.DeletionGracePeriodSeconds == nil && len(m.Finalizers) == 0 {
		Drop(c, k, m.String())
	}
	return v, nil
}

// Delete requests the deletion of an object, of the one with a UID if that is not
// empty. It is removed at once, or with its last finalizer. A pod on a node gets its
// grace period first: nil means its own.
func Delete[T any](c *Cluster, k Kind[T], name, uid string, grace *int64) error {
	old := c.table(k.Name)[name]
	if old == nil || uid != "" && uid != old.meta.UID {
		return refused(404, "NotFound", "there is no %s %s with UID %q", k.Name, name, uid)
	}
	if p, ok := old.value.(*fairlead.Pod); ok && p.Spec.NodeName != "" && !p.Finished() {
		seconds := Grace(p, grace)
		c.End(p, c.Now().Add(time.Duration(seconds)*time.Second), seconds, nil)
		return nil
	}
	if len(old.meta.Finalizers) == 0 {
		Drop(c, k, name)
		return nil
	}
	if old.meta.DeletionTimestamp == nil {
		v := *old.value.(*T)
		now := c.Now()
		k.Meta(&v).DeletionTimestamp = &now
		Put(c, k, &v)
	}
	return nil
}

// Grace returns how many seconds a pod may take to end if the request says grace; nil
// means its own grace period.
func Grace(p *fairlead.Pod, grace *int64) int64 {
	switch own := p.Spec.TerminationGracePeriodSeconds; {
	case grace != nil && *grace >= 0:
		return *grace
	case own != nil:
		return max(*own, 0)
	}
	return 30
}

// End starts the grace period of a pod, or shortens it, and reports whether it did.
// If change is not nil, it also changes the pod.
func (c *Cluster) End(p *fairlead.Pod, at time.Time, seconds int64, change func(*fairlead.Pod)) bool {
	if p.DeletionTimestamp != nil && !at.Before(*p.DeletionTimestamp) {
		return false
	}
	q := *p
	q.DeletionTimestamp, q.DeletionGracePeriodSeconds = &at, &seconds
	if change != nil {
		change(&q)
	}
	Put(c, Pods(), &q)
	return true
}

func refused(code int, reason, format string, args ...any) error {
	return &fairlead.RefusedError{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
