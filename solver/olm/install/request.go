package install

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// Request returns what to ask the resolver about the namespace.
//
//  1. A subscription's operator is the CSV that its status names as current, if
//     that exists, else the one named as installed.
//  2. An operator that has not succeeded stays as it is, and so does its
//     subscription: both are asked about again when it has. Other operators of
//     the namespace go on meanwhile.
//  3. What an existing CSV replaces is on its way out and left out.
//  4. Where the operator group fails forward, an operator that has failed counts
//     like one that has succeeded.
//
// Subscriptions and CSVs are listed by name.
func (w *World) Request() *olm.Request {
	req := &olm.Request{Namespace: w.Namespace}
	if g, err := group.Sole(w.Groups, w.Namespace); err == nil {
		req.Group = g
	}
	x := newIndex(w)
	for _, c := range x.operators {
		if x.next[c.Name] == nil {
			req.Installed = append(req.Installed, c.ClusterServiceVersion)
		}
	}
	forward := w.failForward()
	for _, s := range w.Subscriptions {
		sub := s.Subscription
		sub.Status = x.installed(&sub, sub.Status)
		c := x.csvs[sub.Status.InstalledCSV]
		if c != nil && c.Status.Phase != olm.PhaseSucceeded && !(forward && c.Status.Phase == olm.PhaseFailed) {
			continue
		}
		req.Subscriptions = append(req.Subscriptions, sub)
	}
	slices.SortFunc(req.Subscriptions, func(a, b olm.Subscription) int { return strings.Compare(a.Name, b.Name) })
	return req
}
