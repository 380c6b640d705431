package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Adoption is how an operator that no subscription refers to gets one.
type Adoption struct {
	// Subscription is to be created. Its approval is Manual, so that nothing
	// changes before somebody agrees.
	Subscription Subscription
	// Next is the CSV that it would be updated to, or "" if it stays as it is.
	Next string
}

// AdoptError says why an operator cannot be adopted, and what to do.
type AdoptError struct {
	CSV     string // the operator's
	Problem string // what is in the way, and the way out
}

// Error implements error.
func (e *AdoptError) Error() string { return "csv " + e.CSV + " cannot be adopted: " + e.Problem }

// Adopt looks for the subscription by which an installed operator that none refers
// to is updated again, as it would be had the subscription installed it:
//
//  1. The CSV is of the request's namespace, no copy, and no other replaces it.
//  2. No subscription has it or asks for its package.
//  3. Its package is what its properties state, else the one that lists a bundle
//     of its name in the catalogs visible in the namespace.
//  4. Of these catalogs the first is taken that lists the bundle, else the first
//     with an update for it, by its name or by a skipRange: a CSV that no catalog
//     has any more can be adopted, too.
//  5. The channel is the one that is asked for; with "" the default channel if
//     that is one of those, else the only one.
//  6. With the subscription the namespace can still be resolved.
//
// The subscription starts at the CSV; the engine that installs takes it for
// installed then. Errors: *AdoptError, and those of Resolve but for *UnsatError.
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
	for i := range req.Installed {
		if c := &req.Installed[i]; c.Spec.Replaces == csv && c.Name != csv && c.Namespace == req.Namespace {
			return fail("%s replaces it; adopt that", c.Name)
		}
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
	for i := range req.Subscriptions {
		switch s := &req.Subscriptions[i]; {
		case s.Namespace != req.Namespace:
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

// statedPackage is the package that a CSV's properties name, or "".
func (r *Resolver) statedPackage(c *ClusterServiceVersion) string {
	props, err := ParseProperties(c.Annotations[PropertiesAnnotation])
	if err != nil {
		return ""
	}
	return decodeFacts(props, c.Spec.Version, r.needs).onlyPackage()
}

// listing names the packages that the namespace sees with a bundle of a name,
// sorted.
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

// place gives the subscription a catalog and a channel, or says what is in the
// way.
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
