package lock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// digester hashes texts, each with its length, so that different lists of texts
// are never hashed as the same bytes.
type digester struct{ hash.Hash }

func newDigester() digester { return digester{sha256.New()} }

func (d digester) add(texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(d, "%d:%s", len(t), t)
	}
}

func (d digester) text() string { return "sha256:" + hex.EncodeToString(d.Sum(nil)) }

// bundleDigest returns the digest of what resolution and installation see of a
// bundle. White space in the JSON values of properties does not count.
func bundleDigest(b *catalog.Bundle) (string, error) {
	d := newDigester()
	d.add("bundle", b.Name(), b.Version(), b.Image())
	props, err := b.Facts()
	if err != nil {
		return "", fmt.Errorf("bundle %s: %w", b.Name(), err)
	}
	var value bytes.Buffer
	for _, p := range props {
		value.Reset()
		if json.Compact(&value, p.Value) != nil {
			value.Reset()
			value.Write(p.Value)
		}
		d.add("property", p.Type, value.String())
	}
	return d.text(), nil
}

// catalogDigest returns the digest of what resolution sees of a catalog.
func catalogDigest(ctx context.Context, c *catalog.Catalog) (string, error) {
	d := newDigester()
	for p := range c.Packages() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		d.add("package", p.Name(), p.DefaultChannel())
		for ch := range p.Channels() {
			d.add("channel", ch.Name())
			for _, e := range ch.Entries() {
				d.add("entry", e.Name, e.Replaces, e.SkipRange)
				d.add(e.Skips...)
			}
		}
		for b := range p.Bundles() {
			digest, err := bundleDigest(b)
			if err != nil {
				return "", err
			}
			d.add(digest)
		}
	}
	return d.text(), nil
}

// installedDigest returns the digest of what resolution sees of a CSV.
func installedDigest(c *olm.ClusterServiceVersion) string {
	d := newDigester()
	note, ok := c.Annotations[olm.PropertiesAnnotation]
	d.add("csv", c.Name, fmt.Sprint(ok), note, c.Spec.Version, c.Spec.Replaces, string(c.Status.Phase))
	for _, list := range [][]olm.CRDDescription{c.Spec.CustomResourceDefinitions.Owned, c.Spec.CustomResourceDefinitions.Required} {
		d.add("crds")
		for _, x := range list {
			d.add(x.Name, x.Version, x.Kind)
		}
	}
	for _, list := range [][]olm.APIServiceDescription{c.Spec.APIServiceDefinitions.Owned, c.Spec.APIServiceDefinitions.Required} {
		d.add("apis")
		for _, x := range list {
			d.add(x.Name, x.Group, x.Version, x.Kind)
		}
	}
	return d.text()
}

// inputDigest returns the digest of all inputs.
func (l *Lock) inputDigest() string {
	in := l.Inputs
	in.Digest = ""
	text, _ := json.Marshal(in) // strings, numbers and booleans only: cannot fail
	d := newDigester()
	d.add("inputs", l.Namespace, string(text))
	return d.text()
}

// catalogs records the catalogs that are visible in the namespace.
func (l *Lock) catalogs(ctx context.Context, sources []olm.Source) error {
	l.Inputs.Catalogs = []Catalog{}
	for _, s := range sources {
		c := Catalog{Name: s.Name, Namespace: s.Namespace, Priority: s.Priority}
		if s.Err == nil {
			var err error
			if c.Digest, err = catalogDigest(ctx, s.Catalog); err != nil {
				return fmt.Errorf("catalog %s: %w", s.SourceKey, err)
			}
		}
		l.Inputs.Catalogs = append(l.Inputs.Catalogs, c)
	}
	return nil
}

// request records what is requested, and what is installed.
func (l *Lock) request(r *olm.Resolver, req *olm.Request) {
	l.Inputs.Subscriptions, l.Inputs.Installed = []Subscription{}, []Installed{}
	for _, s := range r.Order(req) {
		l.Inputs.Subscriptions = append(l.Inputs.Subscriptions, Subscription{
			Name: s.Name, Package: s.Spec.Package, Channel: s.Spec.Channel, Source: s.Spec.Source, SourceNamespace: s.Spec.SourceNamespace,
			StartingCSV: s.Spec.StartingCSV, InstalledCSV: s.Status.InstalledCSV,
		})
	}
	for i := range req.Installed {
		if c := &req.Installed[i]; c.Namespace == req.Namespace && !c.Copied() {
			l.Inputs.Installed = append(l.Inputs.Installed, Installed{c.Name, installedDigest(c)})
		}
	}
	slices.SortFunc(l.Inputs.Installed, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Digest, b.Digest))
	})
}
