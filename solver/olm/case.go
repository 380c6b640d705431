package olm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Case is a resolution request in a short form that takes nothing from a
// cluster.
type Case struct {
	// Kind is the caller's own label; it has no effect here.
	Kind string `json:"kind,omitempty"`
	// Subscriptions are PACKAGE or PACKAGE/CHANNEL, in order of preference.
	Subscriptions []string `json:"subscriptions"`
	// Installed are names of CSVs. Each belongs to the first subscription that
	// has none yet and whose package contains it, or replaces or skips it;
	// otherwise to no subscription. A name that no catalog has is read as
	// PACKAGE.vVERSION.
	Installed Names `json:"installed,omitempty"`
}

// Names is a list of names. In JSON, a list of one is written as the name
// alone; both forms are read.
type Names []string

// UnmarshalJSON reads a list of names, or one name.
func (n *Names) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*n = make(Names, 1)
		return json.Unmarshal(text, &(*n)[0])
	}
	return json.Unmarshal(text, (*[]string)(n))
}

// MarshalJSON writes a list of names, or one name.
func (n Names) MarshalJSON() ([]byte, error) {
	if len(n) == 1 {
		return json.Marshal(n[0])
	}
	return json.Marshal([]string(n))
}

// Answer is the result of a Case.
type Answer struct {
	Case
	// Chosen are the new bundles as PACKAGE/CHANNEL/NAME, sorted.
	Chosen []string `json:"chosen"`
	// Unsatisfiable reports that nothing satisfies the case.
	Unsatisfiable bool `json:"unsatisfiable,omitempty"`
	// Explanation says why, in at most ExplanationLines lines.
	Explanation string `json:"explanation,omitempty"`
}

// maxCase is the longest line that Cases reads.
const maxCase = 1 << 20

// errNoCase does not repeat the JSON decoder's error, which is about Go types.
var errNoCase = errors.New(`not a case: a line is {"subscriptions": ["PACKAGE/CHANNEL", ...], "installed": "CSV"}, where installed may be absent or a list`)

// CaseError reports which line is not a case, and why.
type CaseError struct {
	Line int   // from 1
	Err  error // what is wrong with it
}

// Error names the line and gives the cause.
func (e *CaseError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *CaseError) Unwrap() error { return e.Err }

// Cases reads cases as JSON lines and skips empty lines and unknown keys. It
// stops after the first error, a *CaseError. Lines of more than a megabyte are
// an error.
func Cases(r io.Reader) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxCase)
		n := 0
		for lines.Scan() {
			n++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			c := &Case{}
			if err := json.Unmarshal(lines.Bytes(), c); err != nil {
				yield(nil, &CaseError{n, errNoCase})
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, &CaseError{n + 1, err})
		}
	}
}

// Answer resolves a case. A case that cannot be satisfied is an answer; an
// error means that the case is malformed, that a catalog is, or that the
// context ended.
func (r *Resolver) Answer(ctx context.Context, namespace string, c *Case) (*Answer, error) {
	req, err := r.Request(namespace, c)
	if err != nil {
		return nil, err
	}
	res, err := r.Resolve(ctx, req)
	a := &Answer{Case: *c, Chosen: []string{}}
	var unsat *UnsatError
	switch {
	case errors.As(err, &unsat):
		x, err := unsat.Explain(ctx)
		if err != nil {
			return nil, err
		}
		a.Unsatisfiable, a.Explanation = true, x.String()
		return a, nil
	case err != nil:
		return nil, err
	}
	for _, chosen := range res.Chosen {
		a.Chosen = append(a.Chosen, chosen.String())
	}
	slices.Sort(a.Chosen)
	return a, nil
}

// Request converts a case to a request for a namespace. A subscription is named
// after its package, the second one of a package PACKAGE-2, and so on.
// Installed CSVs have the properties of the catalog bundle of that name; a CSV
// that no catalog has gets no properties, and is updated by an entry that
// replaces or skips it.
func (r *Resolver) Request(namespace string, c *Case) (*Request, error) {
	req := &Request{Namespace: namespace}
	if len(c.Subscriptions) == 0 {
		return nil, errors.New("no subscription: name at least one PACKAGE or PACKAGE/CHANNEL")
	}
	count := make(map[string]int)
	for _, text := range c.Subscriptions {
		pkg, channel, _ := strings.Cut(text, "/")
		if pkg == "" || strings.HasSuffix(text, "/") || strings.Contains(channel, "/") {
			return nil, fmt.Errorf("subscription %q: not of the form PACKAGE or PACKAGE/CHANNEL", text)
		}
		name := pkg
		if count[pkg]++; count[pkg] > 1 {
			name = fmt.Sprintf("%s-%d", pkg, count[pkg])
		}
		req.Subscriptions = append(req.Subscriptions, Subscription{
			ObjectMeta: ObjectMeta{Name: name, Namespace: namespace},
			Spec:       SubscriptionSpec{Package: pkg, Channel: channel},
		})
	}
	for _, name := range c.Installed {
		if err := r.install(req, name); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// install adds an installed CSV to the request and assigns it to a
// subscription.
func (r *Resolver) install(req *Request, name string) error {
	var csv ClusterServiceVersion
	pkg := ""
	if b := r.bundle(name, req.Subscriptions); b != nil {
		var err error
		if csv, err = InstalledFrom(b, req.Namespace); err != nil {
			return err
		}
		pkg = b.Package().Name()
	} else {
		csv, pkg = r.unlisted(name, req)
	}
	req.Installed = append(req.Installed, csv)
	version, _ := semverx.ParseTolerant(csv.Spec.Version)
	for i := range req.Subscriptions {
		s := &req.Subscriptions[i]
		if s.Status.InstalledCSV != "" {
			continue
		}
		if s.Spec.Package == pkg || r.follows(s.Spec.Package, name, version) {
			s.Status.InstalledCSV, s.Status.CurrentCSV = name, name
			break
		}
	}
	return nil
}

// unlisted returns an installed CSV that no catalog has. It takes the version
// from the name PACKAGE.vVERSION, and the package if a subscription requests
// it.
func (r *Resolver) unlisted(name string, req *Request) (csv ClusterServiceVersion, pkg string) {
	csv.Name, csv.Namespace = name, req.Namespace
	stem, version, _ := strings.Cut(name, ".")
	if v, err := semverx.ParseTolerant(strings.TrimPrefix(version, "v")); err == nil {
		csv.Spec.Version = v.String()
	}
	if slices.ContainsFunc(req.Subscriptions, func(s Subscription) bool { return s.Spec.Package == stem }) {
		pkg = stem
	}
	return csv, pkg
}

// follows reports whether a package has an entry that is an update of the
// installed operator.
func (r *Resolver) follows(pkg, name string, version semverx.Version) bool {
	for _, src := range r.sources {
		if src.Catalog == nil {
			continue
		}
		p := src.pkg(pkg)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			if slices.ContainsFunc(ch.entries, func(e *entry) bool { return e.updates(name, version) }) {
				return true
			}
		}
	}
	return false
}

// bundle finds a bundle by name, first in the subscribed packages and then in
// all others.
func (r *Resolver) bundle(name string, subs []Subscription) *catalog.Bundle {
	for _, src := range r.sources {
		if src.Catalog == nil {
			continue
		}
		for i := range subs {
			if p, ok := src.Catalog.Package(subs[i].Spec.Package); ok {
				if b, ok := p.Bundle(name); ok {
					return b
				}
			}
		}
	}
	for _, src := range r.sources {
		if src.Catalog == nil {
			continue
		}
		for p := range src.Catalog.Packages() {
			if b, ok := p.Bundle(name); ok {
				return b
			}
		}
	}
	return nil
}
