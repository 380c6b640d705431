package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
)

// Kind is a kind of objects: what they are called, and where their metadata is.
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

// entry is an object as it is kept: a value that is never changed, but replaced.
type entry struct {
	value any
	meta  fairlead.ObjectMeta
}

// event is a change of an object; value is nil when it went.
type event struct {
	kind, name string
	entry      *entry
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

// put keeps an object under a new revision.
func put[T any](c *Cluster, k Kind[T], v T) T {
	c.revision++
	m := k.Meta(&v)
	m.ResourceVersion = strconv.Itoa(c.revision)
	e := &entry{v, *m}
	c.table(k.Name)[m.String()] = e
	c.log = append(c.log, event{k.Name, m.String(), e})
	return v
}

// drop removes an object.
func (c *Cluster) drop(kind, name string) {
	if _, ok := c.table(kind)[name]; ok {
		delete(c.table(kind), name)
		c.log = append(c.log, event{kind, name, nil})
	}
}

// Create makes an object: with a UID and a time of creation if it has none, and a
// generation. The error is a *fairlead.RefusedError with code 409 if there is one of
// its name.
func Create[T any](c *Cluster, k Kind[T], v T) (T, error) {
	m := k.Meta(&v)
	if m.Name == "" && m.GenerateName != "" {
		c.serial++
		m.Name = m.GenerateName + strconv.Itoa(c.serial)
	}
	if _, there := c.table(k.Name)[m.String()]; there {
		return v, refused(409, "AlreadyExists", "%s %s is there already", k.Name, m)
	}
	c.serial++
	m.UID = cmp.Or(m.UID, fmt.Sprintf("uid-%d", c.serial))
	m.Generation = max(m.Generation, 1)
	if m.CreationTimestamp.IsZero() {
		m.CreationTimestamp = c.now()
	}
	return put(c, k, v), nil
}

// Get returns an object by "namespace/name", or by its name where there are no
// namespaces, and false if there is none.
func Get[T any](c *Cluster, k Kind[T], name string) (T, bool) {
	e := c.table(k.Name)[name]
	if e == nil {
		var none T
		return none, false
	}
	return e.value.(T), true
}

// List returns the objects of a kind, by namespace and name.
func List[T any](c *Cluster, k Kind[T]) []T { return list(c.table(k.Name), k) }

func list[T any](table map[string]*entry, _ Kind[T]) []T {
	var all []T
	for _, name := range slices.Sorted(maps.Keys(table)) {
		all = append(all, table[name].value.(T))
	}
	return all
}

// Update writes an object that was read before. The error is a
// *fairlead.RefusedError: with code 404 if it is gone or another one has its name,
// with code 409 if it has changed since it was read. An object that is being
// deleted goes when its last finalizer does.
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
	v = put(c, k, v)
	if m.DeletionTimestamp != nil && m.DeletionGracePeriodSeconds == nil && len(m.Finalizers) == 0 {
		c.drop(k.Name, m.String())
	}
	return v, nil
}

// Delete asks for the deletion of an object, of the one with a UID if that is not
// empty. It goes at once, or with its last finalizer. A pod on a node is given its
// grace first: nil means its own.
func Delete[T any](c *Cluster, k Kind[T], name, uid string, grace *int64) error {
	old := c.table(k.Name)[name]
	if old == nil || uid != "" && uid != old.meta.UID {
		return refused(404, "NotFound", "there is no %s %s with UID %q", k.Name, name, uid)
	}
	v := old.value.(T)
	m := k.Meta(&v)
	if p, ok := any(&v).(*fairlead.Pod); ok && p.Spec.NodeName != "" && !p.Finished() {
		c.end(p, grace)
		return nil
	}
	if len(m.Finalizers) == 0 {
		c.drop(k.Name, name)
		return nil
	}
	if m.DeletionTimestamp == nil {
		now := c.now()
		m.DeletionTimestamp = &now
		put(c, k, v)
	}
	return nil
}

// end begins the grace of a pod, or shortens it.
func (c *Cluster) end(p *fairlead.Pod, grace *int64) {
	seconds := int64(30)
	if p.Spec.TerminationGracePeriodSeconds != nil {
		seconds = max(*p.Spec.TerminationGracePeriodSeconds, 0)
	}
	if grace != nil && *grace >= 0 {
		seconds = *grace
	}
	at := c.now().Add(time.Duration(seconds) * time.Second)
	if p.DeletionTimestamp != nil && !at.Before(*p.DeletionTimestamp) {
		return
	}
	q := *p
	q.DeletionTimestamp, q.DeletionGracePeriodSeconds = &at, &seconds
	put(c, Pods(), q)
}

func refused(code int, reason, format string, args ...any) error {
	return &fairlead.RefusedError{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
