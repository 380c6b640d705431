package payload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// ChangeKind says what happens to a resource from one release to the next.
type ChangeKind string

// What may happen to a resource.
const (
	Added     ChangeKind = "added"     // it is new
	Changed   ChangeKind = "changed"   // its manifest differs
	Moved     ChangeKind = "moved"     // its manifest is the same, at another place in the order
	Deleted   ChangeKind = "deleted"   // the new release requests its deletion
	LeftOut   ChangeKind = "left-out"  // the new release has it, but not for this cluster: it stays as it is
	Abandoned ChangeKind = "abandoned" // the new release does not have it: it stays as it is, and is no longer managed
)

// Place is the place of a manifest in the order.
type Place struct {
	File string `json:"file"` // its path in the payload
	Task int    `json:"task"` // its number in load order, from 1; 0 if it is left out
}

// Change is what happens to one resource.
type Change struct {
	ID     ID         `json:"id"`               // the resource
	Kind   ChangeKind `json:"change"`           // what happens to it
	From   *Place     `json:"from,omitempty"`   // its old place; nil if it is new
	To     *Place     `json:"to,omitempty"`     // its new place; nil if it is not there
	Fields []string   `json:"fields,omitempty"` // of Changed: which fields differ, in the order of the new manifest; at most MaxFields
	Reason string     `json:"reason,omitempty"` // of LeftOut: why
	Risk   string     `json:"risk,omitempty"`   // what may go wrong with it; empty if nothing is known
}

// MaxFields is how many fields a Change names. If there are more, the last entry
// says how many.
const MaxFields = 20

// ImageChange is what happens to an image.
type ImageChange struct {
	Tag  string `json:"tag"`            // its name in the release
	From string `json:"from,omitempty"` // where it was pulled from; empty if it is new
	To   string `json:"to,omitempty"`   // where it is pulled from; empty if it is not there
}

// Difference is what changes for a cluster from one release to the next.
type Difference struct {
	From    string        `json:"from"`    // the version of the old release
	To      string        `json:"to"`      // the version of the new one
	Changes []Change      `json:"changes"` // resources of the new release in load order, then those that it lacks
	Images  []ImageChange `json:"images"`  // by tag
	// Capabilities are those that resources of the cluster need from now on, and
	// did not before; sorted. A cluster that has not enabled them gets them
	// anyway, see ImplicitlyEnabled.
	Capabilities []string `json:"capabilities"`
}

// Risks returns the changes that may go wrong.
func (d *Difference) Risks() []Change {
	var risks []Change
	for _, c := range d.Changes {
		if c.Risk != "" {
			risks = append(risks, c)
		}
	}
	return risks
}

// Diff compares what two releases contain for one cluster: both selections must
// be made with the same filter. If several tasks are about one resource, the
// last one counts.
func Diff(old, new *Selection) *Difference {
	d := &Difference{From: old.Payload.Release.Version, To: new.Payload.Release.Version, Changes: []Change{}}
	before, after := index(old.Tasks), index(new.Tasks)
	for i, m := range new.Tasks {
		if after[m.ID] == i {
			d.compare(old, before, m, i)
		}
	}
	excluded := make(map[ID]*Excluded)
	for i := range new.Excluded {
		excluded[new.Excluded[i].ID] = &new.Excluded[i]
	}
	for i, m := range old.Tasks {
		if _, stays := after[m.ID]; stays || before[m.ID] != i || m.Delete() {
			continue
		}
		c := Change{ID: m.ID, Kind: Abandoned, From: &Place{m.File, i + 1}}
		c.Risk = "the resource stays in the cluster but is no longer managed: the new release has no manifest that deletes it"
		if x := excluded[m.ID]; x != nil {
			c.Kind, c.To, c.Reason = LeftOut, &Place{File: x.File}, x.Reason
			c.Risk = "the resource stays in the cluster as it is: the new release has it for other clusters only"
		}
		d.Changes = append(d.Changes, c)
	}
	d.Images = diffImages(old.Payload.Images, new.Payload.Images)
	wanted := slices.Clone(new.Tasks)
	for _, x := range new.Excluded {
		if x.Rule == RuleCapability {
			wanted = append(wanted, x.Manifest)
		}
	}
	d.Capabilities = turnedOn(wanted, old.Tasks, capabilities(old.Tasks))
	return d
}

// index returns, for each resource, the last task about it.
func index(tasks []*Manifest) map[ID]int {
	at := make(map[ID]int, len(tasks))
	for i, m := range tasks {
		at[m.ID] = i
	}
	return at
}

// capabilities returns all capabilities that tasks need.
func capabilities(tasks []*Manifest) []string {
	all := []string{}
	for _, m := range tasks {
		for _, c := range m.Capabilities() {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// compare adds what happens to a resource that the new release has.
func (d *Difference) compare(old *Selection, before map[ID]int, m *Manifest, i int) {
	c := Change{ID: m.ID, To: &Place{m.File, i + 1}}
	k, was := before[m.ID]
	if !was || old.Tasks[k].Delete() {
		if c.Kind = Added; m.Delete() {
			return // it deletes a resource that the old release did not have
		}
		d.Changes = append(d.Changes, c)
		return
	}
	o := old.Tasks[k]
	c.From = &Place{o.File, k + 1}
	switch {
	case m.Delete():
		c.Kind = Deleted
	case !bytes.Equal(o.JSON, m.JSON):
		x, y := doc.Tree(o.JSON), doc.Tree(m.JSON)
		c.Kind, c.Fields, c.Risk = Changed, fields(x, y), definitionRisk(m, x, y)
	}
	if len(c.Fields) == 0 && c.Kind != Deleted { // only the notation differs, or nothing
		if o.File == m.File {
			return
		}
		c.Kind = Moved
	}
	d.Changes = append(d.Changes, c)
}

// fields returns the fields that differ between two resources.
func fields(old, new *doc.Value) []string {
	var all []string
	walk(old, new, "", &all)
	if more := len(all) - MaxFields + 1; more > 1 {
		all = append(all[:MaxFields-1], fmt.Sprintf("and %d more", more))
	}
	return all
}

// walk adds the paths of the differences between two values.
func walk(old, new *doc.Value, path string, found *[]string) {
	switch {
	case old.Kind != new.Kind || old.Kind == '[' && len(old.Members) != len(new.Members):
		*found = append(*found, path)
	case old.Kind == '{':
		for i := range new.Members {
			m := &new.Members[i]
			at := join(path, m.Key)
			if o := old.Get(m.Key); o != nil {
				walk(o, m, at, found)
			} else {
				*found = append(*found, at)
			}
		}
		for i := range old.Members {
			if key := old.Members[i].Key; new.Get(key) == nil {
				*found = append(*found, join(path, key))
			}
		}
	case old.Kind == '[':
		for i := range new.Members {
			walk(&old.Members[i], &new.Members[i], fmt.Sprintf("%s[%d]", path, i), found)
		}
	case !bytes.Equal(doc.AppendCanonical(nil, old, doc.NumbersOfYAML), doc.AppendCanonical(nil, new, doc.NumbersOfYAML)):
		*found = append(*found, path)
	}
}

func join(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// definitionRisk says what may go wrong with a changed definition of a kind.
func definitionRisk(m *Manifest, old, new *doc.Value) string {
	if m.ID.Kind != "CustomResourceDefinition" {
		return ""
	}
	var risks []string
	_, before := versions(old)
	served, stored := versions(new)
	for _, v := range before {
		if !slices.Contains(stored, v) && v != "" {
			risks = append(risks, "version "+v+" is no longer stored: resources that were stored in it must be migrated first")
		}
	}
	was, _ := versions(old)
	for _, v := range was {
		if !slices.Contains(served, v) {
			risks = append(risks, "version "+v+" is no longer served: requests for it fail")
		}
	}
	return strings.Join(risks, "; ")
}

// versions returns the served and the stored versions of a definition.
func versions(crd *doc.Value) (served, stored []string) {
	list := crd.Get("spec", "versions")
	if list == nil {
		return nil, nil
	}
	for i := range list.Members {
		v := &list.Members[i]
		name, _ := v.Get("name").Text()
		if s := v.Get("served"); s != nil && s.Kind == 't' {
			served = append(served, name)
		}
		if s := v.Get("storage"); s != nil && s.Kind == 't' {
			stored = append(stored, name)
		}
	}
	return served, stored
}

func diffImages(old, new []Image) []ImageChange {
	changes := []ImageChange{}
	was, is := make(map[string]string, len(old)), make(map[string]bool, len(new))
	for _, i := range old {
		was[i.Tag] = i.Pull
	}
	for _, i := range new {
		is[i.Tag] = true
		if was[i.Tag] != i.Pull {
			changes = append(changes, ImageChange{Tag: i.Tag, From: was[i.Tag], To: i.Pull})
		}
	}
	for _, i := range old {
		if !is[i.Tag] {
			changes = append(changes, ImageChange{Tag: i.Tag, From: i.Pull})
		}
	}
	slices.SortFunc(changes, func(a, b ImageChange) int { return strings.Compare(a.Tag, b.Tag) })
	return changes
}
