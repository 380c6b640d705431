package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/removal"
)

// RemovalAnnotation on a subscription requests the removal of its operator:
// RemovalUninstall for good, RemovalRefresh to start over after a failure.
// [World.Removal] says what is removed, what stays and who depends on it.
const RemovalAnnotation = "fairlead.io/removal"

// The values of RemovalAnnotation.
const (
	RemovalUninstall = "uninstall" // see removal.Uninstall
	RemovalRefresh   = "refresh"   // see removal.Refresh
)

// Removal is a removal under way.
type Removal struct {
	Subscription string    `json:"subscription"`   // whose operator is removed
	Kind         string    `json:"kind"`           // the value of RemovalAnnotation
	Generation   int       `json:"generation"`     // of the empty plan that marks its start
	Since        time.Time `json:"since,omitzero"` // when it started
	// Steps are done in this order. There are none before the empty plan is
	// observed: they are planned on a world that is not older, and again while
	// the subscription, which is removed first, still exists.
	Steps []RemovalStep     `json:"steps,omitempty"`
	Again *olm.Subscription `json:"again,omitempty"` // what a refresh recreates
}

// RemovalStep is one thing to do, with its status.
type RemovalStep struct {
	removal.Step
	Done bool `json:"done,omitempty"` // whether it was observed as done
}

// Removal plans the removal of a subscription's operator that
// RemovalAnnotation requests. The error is a *removal.NotFoundError.
func (w *World) Removal(subscription, kind string) (*removal.Plan, *olm.Subscription, error) {
	if kind == RemovalRefresh {
		return removal.Refresh(w.removable(), subscription)
	}
	p, err := removal.Uninstall(w.removable(), subscription)
	return p, nil, err
}

// removable returns the world as package removal sees it.
func (w *World) removable() *removal.World {
	r := &removal.World{Judge: &olm.Constraints{}, Objects: map[string][]removal.Object{}, CRDs: map[string][]string{}, Resources: map[string]int{}}
	for _, s := range sorted(w.Subscriptions, func(s *Subscription) string { return s.Name }) {
		r.Subscriptions = append(r.Subscriptions, s.Subscription)
	}
	for _, c := range sorted(w.CSVs, func(c *CSV) string { return c.Name }) {
		r.CSVs = append(r.CSVs, c.ClusterServiceVersion)
		for _, d := range c.Spec.CustomResourceDefinitions.Owned {
			r.CRDs[c.Name] = append(r.CRDs[c.Name], d.Name)
		}
	}
	for _, o := range sorted(w.Objects, func(o *Object) string { return o.Ref.sortKey() }) {
		if o.Owner != "" && (o.Home == "" || o.Home == w.Namespace) {
			r.Objects[o.Owner] = append(r.Objects[o.Owner], removal.Object(o.Ref))
		}
	}
	counted := make(map[string]bool)
	for i := range w.Resources {
		c := &w.Resources[i]
		if key := c.CRD + "\x00" + c.Namespace + "\x00" + c.Name; !counted[key] {
			counted[key] = true
			r.Resources[c.CRD]++
		}
	}
	return r
}

// remove carries out a removal, and reports whether one is under way.
func (s *stepper) remove() bool {
	if s.state.Removal == nil && !s.beginRemoval() {
		return false
	}
	r := s.state.Removal
	if s.plan(planName(r.Generation)) == nil {
		s.markRemoval(r)
		return true
	}
	if !r.begun(s.subscription(r.Subscription)) && !s.planRemoval(r) {
		s.state.Removal = nil
		s.At(s.now) // another may start
		return false
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		early := i > 0 && slices.ContainsFunc(r.Steps[:i], func(x RemovalStep) bool { return !x.Done })
		if step.Verb == removal.Create && early {
			return true // nothing is recreated before everything is gone
		}
		if step.Done = step.Done || s.removed(step); step.Done {
			continue
		}
		s.takeAway(r, step)
		if step.Object.Kind == kindSubscription {
			return true // while it exists the operator would come back
		}
	}
	if !slices.ContainsFunc(r.Steps, func(x RemovalStep) bool { return !x.Done }) {
		s.state.Removal = nil
		s.At(s.now)
	}
	return s.state.Removal != nil
}

// beginRemoval starts the first requested removal that may start.
func (s *stepper) beginRemoval() bool {
	for _, sub := range sorted(s.Subscriptions, func(x *Subscription) string { return x.Name }) {
		kind := sub.Annotations[RemovalAnnotation]
		if kind == "" || !s.mayGo(sub.Name, kind) {
			continue
		}
		s.state.Plan = nil
		s.state.Generation = s.nextGeneration()
		s.state.Removal = &Removal{Subscription: sub.Name, Kind: kind, Generation: s.state.Generation, Since: s.now}
		return true
	}
	return s.dropUnneeded()
}

// mayGo reports whether the operator of a subscription may be removed now, and
// says why not.
func (s *stepper) mayGo(name, kind string) bool {
	subject := "subscription " + name
	if kind != RemovalUninstall && kind != RemovalRefresh {
		s.block(subject, ReasonRemovalUnknown, fmt.Sprintf("its annotation %s has the unknown value %q", RemovalAnnotation, kind),
			"whoever owns the subscription", fmt.Sprintf("set the annotation to %s or %s", RemovalUninstall, RemovalRefresh))
		return false
	}
	if p := s.state.Plan; p != nil && p.Started {
		s.block(subject, ReasonRemovalWaits, "its operator is removed after "+p.Name+" has finished", planSubject(p), "wait until "+p.Name+" is complete or has failed")
		return false
	}
	p, err := removal.Uninstall(s.removable(), name)
	if err != nil || len(p.Dependents) == 0 {
		return err == nil
	}
	texts := make([]string, len(p.Dependents))
	for i, d := range p.Dependents {
		texts[i] = fmt.Sprintf("%s requires %s", d.Operator, strings.Join(d.Requires, ", "))
	}
	s.block(subject, ReasonStillNeeded, "its operator cannot be removed while others need it: "+strings.Join(texts, "; "),
		"csv "+p.Dependents[0].Operator, "remove those operators first, or install another provider of what they require")
	return false
}

// markRemoval writes the empty plan that makes a backend reject the steps of
// all plans before it: otherwise one of them could bring something back.
func (s *stepper) markRemoval(r *Removal) {
	p := InstallPlan{
		ObjectMeta: olm.ObjectMeta{Name: planName(r.Generation), Namespace: s.Namespace},
		Spec:       InstallPlanSpec{Approval: olm.ApprovalAutomatic, Approved: true, Generation: r.Generation},
		Status:     InstallPlanStatus{Phase: PlanComplete},
	}
	s.block("subscription "+r.Subscription, ReasonRemoving, s.doing(WritePlan{Plan: p}, "its operator is being removed: an empty plan marks the start"), theBackend, "wait until "+p.Name+" exists")
}

// begun reports whether the subscription of a removal, which is removed first,
// was deleted. Until then its owner may change it, or cancel the removal.
func (r *Removal) begun(sub *Subscription) bool {
	return len(r.Steps) > 0 && (r.Steps[0].Done || sub == nil)
}

// planRemoval plans what is removed. It returns false if the removal is no
// longer requested.
func (s *stepper) planRemoval(r *Removal) bool {
	sub := s.subscription(r.Subscription)
	if sub == nil || r.Kind == removalUnneeded && !s.unneeded(sub) {
		return false
	}
	if r.Kind != removalUnneeded && (sub.Annotations[RemovalAnnotation] != r.Kind || !s.mayGo(sub.Name, r.Kind)) {
		return false
	}
	p, again, err := s.Removal(r.Subscription, r.Kind)
	if err != nil {
		return false
	}
	r.Steps = nil
	for _, step := range p.Steps {
		r.Steps = append(r.Steps, RemovalStep{Step: step})
	}
	if again != nil {
		meta := olm.ObjectMeta{Name: again.Name, Namespace: again.Namespace, Labels: again.Labels}
		for key, value := range again.Annotations {
			if key != RemovalAnnotation {
				if meta.Annotations == nil {
					meta.Annotations = make(map[string]string)
				}
				meta.Annotations[key] = value
			}
		}
		again.ObjectMeta = meta
		r.Again = again
	}
	return true
}

// removed reports whether a step is observed as done.
func (s *stepper) removed(step *RemovalStep) bool {
	_, there := s.mark(Ref(step.Object))
	if step.Verb == removal.Create {
		return there || s.state.Removal.Again == nil
	}
	return !there
}

// takeAway does one step. CSVs go through the phase Deleting, in which their
// objects are also deleted.
func (s *stepper) takeAway(r *Removal, step *RemovalStep) {
	message := fmt.Sprintf("%s %s: %s", step.Verb, step.Object, step.Why)
	switch {
	case step.Verb == removal.Create:
		message = s.doing(CreateSubscription{Subscription: *r.Again}, message)
	case step.Object.Kind == kindSubscription:
		if sub := s.subscription(step.Object.Name); sub != nil {
			message = s.doing(DeleteSubscription{Name: sub.Name, Revision: sub.Revision}, message)
		}
	}
	s.block("subscription "+r.Subscription, ReasonRemoving, message, theBackend, "wait until it is done")
}

// goes reports whether a removal under way removes a CSV.
func (s *stepper) goes(c *CSV) bool {
	r := s.state.Removal
	return r != nil && len(r.Steps) > 0 && r.Steps[0].Done && slices.ContainsFunc(r.Steps, func(x RemovalStep) bool {
		return x.Object.Kind == kindCSV && x.Object.Name == c.Name && !x.Done
	})
}

// stripped removes the objects that belong to a CSV and that its successor has
// not taken over, and reports whether all of them are gone.
func (s *stepper) stripped(c, next *CSV) bool {
	var had, has []removal.Object
	for _, o := range sorted(s.Objects, func(o *Object) string { return o.Ref.sortKey() }) {
		switch {
		case s.home(o) != s.Namespace: // the same operator, elsewhere
		case o.Owner == c.Name:
			had = append(had, removal.Object(o.Ref))
		case next != nil && o.Owner == next.Name:
			has = append(has, removal.Object(o.Ref))
		}
	}
	gone := true
	for _, step := range removal.Replace(had, has) {
		if step.Verb != removal.Delete {
			continue
		}
		gone = false
		ref := Ref(step.Object)
		m, _ := s.mark(ref)
		s.do(DeleteObject{Ref: ref, Owner: c.Name, Revision: m.Revision})
	}
	return gone
}

// planName is the name of the plan of a generation.
func planName(generation int) string { return fmt.Sprintf("install-%d", generation) }

// newestFirst returns plans by generation, the newest first.
func newestFirst(plans []InstallPlan) []*InstallPlan {
	all := make([]*InstallPlan, len(plans))
	for i := range plans {
		all[i] = &plans[i]
	}
	slices.SortFunc(all, func(a, b *InstallPlan) int { return cmp.Compare(b.Spec.Generation, a.Spec.Generation) })
	return all
}
