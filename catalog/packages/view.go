package packages

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Source is the catalog source of a catalog: views carry its name, namespace,
// labels and age.
type Source struct {
	fairlead.ObjectMeta
	DisplayName string // for people
	Publisher   string // for people
}

// Omission is a part of a catalog that views leave out, as OLM's package server
// does.
type Omission struct {
	Package string `json:"package"`           // whose
	Channel string `json:"channel,omitempty"` // empty for the package as a whole
	Why     string `json:"why"`               // in a sentence
}

// List returns the views of all packages of a catalog, by name, and what they
// leave out. It reads the head of each channel. The error is that of ctx or of
// reading.
func List(ctx context.Context, c *catalog.Catalog, from *Source) (*PackageManifestList, []Omission, error) {
	list := &PackageManifestList{TypeMeta: fairlead.TypeMeta{APIVersion: Group + "/" + Version, Kind: Kind + "List"}}
	var out []Omission
	for p := range c.Packages() {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		m, without, err := Of(p, from)
		if err != nil {
			return nil, nil, err
		}
		if out = append(out, without...); m != nil {
			list.Items = append(list.Items, *m)
		}
	}
	return list, out, nil
}

// Of returns the view of a package, or nil if it has no channel that can be shown,
// and what it leaves out, by channel: a channel needs one head, whose bundle has a
// CSV, as manifest or as olm.csv.metadata. The error is that of reading.
//
// The fields are those that OLM's package server fills in, with one difference:
// what the server lists in map order is sorted here.
func Of(p *catalog.Package, from *Source) (*PackageManifest, []Omission, error) {
	deprecated, err := deprecations(p)
	if err != nil {
		return nil, nil, err
	}
	m := &PackageManifest{
		TypeMeta: fairlead.TypeMeta{APIVersion: Group + "/" + Version, Kind: Kind},
		ObjectMeta: fairlead.ObjectMeta{
			Name: p.Name(), Namespace: from.Namespace, CreationTimestamp: from.CreationTimestamp, Labels: map[string]string{},
		},
		Status: Status{
			CatalogSource: from.Name, CatalogSourceNamespace: from.Namespace,
			CatalogSourceDisplayName: from.DisplayName, CatalogSourcePublisher: from.Publisher,
			PackageName: p.Name(), DefaultChannel: p.DefaultChannel(), Deprecation: deprecated[catalog.Reference{Schema: catalog.SchemaPackage}],
		},
	}
	var out []Omission
	var main *csv // of the default channel, or of the first
	elided := false
	for _, ch := range slices.SortedFunc(p.Channels(), func(a, b *catalog.Channel) int { return cmp.Compare(a.Name(), b.Name()) }) {
		head, why, err := headOf(ch)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			out = append(out, Omission{p.Name(), ch.Name(), why})
			elided = elided || ch.Name() == p.DefaultChannel()
			continue
		}
		if main == nil || ch.Name() == p.DefaultChannel() {
			main = head
		}
		m.Status.Channels = append(m.Status.Channels, Channel{
			Name: ch.Name(), CurrentCSV: head.name, CurrentCSVDesc: head.Description, Entries: entries(ch, deprecated),
			Deprecation: deprecated[catalog.Reference{Schema: catalog.SchemaChannel, Name: ch.Name()}],
		})
	}
	if main == nil {
		return nil, append(out, Omission{Package: p.Name(), Why: "no channel of it can be shown"}), nil
	}
	if elided {
		m.Status.DefaultChannel = m.Status.Channels[0].Name
	}
	m.Status.Provider = main.Provider
	label(m.Labels, from, main)
	return m, out, nil
}

// deprecations returns the deprecations in a package.
func deprecations(p *catalog.Package) (map[catalog.Reference]*Deprecation, error) {
	list, err := p.Deprecations()
	all := map[catalog.Reference]*Deprecation{}
	for _, d := range list {
		if d.Reference.Schema == catalog.SchemaPackage {
			d.Reference.Name = ""
		}
		all[d.Reference] = &Deprecation{d.Message}
	}
	return all, err
}

// headOf returns the CSV of a channel's head, or says why there is none.
func headOf(ch *catalog.Channel) (head *csv, why string, err error) {
	heads := ch.Heads()
	if len(heads) != 1 {
		return nil, "it has " + words.Count(len(heads), "head", "heads") + ", and needs one", nil
	}
	b, ok := ch.Package().Bundle(heads[0])
	if !ok {
		return nil, "there is no bundle " + heads[0] + ", which is its head", nil
	}
	head, err = describe(b)
	if bad := (*csvError)(nil); errors.As(err, &bad) {
		return nil, bad.Error(), nil
	}
	return head, "", err
}

// entries returns the bundles of a channel, except for those that the old property
// olm.deprecated hides.
func entries(ch *catalog.Channel, deprecated map[catalog.Reference]*Deprecation) []Entry {
	var list []Entry
	for _, e := range ch.Entries() {
		b, ok := ch.Package().Bundle(e.Name)
		if !ok || slices.ContainsFunc(b.Document().PropertyIndex(), func(p catalog.Property) bool { return p.Type == "olm.deprecated" }) {
			continue
		}
		list = append(list, Entry{b.Name(), b.Version(), deprecated[catalog.Reference{Schema: catalog.SchemaBundle, Name: b.Name()}]})
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(semverx.Tolerant(b.Version).Compare(semverx.Tolerant(a.Version)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// label adds the labels of a view: those of the catalog source, the catalog, the
// provider of the operator, and those of its CSV. A CSV that names no operating
// system or architecture is for Linux on amd64.
func label(labels map[string]string, from *Source, main *csv) {
	maps.Copy(labels, from.Labels)
	labels["catalog"], labels["catalog-namespace"] = from.Name, from.Namespace
	labels["provider"], labels["provider-url"] = main.Provider.Name, main.Provider.URL
	maps.Copy(labels, main.labels)
	for prefix, usual := range map[string]string{"operatorframework.io/os": ".linux", "operatorframework.io/arch": ".amd64"} {
		named := false
		for name := range labels {
			named = named || strings.HasPrefix(name, prefix)
		}
		if !named {
			labels[prefix+usual] = "supported"
		}
	}
}
