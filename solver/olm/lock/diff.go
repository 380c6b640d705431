package lock

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
)

// Part is a part of a lock.
type Part string

// The parts, in the order in which differences are reported.
const (
	PartNamespace    Part = "namespace"
	PartGroup        Part = "group"
	PartCatalog      Part = "catalog"
	PartSubscription Part = "subscription"
	PartInstalled    Part = "installed"
	PartChosen       Part = "chosen"
	PartServed       Part = "served"
)

// Difference is one thing in which two locks differ.
type Difference struct {
	Part Part `json:"part"` // where
	// Name is what differs: a catalog as NAMESPACE/NAME, a subscription, a CSV, or
	// for PartChosen a package. It is "" for a part of which there is only one, and
	// if the order differs.
	Name string `json:"name,omitempty"`
	// Field is the JSON name of the field that differs: "" if the whole is in one
	// lock only, or if the order differs.
	Field string `json:"field,omitempty"`
	// Was and Is are the values, "" if there is none.
	Was string `json:"was"`
	Is  string `json:"is"` // see Was
}

// String returns the difference as one line.
func (d Difference) String() string {
	subject := string(d.Part)
	if d.Name != "" {
		subject += " " + d.Name
	}
	switch {
	case d.Field == "" && d.Was == "":
		return subject + ": new: " + d.Is
	case d.Field == "" && d.Is == "":
		return subject + ": gone: " + d.Was
	case d.Field == "" && d.Name == "":
		return subject + " order: was " + d.Was + ", is " + d.Is
	case d.Field == "digest":
		return subject + ": its content differs"
	case d.Field == "":
		return fmt.Sprintf("%s: was %s, is %s", subject, d.Was, d.Is)
	}
	return fmt.Sprintf("%s: %s was %q, is %q", subject, d.Field, d.Was, d.Is)
}

// isAnswer reports whether d is a difference of the answer.
func (d Difference) isAnswer() bool { return d.Part == PartChosen || d.Part == PartServed }

// A MismatchError says that a lock does not hold.
type MismatchError struct {
	// Differences are what differs, in the order of Lock.Diff; at least one.
	Differences []Difference
}

// Answer reports whether the answer differs. If not, only inputs do, and the
// choice is still as locked.
func (e *MismatchError) Answer() bool { return slices.ContainsFunc(e.Differences, Difference.isAnswer) }

// Error lists the differences, one per line.
func (e *MismatchError) Error() string {
	var b strings.Builder
	if e.Answer() {
		b.WriteString("the lock does not hold: something else is chosen now")
	} else {
		b.WriteString("the lock was written for other inputs; the choice is the same")
	}
	for _, d := range e.Differences {
		words.Fprintf(&b, "\n\t%s", d)
	}
	return b.String()
}

// Verify resolves a request, and returns a *MismatchError if the inputs or the
// answer differ from those of the lock. Other errors are those of New, such as
// *olm.UnsatError if nothing can be chosen any more.
func (l *Lock) Verify(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
	now, err := New(ctx, r, req)
	if err != nil {
		return err
	}
	if d := l.Diff(now); len(d) > 0 {
		return &MismatchError{Differences: d}
	}
	return nil
}

// Diff returns how another lock differs from l, by part and then in the order of
// l, with new elements last. There are no differences if, and only if, the two
// have the same text.
func (l *Lock) Diff(other *Lock) []Difference {
	d := &differ{}
	d.value(PartNamespace, "", "name", l.Namespace, other.Namespace)
	d.fields(PartGroup, "", reflect.ValueOf(l.Inputs.Group), reflect.ValueOf(other.Inputs.Group))
	compare(d, PartCatalog, l.Inputs.Catalogs, other.Inputs.Catalogs, func(c Catalog) (string, string) {
		return c.key(), fmt.Sprintf("priority %d", c.Priority)
	})
	compare(d, PartSubscription, l.Inputs.Subscriptions, other.Inputs.Subscriptions, func(s Subscription) (string, string) {
		return s.Name, "package " + s.Package
	})
	compare(d, PartInstalled, l.Inputs.Installed, other.Inputs.Installed, func(i Installed) (string, string) { return i.Name, i.Name })
	compare(d, PartChosen, l.Answer.Chosen, other.Answer.Chosen, func(c Chosen) (string, string) { return c.Package, c.Name })
	compare(d, PartServed, l.Answer.Served, other.Answer.Served, func(s Served) (string, string) { return s.Subscription, s.Operator })
	return d.all
}

type differ struct{ all []Difference }

func (d *differ) value(part Part, name, field, was, is string) {
	if was != is {
		d.all = append(d.all, Difference{part, name, field, was, is})
	}
}

// fields compares two structs of strings, numbers and booleans.
func (d *differ) fields(part Part, name string, was, is reflect.Value) {
	for i := range was.NumField() {
		d.value(part, name, was.Type().Field(i).Tag.Get("json"), fmt.Sprint(was.Field(i)), fmt.Sprint(is.Field(i)))
	}
}

// compare compares two lists. describe returns the name of an element, and the
// text that is reported if the other list lacks it.
func compare[T any](d *differ, part Part, was, is []T, describe func(T) (name, text string)) {
	index := func(list []T) map[string]*T {
		byName := make(map[string]*T, len(list))
		for i := range list {
			name, _ := describe(list[i])
			byName[name] = &list[i]
		}
		return byName
	}
	inWas, inIs := index(was), index(is)
	var before, after []string // the names that both have, in the order of each
	for _, w := range was {
		name, text := describe(w)
		o := inIs[name]
		if o == nil {
			d.all = append(d.all, Difference{Part: part, Name: name, Was: text})
			continue
		}
		before = append(before, name)
		d.fields(part, name, reflect.ValueOf(w), reflect.ValueOf(*o))
	}
	for _, i := range is {
		name, text := describe(i)
		if inWas[name] == nil {
			d.all = append(d.all, Difference{Part: part, Name: name, Is: text})
			continue
		}
		after = append(after, name)
	}
	if !slices.Equal(before, after) {
		d.all = append(d.all, Difference{Part: part, Was: strings.Join(before, ", "), Is: strings.Join(after, ", ")})
	}
}
