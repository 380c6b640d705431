package resolution

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

const (
	taskNamespace   = "ns"
	globalNamespace = "global"
)

// drawer draws random namespaces with many conflicts.
type drawer struct {
	*rand.Rand
	pkgs, apis []string
	versions   int // of a package, at most
	provide    int // percentage of bundles that provide an API
	subs       int // subscriptions, at least; at most two more
}

type object = map[string]any

// drawn is a bundle as it was drawn.
type drawn struct {
	pkg, name, version string
	properties         []any
	needs              []any
}

// Draw makes the task of a seed. Every fourth has up to eleven packages, the others
// at most five. Channels have one head; subscriptions name their catalog, as the API
// requires; and no skipRange contains its own version, which would make a bundle an
// update of itself.
func Draw(ctx context.Context, seed uint64) (*Task, error) {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 5)), versions: 4, provide: 22, subs: 2}
	packages, apis := 3+d.IntN(3), 3+d.IntN(3)
	if seed%4 == 3 {
		packages, apis, d.versions, d.provide, d.subs = 7+d.IntN(5), 8+d.IntN(5), 6, 10, 3
	}
	for i := range packages {
		d.pkgs = append(d.pkgs, string(rune('a'+i)))
	}
	for i := range apis {
		d.apis = append(d.apis, fmt.Sprintf("K%d", i))
	}
	t := &Task{Global: globalNamespace, Request: &olm.Request{Namespace: taskNamespace}}
	var bundles []*drawn // of the first catalog
	for i := range 1 + d.IntN(5)/3 {
		text, all := d.catalog(i == 0)
		if i == 0 {
			bundles = all
		}
		held, err := openText(ctx, text)
		if err != nil {
			return nil, err
		}
		key := olm.SourceKey{Name: fmt.Sprintf("c%d", i), Namespace: taskNamespace}
		if d.chance(40) {
			key.Namespace = globalNamespace
		}
		t.Sources = append(t.Sources, olm.Source{SourceKey: key, Priority: d.IntN(2), Catalog: held})
	}
	d.install(t, bundles)
	d.subscribe(t)
	return t, nil
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawer) one(of []string) string { return of[d.IntN(len(of))] }

// catalog returns the text of a catalog; the first of a task has every package.
func (d *drawer) catalog(whole bool) (string, []*drawn) {
	var b strings.Builder
	var all []*drawn
	write := writer(&b)
	for _, pkg := range d.pkgs {
		if !whole && d.chance(50) {
			continue
		}
		write(object{"schema": "olm.package", "name": pkg, "defaultChannel": "m"})
		var bundles []*drawn
		for v := range 2 + d.IntN(d.versions-1) {
			x := d.bundle(pkg, v+1)
			bundles = append(bundles, x)
			write(object{"schema": "olm.bundle", "package": pkg, "name": x.name, "image": "i/" + x.name,
				"properties": append(slices.Clone(x.properties), x.needs...)})
		}
		all = append(all, bundles...)
		write(object{"schema": "olm.channel", "package": pkg, "name": "m", "entries": d.channel(bundles)})
		if d.chance(35) {
			write(object{"schema": "olm.channel", "package": pkg, "name": d.one([]string{"b", "x"}), "entries": d.channel(bundles)})
		}
	}
	return b.String(), all
}

// writer returns a function that appends documents of a catalog.
func writer(b *strings.Builder) func(object) {
	return func(o object) {
		text, _ := json.Marshal(o) // plain values: cannot fail
		b.Write(text)
		b.WriteByte('\n')
	}
}

func openText(ctx context.Context, text string) (*catalog.Catalog, error) {
	return catalog.Open(ctx, fstest.MapFS{"c.json": {Data: []byte(text)}}, nil)
}

func property(kind string, value any) any { return object{"type": kind, "value": value} }

func gvk(api string) object { return object{"group": "g", "version": "v1", "kind": api} }

func (d *drawer) bundle(pkg string, v int) *drawn {
	x := &drawn{pkg: pkg, name: fmt.Sprintf("%s.v%d", pkg, v), version: fmt.Sprintf("%d.0.0", v)}
	x.properties = append(x.properties, property("olm.package", object{"packageName": pkg, "version": x.version}))
	for _, api := range d.apis {
		if d.chance(d.provide) {
			x.properties = append(x.properties, property("olm.gvk", gvk(api)))
		}
	}
	if d.chance(25) {
		x.properties = append(x.properties, property("olm.label", object{"label": "l"}))
	}
	if d.chance(2) {
		x.properties = append(x.properties, property("olm.deprecated", object{}))
	}
	for d.chance(45) && len(x.needs) < 3 {
		x.needs = append(x.needs, d.need())
	}
	return x
}

// span returns a range of major versions that is rarely empty.
func (d *drawer) span() string {
	low := 1 + d.IntN(3)
	return fmt.Sprintf(">=%d.0.0 <%d.0.0", low, low+1+d.IntN(3))
}

func (d *drawer) need() any {
	switch n := d.IntN(20); {
	case n < 9:
		return property("olm.gvk.required", gvk(d.one(d.apis)))
	case n < 15:
		return property("olm.package.required", object{"packageName": d.one(d.pkgs), "versionRange": d.span()})
	case n < 16:
		return property("olm.label.required", object{"label": "l"})
	case n < 17:
		rule := fmt.Sprintf(`properties.exists(p, p.type == "olm.package" && p.value.packageName == %q && semver_compare(p.value.version, "%d.0.0") < 0)`,
			d.one(d.pkgs), 2+d.IntN(3))
		return property("olm.constraint", object{"failureMessage": "wanted", "cel": object{"rule": rule}})
	}
	return property("olm.constraint", d.compound())
}

// compound draws a constraint of several parts.
func (d *drawer) compound() object {
	part := func() any {
		if d.chance(60) {
			return object{"gvk": gvk(d.one(d.apis))}
		}
		return object{"package": object{"packageName": d.one(d.pkgs), "versionRange": d.span()}}
	}
	if d.chance(50) {
		return object{"any": object{"constraints": []any{part(), part()}}}
	}
	not := object{"not": object{"constraints": []any{part()}}}
	return object{"all": object{"constraints": []any{part(), not}}}
}

// channel chains some of the bundles, the highest version at the head.
func (d *drawer) channel(bundles []*drawn) []catalog.Entry {
	var entries []catalog.Entry
	for i := len(bundles) - 1; i >= 0; i-- {
		if len(entries) > 0 && d.chance(15) {
			continue
		}
		e := catalog.Entry{Name: bundles[i].name}
		if n := len(entries); n > 0 {
			entries[n-1].Replaces = e.Name
			if d.chance(15) {
				entries[n-1].Skips = []string{e.Name}
			}
		}
		if i > 0 && d.chance(30) {
			e.SkipRange = fmt.Sprintf(">=%d.0.0 <%d.0.0", 1+d.IntN(i), i+1)
		}
		entries = append(entries, e)
	}
	d.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries
}

// install installs some operators, most of them without what they require.
func (d *drawer) install(t *Task, bundles []*drawn) {
	for _, pkg := range d.pkgs {
		if !d.chance(25) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(bundles), func(x *drawn) bool { return x.pkg != pkg })
		x := of[d.IntN(len(of))]
		properties := x.properties
		if d.chance(15) {
			properties = append(slices.Clone(properties), x.needs...)
		}
		text, _ := json.Marshal(object{"properties": properties}) // plain values: cannot fail
		t.Request.Installed = append(t.Request.Installed, olm.ClusterServiceVersion{
			ObjectMeta: olm.ObjectMeta{Name: x.name, Namespace: taskNamespace, Annotations: map[string]string{olm.PropertiesAnnotation: string(text)}},
			Spec:       olm.CSVSpec{Version: x.version},
		})
	}
}

func (d *drawer) subscribe(t *Task) {
	subs := &t.Request.Subscriptions
	for i := range d.subs + d.IntN(3) {
		pkg := d.one(d.pkgs)
		taken := slices.ContainsFunc(*subs, func(s olm.Subscription) bool { return s.Spec.Package == pkg })
		if taken && !d.chance(10) {
			continue
		}
		from := t.Sources[0].SourceKey
		if len(t.Sources) > 1 && d.chance(25) {
			from = t.Sources[1].SourceKey
		}
		s := olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: fmt.Sprintf("s%d", i), Namespace: taskNamespace},
			Spec:       olm.SubscriptionSpec{Package: pkg, Source: from.Name, SourceNamespace: from.Namespace},
		}
		if d.chance(60) {
			s.Spec.Channel = "m"
		}
		for _, csv := range t.Request.Installed {
			if strings.HasPrefix(csv.Name, pkg+".") && d.chance(90) {
				s.Status.InstalledCSV, s.Status.CurrentCSV = csv.Name, csv.Name
			}
		}
		if d.chance(8) {
			s.Spec.StartingCSV = pkg + ".v1"
		}
		*subs = append(*subs, s)
	}
}
