package install

import (
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/status"
)

// subscriptions updates statuses that do not show what is installed, planned or
// blocked, and reports whether all subscriptions of the plan show it.
func (s *stepper) subscriptions() (current bool) {
	current = true
	known := s.facts()
	for _, sub := range sorted(s.Subscriptions, func(x *Subscription) string { return x.Name }) {
		next := sub.Subscription
		if name := s.servedBy(sub.Name); name != "" && s.csvs[next.Status.InstalledCSV] == nil {
			next.Status.CurrentCSV = name
		}
		next.Status = s.installed(&next, next.Status) // before a plan names what is to come
		if csv, ok := s.planned(sub.Name); ok {
			next.Status.CurrentCSV = csv
			next.Status.InstallPlanRef = &olm.PlanReference{Name: s.state.Plan.Name, Namespace: s.Namespace}
		} else if s.csvs[next.Status.CurrentCSV] == nil && s.csvs[next.Status.InstalledCSV] != nil {
			next.Status.CurrentCSV = next.Status.InstalledCSV // of a plan that was dropped
		}
		next.Status = s.installed(&sub.Subscription, next.Status)
		facts := known
		s.concern(&facts, &next)
		want := status.Update(&next, &facts, s.now)
		if want.Equal(&sub.Status) {
			continue
		}
		want.LastUpdated = s.now
		if s.state.Plan != nil && want.CurrentCSV != sub.Status.CurrentCSV {
			current = false
		}
		s.block("subscription "+sub.Name, ReasonStatusPending, s.doing(UpdateSubscription{Name: sub.Name, Revision: sub.Revision, Status: want}, "its status is being updated"), theBackend, "wait until its status names CSV "+want.CurrentCSV)
	}
	return current
}

// servedBy names the existing CSV that serves a subscription according to the
// resolver, if the subscription does not name it: one that was recreated, for a
// CSV that does not name its package. Otherwise it is "".
func (s *stepper) servedBy(sub string) string {
	if s.Resolution == nil {
		return ""
	}
	for _, o := range s.Resolution.Subscriptions {
		if o.Subscription == sub && !o.New && s.csvs[o.Operator] != nil {
			return o.Operator
		}
	}
	return ""
}

// facts is what all subscriptions report.
func (s *stepper) facts() status.Facts {
	f := status.Facts{CatalogsUnknown: s.Catalogs == nil}
	for i := range s.Catalogs {
		f.Catalogs = append(f.Catalogs, s.Catalogs[i].Health())
	}
	if s.Refusal != nil {
		f.Resolution = &status.Refusal{Reason: status.ReasonErrorPrevented, Message: s.Refusal.Message}
		if s.Refusal.Reason == ReasonUnsatisfiable {
			f.Resolution.Reason = status.ReasonNotSatisfiable
		}
	}
	for _, c := range s.operators {
		f.CSVs = append(f.CSVs, c.Name)
	}
	if s.Resolution != nil {
		for i := range s.Resolution.Chosen {
			c := &s.Resolution.Chosen[i]
			switch held := s.content(c.Source, c.Name); {
			case held == nil:
				f.Bundles = append(f.Bundles, status.Unpack{Bundle: c.Name})
			case held.Error != "":
				f.Bundles = append(f.Bundles, status.Unpack{Bundle: c.Name, Reason: status.ReasonUnpackFailed, Message: held.Error})
			}
		}
	}
	return f
}

// concern adds what concerns one subscription.
func (s *stepper) concern(f *status.Facts, sub *olm.Subscription) {
	if ref := sub.Status.InstallPlanRef; ref != nil {
		f.Plan = s.shown(ref.Name)
	}
	for _, d := range s.Deprecations {
		if d.Subscription == sub.Name {
			f.Deprecations = append(f.Deprecations, d.Deprecation)
		}
	}
	if s.Resolution == nil {
		return
	}
	for _, o := range s.Resolution.Subscriptions {
		switch {
		case o.Subscription != sub.Name:
		case o.Operator == "" && f.Resolution == nil:
			f.Resolution = &status.Refusal{Reason: status.ReasonNotSatisfiable, Message: leftOut(&o)}
		case o.New:
			f.Next = o.Operator
		}
	}
}

// leftOut is why a subscription cannot be served while others are.
func leftOut(o *olm.Outcome) string {
	if len(o.Why) > 0 {
		return strings.Join(o.Why, "\n")
	}
	return "it cannot be satisfied together with the others"
}

// shown is what a subscription shows of a plan; the one under way counts as
// existing, even while it is being written, or is missing and may come back.
func (s *stepper) shown(name string) *status.Plan {
	seen := s.plan(name)
	if seen == nil {
		if p := s.state.Plan; p != nil && p.Name == name {
			return &status.Plan{}
		}
		return nil
	}
	shown := &status.Plan{Phase: string(seen.Status.Phase)}
	if c := fairlead.FindCondition(seen.Status.Conditions, PlanInstalled); c != nil {
		shown.Reason, shown.Message = c.Reason, c.Message
	}
	return shown
}

// planned returns the CSV that the plan brings for a subscription.
func (s *stepper) planned(sub string) (csv string, ok bool) {
	if s.state.Plan == nil {
		return "", false
	}
	for _, c := range s.state.Plan.Current {
		if c.Subscription == sub {
			return c.CSV, true
		}
	}
	return "", false
}
