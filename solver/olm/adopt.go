package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Adoption is a proposed subscription for an operator that no subscription
// refers to.
type Adoption struct {
	// Subscription is the subscription to create. Its approval is Manual, so that
	// nothing changes until someone approves it.
	Subscription Subscription
	// Next is the CSV that the operator would be updated to, or "" if it stays as
	// it is.
	Next string
}

// AdoptError reports why an operator cannot be adopted, and what to do.
type AdoptError struct {
	CSV     string // the operator's CSV
	Problem string // the obstacle, and the fix
}

// Error implements error.
func (e *AdoptError) Error() string { return "csv " + e.CSV + " cannot be adopted: " + e.Problem }

// Adopt finds a subscription for an installed operator that no subscription
// refers to, so that the operator is updated again as if that subscription had
// installed it:
//
//  1. The CSV is in the request's namespace, is not a copy, and is not replaced
//     by another.
//  2. No subscription has it installed or as its current CSV, or requests its
//     package.
//  3. Its package is the one that its properties state, or else the only one
//     that lists a bundle of its name in the catalogs visible in the namespace.
//  4. The catalog is the first of these that lists the bundle, or else the
//     first that has an update for it, by name or by skipRange. A CSV that is
//     no longer in any catalog can therefore also be adopted.
//  5. The channel is the requested one. If channel is "", it is the default
//     channel if that one qualifies, or else the only one that does.
//  6. The namespace can still be resolved with the subscription.
//
// The startingCSV of the subscription is the CSV, which the installing engine
// then treats as installed. The errors are *AdoptError and those of Resolve,
// except *UnsatError.
func (r *Resolver) Adopt(ctx context.Context, req *Request, csv, channel string) (*Adoption, error) {
	fail := func(format string, args ...any) (*Adoption, error) {
		return nil, &AdoptError{CSV: csv, Problem: fmt.Sprintf(format, args...)}
	}
	at := slices.IndexFunc(req.Installed, func(c ClusterServiceVersion) bool {
		return c.Name == csv && c.Namespace == req.Namespace && !c.Copied()
	})
	if at < 0 {
		return fail("namespace %s has no such operator; name one that it has and that is not a copy", req.Namespace)
	}
	is := &req.Installed[at]
	var successors []string
	for i := range req.Installed {
		if c := &req.Installed[i]; c.Spec.Replaces == csv && c.Name != csv && c.Namespace == req.Namespace {
			successors = append(successors, c.Name)
		}
	}
	if len(successors) > 0 {
		return fail("%s replaces it; adopt that", slices.Min(successors))
	}
	sub := Subscription{Spec: SubscriptionSpec{StartingCSV: csv, InstallPlanApproval: ApprovalManual}}
	sub.Namespace = req.Namespace
	if sub.Spec.Package = r.statedPackage(is); sub.Spec.Package == "" {
		names := r.listing(req, csv)
		if len(names) != 1 {
			return fail("it does not state its package, and of the packages in the catalogs visible in the namespace these have a bundle of its name: %s; annotate it with %s", listNames(names), PropertiesAnnotation)
		}
		sub.Spec.Package = names[0]
	}
	taken := false
	q := &query{Resolver: r, req: req}
	for _, s := range q.ordered() {
		switch {
		case s.Status.InstalledCSV == csv || s.Status.CurrentCSV == csv:
			return fail("subscription %s has it", s.Name)
		case s.Spec.Package == sub.Spec.Package:
			return fail("subscription %s asks for package %s; set its startingCSV to %s, or delete it", s.Name, s.Spec.Package, csv)
		default:
			taken = taken || s.Name == sub.Spec.Package
		}
	}
	if sub.Name = sub.Spec.Package; taken {
		sub.Name += "-adopted"
	}
	if problem := r.place(req, is, &sub, channel); problem != "" {
		return fail("%s", problem)
	}
	trial := *req
	with := sub
	with.Status.InstalledCSV, with.Status.CurrentCSV = csv, csv
	trial.Subscriptions = append(slices.Clip(req.Subscriptions), with)
	res, err := r.Resolve(ctx, &trial)
	var unsat *UnsatError
	if errors.As(err, &unsat) {
		return fail("with a subscription for it nothing satisfies the namespace: %v", unsat)
	}
	if err != nil {
		return nil, err
	}
	a := &Adoption{Subscription: sub}
	for _, c := range res.Chosen {
		if c.Updates == csv {
			a.Next = c.Name
		}
	}
	return a, nil
}

// statedPackage returns the package that a CSV's properties name, or "".
func (r *Resolver) statedPackage(c *ClusterServiceVersion) string {
	props, err := ParseProperties(c.Annotations[PropertiesAnnotation])
	if err != nil {
		return ""
	}
	return decodeFacts(props, c.Spec.Version, r.needs).onlyPackage()
}

// listing returns the packages visible in the namespace that have a bundle of
// the given name, sorted.
func (r *Resolver) listing(req *Request, bundle string) []string {
	var names []string
	for _, s := range r.visible(req) {
		if s.Err != nil {
			continue
		}
		for p := range s.Catalog.Packages() {
			if _, ok := p.Bundle(bundle); ok {
				names = append(names, p.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// place sets the catalog and the channel of the subscription, or returns the
// obstacle.
func (r *Resolver) place(req *Request, csv *ClusterServiceVersion, sub *Subscription, channel string) string {
	version, _ := semverx.ParseTolerant(csv.Spec.Version)
	listed := func(e *entry) bool { return e.name == csv.Name }
	follows := func(e *entry) bool { return e.updates(csv.Name, version) }
	for _, fits := range []func(e *entry) bool{listed, follows} {
		for _, s := range r.visible(req) {
			if s.Err != nil {
				continue
			}
			p := s.pkg(sub.Spec.Package)
			if p == nil {
				continue
			}
			var names []string
			standard := ""
			for _, ch := range p.channels {
				if ch.err != nil || !slices.ContainsFunc(ch.entries, fits) {
					continue
				}
				if names = append(names, ch.name); ch.isDefault {
					standard = ch.name
				}
			}
			slices.Sort(names)
			switch {
			case len(names) == 0:
				continue
			case channel != "" && !slices.Contains(names, channel):
				return fmt.Sprintf("in catalog %s not channel %s leads on from it, but %s", s.SourceKey, channel, listNames(names))
			case channel != "":
				sub.Spec.Channel = channel
			case standard != "":
				sub.Spec.Channel = standard
			case len(names) == 1:
				sub.Spec.Channel = names[0]
			default:
				return fmt.Sprintf("in catalog %s it is in channels %s; say which to follow", s.SourceKey, listNames(names))
			}
			sub.Spec.Source, sub.Spec.SourceNamespace = s.Name, s.Namespace
			return ""
		}
	}
	return fmt.Sprintf("no catalog visible in the namespace has it in package %s, or an update for it; add one, or leave it as it is", sub.Spec.Package)
}
