package olm_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// A world is everything that a resolution looks at, as plain values that tests
// write down or draw at random.
type world struct {
	catalogs  []*wCatalog
	subs      []*wSub
	installed []*wCSV
}

type wCatalog struct {
	name, namespace string
	priority        int
	packages        []*wPackage
}

type wPackage struct {
	name, defaultChannel string
	channels             []*wChannel
	bundles              []*wBundle
}

type wChannel struct {
	name    string
	entries []*wEntry
}

type wEntry struct {
	name, replaces string
	skips          []string
	skipRange      span
}

type wBundle struct {
	name       string
	version    int // MAJOR.0.0; 0 means none
	provides   []string
	labels     []string
	needs      []*wNeed
	deprecated bool
	malformed  bool
}

// wNeed is a requirement: one of api, label and pkg, or a compound.
type wNeed struct {
	api, label, pkg string
	versions        span
	all, any, not   []*wNeed
}

// span is the versions from low up to, but not including, high; the zero span
// is none.
type span struct{ low, high int }

func (s span) contains(v int) bool { return v != 0 && s.low <= v && v < s.high }

func (s span) String() string {
	if s == (span{}) {
		return ""
	}
	return fmt.Sprintf(">=%d.0.0 <%d.0.0", s.low, s.high)
}

type wSub struct {
	name, pkg, channel, source, starting, installed string
}

// wCSV is an installed operator with the properties of a bundle.
type wCSV struct {
	*wBundle
	pkg string
}

const testNamespace = "ns"

func gvkOf(api string) string {
	return fmt.Sprintf(`{"group":"g","version":"v1","kind":%q}`, api)
}

func property(kind, value string) string {
	return fmt.Sprintf(`{"type":%q,"value":%s}`, kind, value)
}

// constraint writes a need as an olm.constraint.
func (n *wNeed) constraint() string {
	list := func(needs []*wNeed) string {
		var all []string
		for _, n := range needs {
			all = append(all, n.constraint())
		}
		return `{"constraints":[` + strings.Join(all, ",") + `]}`
	}
	switch {
	case n.all != nil:
		return `{"all":` + list(n.all) + `}`
	case n.any != nil:
		return `{"any":` + list(n.any) + `}`
	case n.not != nil:
		return `{"not":` + list(n.not) + `}`
	case n.api != "":
		return `{"gvk":` + gvkOf(n.api) + `}`
	}
	return fmt.Sprintf(`{"package":{"packageName":%q,"versionRange":%q}}`, n.pkg, n.versions)
}

func (n *wNeed) property() string {
	switch {
	case n.label != "":
		return property("olm.label.required", fmt.Sprintf(`{"label":%q}`, n.label))
	case n.api != "":
		return property("olm.gvk.required", gvkOf(n.api))
	case n.pkg != "":
		return property("olm.package.required", fmt.Sprintf(`{"packageName":%q,"versionRange":%q}`, n.pkg, n.versions))
	}
	return property("olm.constraint", n.constraint())
}

func versionText(v int) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%d.0.0", v)
}

func (b *wBundle) properties(pkg string) []string {
	props := []string{property("olm.package", fmt.Sprintf(`{"packageName":%q,"version":%q}`, pkg, versionText(b.version)))}
	for _, api := range b.provides {
		props = append(props, property("olm.gvk", gvkOf(api)))
	}
	for _, l := range b.labels {
		props = append(props, property("olm.label", fmt.Sprintf(`{"label":%q}`, l)))
	}
	if b.deprecated {
		props = append(props, property("olm.deprecated", `{}`))
	}
	if b.malformed {
		props = append(props, property("olm.package.required", `{"packageName":"x","versionRange":"^1"}`))
	}
	for _, n := range b.needs {
		props = append(props, n.property())
	}
	return props
}

// json writes the catalog in its file format.
func (c *wCatalog) json() string {
	var b strings.Builder
	for _, p := range c.packages {
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":%q}`+"\n", p.name, p.defaultChannel)
		for _, ch := range p.channels {
			type entry struct {
				Name      string   `json:"name"`
				Replaces  string   `json:"replaces,omitempty"`
				Skips     []string `json:"skips,omitempty"`
				SkipRange string   `json:"skipRange,omitempty"`
			}
			var entries []entry
			for _, e := range ch.entries {
				entries = append(entries, entry{e.name, e.replaces, e.skips, e.skipRange.String()})
			}
			text, _ := json.Marshal(entries)
			fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":%q,"entries":%s}`+"\n", p.name, ch.name, text)
		}
		for _, x := range p.bundles {
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"i/%s","properties":[%s]}`+"\n",
				p.name, x.name, x.name, strings.Join(x.properties(p.name), ","))
		}
	}
	return b.String()
}

// request returns the request for the world.
func (w *world) request() *olm.Request {
	req := &olm.Request{Namespace: testNamespace}
	for _, s := range w.subs {
		sub := olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: s.name, Namespace: testNamespace},
			Spec:       olm.SubscriptionSpec{Package: s.pkg, Channel: s.channel, StartingCSV: s.starting},
			Status:     olm.SubscriptionStatus{InstalledCSV: s.installed, CurrentCSV: s.installed},
		}
		for _, c := range w.catalogs {
			if s.source != "" && c.name == s.source {
				sub.Spec.Source, sub.Spec.SourceNamespace = c.name, c.namespace
			}
		}
		req.Subscriptions = append(req.Subscriptions, sub)
	}
	for _, c := range w.installed {
		req.Installed = append(req.Installed, olm.ClusterServiceVersion{
			ObjectMeta: olm.ObjectMeta{
				Name:        c.name,
				Namespace:   testNamespace,
				Annotations: map[string]string{olm.PropertiesAnnotation: `{"properties":[` + strings.Join(c.properties(c.pkg), ",") + `]}`},
			},
			Spec: olm.CSVSpec{Version: versionText(c.version)},
		})
	}
	return req
}

// String returns the world as text for the report of a failure.
func (w *world) String() string {
	var b strings.Builder
	for _, c := range w.catalogs {
		fmt.Fprintf(&b, "catalog %s/%s priority %d\n%s", c.namespace, c.name, c.priority, c.json())
	}
	for _, s := range w.subs {
		fmt.Fprintf(&b, "%+v\n", *s)
	}
	for _, c := range w.installed {
		fmt.Fprintf(&b, "installed %s of %s: %s\n", c.name, c.pkg, strings.Join(c.properties(c.pkg), " "))
	}
	return b.String()
}
