package install

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// Request returns the question to the resolver about the namespace.
//
//  1. A subscription's operator is the CSV that its status names as current, if
//     that exists, else the one named as installed.
//  2. An operator that has not succeeded stays as it is, and so does its
//     subscription: both are resolved again when it has. Other operators of the
//     namespace proceed meanwhile.
//  3. A CSV that an existing one replaces is being removed and is left out.
//  4. If the operator group fails forward, an operator that has failed counts as
//     succeeded, and so does one whose plan has failed.
//  5. A subscription whose operator is to be removed is left out.
//  6. While a plan is approved in part ([ApproveAnnotation]), subscriptions whose
//     current CSV is not named are left out: what they have stays.
//
// Subscriptions and CSVs are listed by name.
func (w *World) Request() *olm.Request {
	req := &olm.Request{Namespace: w.Namespace}
	if g, err := group.Sole(w.operatorGroups(), w.Namespace); err == nil {
		own := *g
		if targets, err := own.Targets(w.Namespaces); err == nil {
			own.Status.Namespaces = targets // also before its status tells of them
		}
		req.Group = &own
	}
	x := newIndex(w)
	forward := w.failForward()
	given := func(c *CSV) bool { return forward && (c.Status.Phase == olm.PhaseFailed || x.stuck(c.Name)) }
	for _, c := range x.operators {
		if x.next[c.Name] != nil {
			continue
		}
		csv := c.ClusterServiceVersion
		if given(c) {
			csv.Status.Phase = olm.PhaseFailed
		}
		req.Installed = append(req.Installed, csv)
	}
	part, approved := w.part()
	for _, s := range w.Subscriptions {
		sub := s.Subscription
		if sub.Annotations[RemovalAnnotation] != "" || part != nil && !slices.Contains(approved, sub.Status.CurrentCSV) {
			continue
		}
		sub.Status = x.installed(&sub, sub.Status)
		c := x.csvs[sub.Status.InstalledCSV]
		if c != nil && c.Status.Phase != olm.PhaseSucceeded && !given(c) {
			continue
		}
		req.Subscriptions = append(req.Subscriptions, sub)
	}
	slices.SortFunc(req.Subscriptions, func(a, b olm.Subscription) int { return strings.Compare(a.Name, b.Name) })
	return req
}
