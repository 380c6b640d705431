package taints

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// EditOptions say how [Edit] changes taints. The zero value, and a nil pointer,
// mean an idempotent edit.
type EditOptions struct {
	// Kubectl makes the edit do what "kubectl taint" and "oc adm taint" do: setting
	// an existing taint, or removing one that does not exist, is an error, and new
	// taints come before existing ones.
	Kubectl bool
	// Overwrite lets such an edit set existing taints; it is the flag
	// --overwrite.
	Overwrite bool
	// Now becomes TimeAdded of NoExecute taints that are new or get another
	// value. Zero leaves the field empty, as the commands do.
	Now time.Time
}

// Edited is the result of an edit of a node's taints.
type Edited struct {
	Taints  []fairlead.Taint `json:"taints"`            // all of them; nil if none is left
	Verb    string           `json:"verb"`              // tainted, untainted, modified, or unchanged (never with Kubectl)
	Added   []fairlead.Taint `json:"added,omitempty"`   // those that are new
	Changed []fairlead.Taint `json:"changed,omitempty"` // those with a new value
	Removed []fairlead.Taint `json:"removed,omitempty"` // those that were removed
}

// An EditError says why a change cannot be made to a node.
type EditError struct {
	Node    string // the node's name
	Change  Change // the first change that cannot be made
	Problem string // why not
	Fix     string // what to do
}

// Error implements error.
func (e *EditError) Error() string {
	return "node/" + e.Node + ": " + e.Change.String() + ": " + e.Problem + "; " + e.Fix
}

// Edit applies all changes to the taints of a node, or none. The node itself is not
// changed.
//
//  1. A change sets a taint, which replaces that of its key and effect, or removes
//     the taints that it names.
//  2. By default taints keep their places, new ones come last, and repeating an
//     edit changes nothing. TimeAdded stays while the value does.
//  3. With Kubectl the result is that of the command: the set taints come first,
//     without TimeAdded.
//
// The error is a [*ChangesError] if the changes conflict, or an [*EditError], which
// is returned only with Kubectl.
func Edit(n *fairlead.Node, changes []Change, o *EditOptions) (*Edited, error) {
	if o == nil {
		o = &EditOptions{}
	}
	if err := checkChanges(changes); err != nil {
		return nil, err
	}
	before := n.Spec.Taints
	var after []fairlead.Taint
	if o.Kubectl {
		if err := o.refuse(n, changes); err != nil {
			return nil, err
		}
		after = reorganised(before, changes)
	} else {
		after = settled(before, changes)
	}
	after = slices.DeleteFunc(after, func(t fairlead.Taint) bool { return removedBy(changes, t) })
	if len(after) == 0 {
		after = nil
	}
	e := &Edited{Taints: after}
	e.Added, e.Removed, e.Changed = Diff(before, after)
	e.Verb = e.verb(changes, o)
	e.stamp(o.Now)
	return e, nil
}

// refuse returns the error that the command reports.
func (o *EditOptions) refuse(n *fairlead.Node, changes []Change) error {
	for _, c := range changes {
		there := slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return c.Taint().Same(t) || c.removes(t) })
		switch {
		case !c.Remove && there && !o.Overwrite:
			return &EditError{n.Name, c, "the node has a taint of this key and effect", "use Overwrite (--overwrite), or an edit that is not Kubectl's"}
		case c.Remove && !there:
			return &EditError{n.Name, c, "the node has no such taint", "drop the change, or use an edit that is not Kubectl's"}
		}
	}
	return nil
}

// removes reports whether the change removes a taint.
func (c Change) removes(t fairlead.Taint) bool {
	return c.Remove && c.Key == t.Key && (c.Effect == "" || c.Effect == t.Effect)
}

func removedBy(changes []Change, t fairlead.Taint) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.removes(t) })
}

// reorganised returns the taints that are set, followed by the others.
func reorganised(before []fairlead.Taint, changes []Change) []fairlead.Taint {
	var after []fairlead.Taint
	for _, c := range changes {
		if !c.Remove {
			after = append(after, c.Taint())
		}
	}
	set := len(after)
	for _, t := range before {
		if Find(after[:set], t.Key, t.Effect) == nil {
			after = append(after, t)
		}
	}
	return after
}

// settled returns the taints, with those that are set in their old places.
func settled(before []fairlead.Taint, changes []Change) []fairlead.Taint {
	after := slices.Clone(before)
	for _, c := range changes {
		switch there := Find(after, c.Key, c.Effect); {
		case c.Remove || there != nil && there.Value == c.Value:
		case there != nil:
			*there = c.Taint()
		default:
			after = append(after, c.Taint())
		}
	}
	return after
}

// verb returns the word for what was done. The command calls every edit with
// Overwrite a modification.
func (e *Edited) verb(changes []Change, o *EditOptions) string {
	added := len(e.Added) > 0
	removed := len(e.Removed) > 0
	if o.Kubectl {
		removed = slices.ContainsFunc(changes, func(c Change) bool { return c.Remove })
	}
	switch {
	case o.Kubectl && o.Overwrite, added && removed, !o.Kubectl && len(e.Changed) > 0:
		return "modified"
	case added:
		return "tainted"
	case removed || o.Kubectl:
		return "untainted"
	}
	return "unchanged"
}

// stamp sets TimeAdded of the new taints.
func (e *Edited) stamp(now time.Time) {
	if now.IsZero() {
		return
	}
	for _, list := range [][]fairlead.Taint{e.Added, e.Changed} {
		for i := range list {
			if list[i].Effect == fairlead.NoExecute {
				list[i].TimeAdded = &now
				Find(e.Taints, list[i].Key, list[i].Effect).TimeAdded = &now
			}
		}
	}
}

// Find returns the taint of that key and effect, or nil. It points into taints.
func Find(taints []fairlead.Taint, key string, effect fairlead.TaintEffect) *fairlead.Taint {
	for i := range taints {
		if taints[i].Key == key && taints[i].Effect == effect {
			return &taints[i]
		}
	}
	return nil
}

// Diff returns the taints of after that are new, those of before that were removed,
// and those of after whose value changed, each in the order of its list. TimeAdded
// is not compared.
func Diff(before, after []fairlead.Taint) (added, removed, changed []fairlead.Taint) {
	for _, t := range after {
		switch old := Find(before, t.Key, t.Effect); {
		case old == nil:
			added = append(added, t)
		case old.Value != t.Value:
			changed = append(changed, t)
		}
	}
	for _, t := range before {
		if Find(after, t.Key, t.Effect) == nil {
			removed = append(removed, t)
		}
	}
	return added, removed, changed
}
