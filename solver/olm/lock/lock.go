package lock

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fairlead/fairlead/solver/olm"
)

// FormatVersion is the version of the format that this package writes, and the
// only one that it reads.
const FormatVersion = 1

// Lock is what a namespace resolves to, and from what.
type Lock struct {
	Version   int    `json:"lockVersion"` // FormatVersion
	Namespace string `json:"namespace"`   // of the request
	Inputs    Inputs `json:"inputs"`      // what it was resolved from
	Answer    Answer `json:"answer"`      // what it resolves to
}

// Inputs is what a resolution depends on.
type Inputs struct {
	// Digest is that of the namespace and of all other inputs: two locks with equal
	// digests have equal inputs.
	Digest string `json:"digest"`
	// Catalogs are those visible in the namespace, in order of preference.
	Catalogs []Catalog `json:"catalogs"`
	// Group is what resolution uses of the operator group.
	Group Group `json:"group"`
	// Subscriptions are in the order in which they are served.
	Subscriptions []Subscription `json:"subscriptions"`
	// Installed are the installed CSVs, sorted by name.
	Installed []Installed `json:"installed"`
}

// Catalog is a catalog that is visible in the namespace.
type Catalog struct {
	Name      string `json:"name"`      // unique in its namespace
	Namespace string `json:"namespace"` // where it lives
	Priority  int    `json:"priority"`  // higher is preferred
	Digest    string `json:"digest"`    // of what resolution sees of it; "" if it cannot be used
}

func (c Catalog) key() string { return olm.SourceKey{Name: c.Name, Namespace: c.Namespace}.String() }

// Group is what resolution uses of an operator group.
type Group struct {
	ExcludesGlobal bool `json:"excludesGlobal"` // it hides the catalogs of the global namespace
	FailsForward   bool `json:"failsForward"`   // a failed operator may be replaced
}

// Subscription is a subscription of the request.
type Subscription struct {
	Name            string `json:"name"`            // unique in the namespace
	Package         string `json:"package"`         // the package to install
	Channel         string `json:"channel"`         // "" is any
	Source          string `json:"source"`          // the catalog's name; "" is any
	SourceNamespace string `json:"sourceNamespace"` // the catalog's namespace
	StartingCSV     string `json:"startingCSV"`     // pins the first installation
	InstalledCSV    string `json:"installedCSV"`    // the CSV installed for it
}

// Installed is an installed CSV.
type Installed struct {
	Name   string `json:"name"`   // of the CSV
	Digest string `json:"digest"` // of what resolution sees of it
}

// Answer is what a request resolves to.
type Answer struct {
	// Chosen is what is to be installed, by package.
	Chosen []Chosen `json:"chosen"`
	// Served says what serves each subscription, in the order of Inputs. Those that
	// nothing serves (see olm.Options.PartialOK) are left out.
	Served []Served `json:"served"`
}

// Chosen is a bundle that is to be installed.
type Chosen struct {
	Package         string `json:"package"`         // the package's name
	Channel         string `json:"channel"`         // the channel it is taken from
	Name            string `json:"name"`            // the bundle's
	Version         string `json:"version"`         // as the bundle states it
	Source          string `json:"source"`          // the catalog's name
	SourceNamespace string `json:"sourceNamespace"` // the catalog's namespace
	Image           string `json:"image"`           // where its content is
	Digest          string `json:"digest"`          // of what resolution sees of it
	Replaces        string `json:"replaces"`        // what its CSV will state in spec.replaces
	Updates         string `json:"updates"`         // the installed CSV that it updates
}

// Served is a subscription with what serves it.
type Served struct {
	Subscription string `json:"subscription"` // its name
	Operator     string `json:"operator"`     // the CSV, whether new or already installed
}

// New resolves a request and records the answer. Errors are those of
// [olm.Resolver.Resolve], and of reading a catalog.
func New(ctx context.Context, r *olm.Resolver, req *olm.Request) (*Lock, error) {
	res, err := r.Resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	return Of(ctx, r, req, res)
}

// Of records the answer that r gave to req.
func Of(ctx context.Context, r *olm.Resolver, req *olm.Request, res *olm.Resolution) (*Lock, error) {
	l := &Lock{Version: FormatVersion, Namespace: req.Namespace}
	l.Inputs.Group = Group{ExcludesGlobal: req.Group.ExcludesGlobal(), FailsForward: req.Group.FailsForward()}
	if err := l.catalogs(ctx, r.Visible(req)); err != nil {
		return nil, err
	}
	l.request(r, req)
	l.Inputs.Digest = l.inputDigest()
	l.Answer = Answer{Chosen: []Chosen{}, Served: []Served{}}
	for _, c := range res.Chosen {
		digest, err := bundleDigest(c.Bundle)
		if err != nil {
			return nil, err
		}
		l.Answer.Chosen = append(l.Answer.Chosen, Chosen{
			Package: c.Package, Channel: c.Channel, Name: c.Name, Version: c.Version,
			Source: c.Source.Name, SourceNamespace: c.Source.Namespace, Image: c.Bundle.Image(), Digest: digest,
			Replaces: c.Replaces, Updates: c.Updates,
		})
	}
	for _, o := range res.Subscriptions {
		if o.Blocked == nil {
			l.Answer.Served = append(l.Answer.Served, Served{o.Subscription, o.Operator})
		}
	}
	return l, nil
}

// Format returns the lock's text: indented JSON, with a newline at the end.
func (l *Lock) Format() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(l) // strings, numbers and booleans only: cannot fail
	return b.Bytes()
}
