package snapshot

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

// List is what is known of one kind of objects.
type List[T any] struct {
	Items []T   // by namespace, then by name
	Refs  []Ref // of each item, at the same index
	Scope Scope // what was looked at
}

// Ref says which object an item is, and where it was read.
type Ref struct {
	APIVersion string            // as it says; of an item of a list, that of the list if it has none
	Kind       string            // as it says, or the kind of the list
	Namespace  string            // empty for objects without a namespace
	Name       string            // unique in its namespace
	Where      fairlead.Position // its first line; for a running cluster the file is the request
	Odd        []string          // the paths of fields that are unknown because their values have an unexpected shape
	version    string            // resourceVersion
	uid        string
}

// String returns KIND NAMESPACE/NAME.
func (r *Ref) String() string { return r.Kind + " " + key(r.Namespace, r.Name) }

// Group returns the API group; empty for the core group.
func (r *Ref) Group() string {
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

func (r *Ref) compare(namespace, name string) int {
	return cmp.Or(strings.Compare(r.Namespace, namespace), strings.Compare(r.Name, name))
}

// Presence says whether an object exists.
type Presence string

// The presences.
const (
	Present Presence = "Present" // it is in the list
	Absent  Presence = "Absent"  // it was looked for, and there is none
	Unknown Presence = "Unknown" // nobody looked, or looking failed
)

// Get returns an object by its name, or nil; is says what that means. Of several objects
// with the name, of different API groups, it is the first.
func (l *List[T]) Get(namespace, name string) (object *T, is Presence) {
	if i := l.Index(namespace, name); i >= 0 {
		return &l.Items[i], Present
	}
	if l.Scope.Has(namespace, name) {
		return nil, Absent
	}
	return nil, Unknown
}

// Index returns the index of the first object with a name, or -1.
func (l *List[T]) Index(namespace, name string) int {
	i, found := slices.BinarySearchFunc(l.Refs, struct{}{}, func(r Ref, _ struct{}) int { return r.compare(namespace, name) })
	if !found {
		return -1
	}
	return i
}

// In returns the objects of a namespace, by name. The slice is a part of Items.
func (l *List[T]) In(namespace string) []T {
	from, _ := slices.BinarySearchFunc(l.Refs, namespace, func(r Ref, n string) int { return strings.Compare(r.Namespace, n) })
	to := from
	for to < len(l.Refs) && l.Refs[to].Namespace == namespace {
		to++
	}
	return l.Items[from:to:to]
}

// Known returns the items, which are not nil if anything of the kind was looked at, and nil
// otherwise: the form in which the engines distinguish none from unknown. Of a list that is known in
// part it returns that part: whoever uses it as all must ask [Snapshot.Partly] what is missing.
func (l *List[T]) Known() []T {
	switch {
	case !l.Scope.Looked():
		return nil
	case l.Items == nil:
		return []T{}
	}
	return l.Items
}

// table is a List of any type, as the Reader fills it.
type table interface {
	scope() *Scope
	refs() []Ref
	grow() any    // adds an item to fill, a pointer
	undo()        // removes the item that was added last
	keep(Ref)     // names the item that was added last
	move(at int)  // moves the last item over an earlier one
	sort()        // restores the order
	len() int     // counts the items
	at(i int) any // a pointer to an item
	item() reflect.Type
}

func (l *List[T]) scope() *Scope { return &l.Scope }
func (l *List[T]) refs() []Ref   { return l.Refs }
func (l *List[T]) len() int      { return len(l.Items) }
func (l *List[T]) at(i int) any  { return &l.Items[i] }
func (l *List[T]) keep(r Ref)    { l.Refs = append(l.Refs, r) }
func (l *List[T]) undo()         { l.Items = l.Items[:len(l.Items)-1] }

func (l *List[T]) item() reflect.Type { return reflect.TypeFor[T]() }

func (l *List[T]) grow() any {
	var zero T
	l.Items = append(l.Items, zero)
	return &l.Items[len(l.Items)-1]
}

func (l *List[T]) move(at int) {
	last := len(l.Items) - 1
	l.Items[at], l.Refs[at] = l.Items[last], l.Refs[last]
	l.Items, l.Refs = l.Items[:last], l.Refs[:last]
}

func (l *List[T]) sort() {
	order := make([]int, len(l.Refs))
	for i := range order {
		order[i] = i
	}
	compare := func(a, b int) int {
		return cmp.Or(l.Refs[a].compare(l.Refs[b].Namespace, l.Refs[b].Name), strings.Compare(l.Refs[a].APIVersion, l.Refs[b].APIVersion))
	}
	if slices.IsSortedFunc(order, compare) {
		return
	}
	slices.SortStableFunc(order, compare)
	items, refs := make([]T, len(order)), make([]Ref, len(order))
	for to, from := range order {
		items[to], refs[to] = l.Items[from], l.Refs[from]
	}
	l.Items, l.Refs = items, refs
}

// newer compares the resource versions of one object, which are numbers of any length.
func newer(a, b string) bool {
	if _, err := strconv.ParseUint(a, 10, 64); err != nil {
		return false
	}
	if _, err := strconv.ParseUint(b, 10, 64); err != nil {
		return true
	}
	return len(a) > len(b) || len(a) == len(b) && a > b
}
