package olm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// A scenario is a world in text form, one line for each item:
//
//	catalog NAME [ns=NS] [priority=N] [broken=REASON] [disabled] [label=NAME]
//	PACKAGE CHANNEL: HEAD -> NEXT -> ..., HEAD -> ...   the channel's chains; "CHANNEL*:" is the default
//	BUNDLE: ATTRIBUTE; ATTRIBUTE ...                    of the catalog above
//	subscription NAME PACKAGE[/CHANNEL] [source=NS/NAME] [starting=CSV] [installed=CSV]
//	csv NAME: ATTRIBUTE; ATTRIBUTE ...                  installed
//	extension PACKAGE [channels=A,B] [installed=NAME@VERSION[@RELEASE]] [self-certified]
//	          [explicit-release] [requirements] [label=NAME] [version=RANGE]
//	group [exclude-global] [fail-forward]
//	suppose subscription ... | unsubscribe NAME | uninstall CSV | ban BUNDLE | pin PACKAGE BUNDLE-OR-VERSION |
//	        without NS/NAME | catalog ...               (which the lines that follow describe)
//	options [partial] [tolerate] [cross] [keep-order] [not-excludes] [global=NS]
//	        [forbid=PACKAGE] [cluster=VERSION]
//
// Attributes: provides API ..., requires api API, requires package NAME RANGE,
// requires label NAME, constraint JSON, label NAME, deprecated, version V,
// property TYPE JSON, and of bundles: skips NAME ..., skipRange RANGE, discouraged, release R; of CSVs:
// package NAME VERSION, phase PHASE, replaces NAME, copied, owns and needs CRD/VERSION/KIND
// and serves GROUP/VERSION/KIND (bare: without the annotation of properties), bare.
//
// An API is KIND, KIND.VERSION or KIND.VERSION.GROUP. A version that is not
// given is taken from the name: a.v3 has 3.0.0.
type scenario struct {
	said      *golden.Words // nil asserts sentences as they are
	sources   []olm.Source
	request   *olm.Request
	extension *olm.Extension
	options   olm.Options
	supposed  olm.Supposition

	catalogs []*sCatalog
}

type sCatalog struct {
	olm.Source
	supposed bool
	channels []sChannel
	bundles  map[string]*sBundle
}

type sChannel struct {
	pkg, name string
	isDefault bool
	entries   [][2]string // name, replaces
}

type sBundle struct {
	name, version string
	props, skips  []string
	skipRange     string
	release       string
	discouraged   bool
}

func parseScenario(t testing.TB, text string) *scenario {
	t.Helper()
	s := &scenario{request: &olm.Request{Namespace: testNamespace}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.line(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	for _, c := range s.catalogs {
		if c.Err == nil {
			c.Catalog = samples.Text(t, c.text())
		}
		if c.supposed {
			s.supposed.Catalogs = append(s.supposed.Catalogs, c.Source)
			continue
		}
		s.sources = append(s.sources, c.Source)
	}
	return s
}

func (s *scenario) line(line string) error {
	head, rest, colon := strings.Cut(line, ":")
	words := strings.Fields(line)
	switch {
	case words[0] == "catalog":
		return s.catalog(words[1:])
	case words[0] == "suppose":
		return s.suppose(words[1], words[2:])
	case words[0] == "extension":
		return s.extend(words[1:])
	case words[0] == "subscription":
		return s.subscription(words[1:])
	case words[0] == "group":
		return s.group(words[1:])
	case words[0] == "options":
		return s.option(words[1:])
	case words[0] == "csv":
		return s.csv(strings.Fields(head)[1], rest)
	case !colon:
		return errors.New("no such line")
	}
	c := s.catalogs[len(s.catalogs)-1]
	if names := strings.Fields(head); len(names) == 2 {
		return c.channel(names[0], names[1], rest)
	}
	return c.bundle(strings.TrimSpace(head)).attributes(rest, nil)
}

func (s *scenario) catalog(words []string) error {
	c := &sCatalog{bundles: map[string]*sBundle{}}
	c.Name = words[0]
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "ns":
			c.Namespace = value
		case "priority":
			c.Priority, _ = strconv.Atoi(value)
		case "disabled":
			c.Disabled = true
		case "label":
			c.Labels = map[string]string{value: ""}
		case "broken":
			c.Err = errors.New(value)
		default:
			return fmt.Errorf("no such word: %s", w)
		}
	}
	s.catalogs = append(s.catalogs, c)
	return nil
}

func (s *scenario) subscription(words []string) error {
	sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Name: words[0], Namespace: testNamespace}}
	sub.Spec.Package, sub.Spec.Channel, _ = strings.Cut(words[1], "/")
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "source":
			sub.Spec.SourceNamespace, sub.Spec.Source, _ = strings.Cut(value, "/")
		case "starting":
			sub.Spec.StartingCSV = value
		case "installed":
			sub.Status.InstalledCSV, sub.Status.CurrentCSV = value, value
		case "ns":
			sub.Namespace = value
		default:
			return fmt.Errorf("no such word: %s", w)
		}
	}
	s.request.Subscriptions = append(s.request.Subscriptions, sub)
	return nil
}

// suppose reads a part of the supposition.
func (s *scenario) suppose(what string, words []string) error {
	p := &s.supposed
	switch what {
	case "subscription":
		subs := s.request.Subscriptions
		err := s.subscription(words)
		p.Subscribe, s.request.Subscriptions = append(p.Subscribe, s.request.Subscriptions[len(subs)]), subs
		return err
	case "unsubscribe":
		p.Unsubscribe = append(p.Unsubscribe, words...)
	case "uninstall":
		p.Uninstall = append(p.Uninstall, words...)
	case "ban":
		p.Ban = append(p.Ban, words...)
	case "pin":
		pin := olm.Pin{Package: words[0], Version: words[1]}
		if strings.Contains(words[1], ".v") {
			pin = olm.Pin{Package: words[0], Name: words[1]}
		}
		p.Pin = append(p.Pin, pin)
	case "without":
		namespace, name, _ := strings.Cut(words[0], "/")
		p.WithoutCatalogs = append(p.WithoutCatalogs, olm.SourceKey{Name: name, Namespace: namespace})
	case "catalog":
		err := s.catalog(words)
		s.catalogs[len(s.catalogs)-1].supposed = true
		return err
	default:
		return fmt.Errorf("no such supposition: %s", what)
	}
	return nil
}

// extend reads an extension; the version, which may contain spaces, comes last.
func (s *scenario) extend(words []string) error {
	x := &olm.Extension{Package: words[0]}
	s.extension = x
	for i, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "channels":
			x.Channels = strings.Split(value, ",")
		case "installed":
			part := strings.SplitN(value, "@", 3)
			x.Installed = &olm.InstalledBundle{Name: part[0], Version: part[1]}
			if len(part) == 3 {
				x.Installed.Release = &part[2]
			}
		case "self-certified":
			x.SelfCertified = true
		case "explicit-release":
			x.ExplicitRelease = true
		case "requirements":
			x.AllowRequirements = true
		case "label":
			x.Catalogs = func(s *olm.Source) bool { _, ok := s.Labels[value]; return ok }
		case "version":
			x.Version = strings.Join(append([]string{value}, words[i+2:]...), " ")
			return nil
		default:
			return fmt.Errorf("no such word: %s", w)
		}
	}
	return nil
}

func (s *scenario) group(words []string) error {
	s.request.Group = &olm.OperatorGroup{ObjectMeta: olm.ObjectMeta{Annotations: map[string]string{}}}
	for _, w := range words {
		switch w {
		case "exclude-global":
			s.request.Group.Annotations[olm.ExcludeGlobalNamespaceAnnotation] = "true"
		case "fail-forward":
			s.request.Group.Spec.UpgradeStrategy = olm.UpgradeFailForward
		default:
			return fmt.Errorf("no such word: %s", w)
		}
	}
	return nil
}

func (s *scenario) option(words []string) error {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "partial":
			s.options.PartialOK = true
		case "tolerate":
			s.options.TolerateUnhealthy = true
		case "not-excludes":
			s.options.NotExcludes = true
		case "cluster":
			s.options.Variables = map[string]any{"cluster": map[string]string{"version": value}}
		case "cross":
			s.options.CrossCatalogUpdates = true
		case "keep-order":
			s.options.KeepOrder = true
		case "global":
			s.options.GlobalNamespace = value
		case "forbid":
			s.options.Forbid = func(c olm.Candidate) string {
				if c.Package == value {
					return value + " is not on the list"
				}
				return ""
			}
		default:
			return fmt.Errorf("no such word: %s", w)
		}
	}
	return nil
}

func (s *scenario) csv(name, attributes string) error {
	csv := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: name, Namespace: testNamespace}}
	b := newBundle(name)
	bare := false
	err := b.attributes(attributes, func(words []string) bool {
		switch words[0] {
		case "package":
			b.props = append(b.props, property("olm.package", fmt.Sprintf(`{"packageName":%q,"version":%q}`, words[1], strings.Join(words[2:], ""))))
		case "phase":
			csv.Status.Phase = olm.Phase(words[1])
		case "replaces":
			csv.Spec.Replaces = words[1]
		case "ns":
			csv.Namespace = words[1]
		case "copied":
			csv.Status.Reason = olm.ReasonCopied
		case "bare":
			bare = true
		case "serves":
			part := strings.Split(words[1], "/")
			apis := &csv.Spec.APIServiceDefinitions
			apis.Owned = append(apis.Owned, olm.APIServiceDescription{Group: part[0], Version: part[1], Kind: part[2]})
		case "owns", "needs":
			part := strings.Split(words[1], "/")
			d := olm.CRDDescription{Name: part[0], Version: part[1], Kind: part[2]}
			crds := &csv.Spec.CustomResourceDefinitions
			if words[0] == "owns" {
				crds.Owned = append(crds.Owned, d)
			} else {
				crds.Required = append(crds.Required, d)
			}
		default:
			return false
		}
		return true
	})
	csv.Spec.Version = b.version
	if !bare {
		csv.Annotations = map[string]string{olm.PropertiesAnnotation: `{"properties":[` + strings.Join(b.props, ",") + `]}`}
	}
	s.request.Installed = append(s.request.Installed, csv)
	return err
}

func newBundle(name string) *sBundle {
	b := &sBundle{name: name}
	if _, v, ok := strings.Cut(name, ".v"); ok {
		for strings.Count(v, ".") < 2 {
			v += ".0"
		}
		b.version = v
	}
	return b
}

func (c *sCatalog) bundle(name string) *sBundle {
	b := c.bundles[name]
	if b == nil {
		b = newBundle(name)
		c.bundles[name] = b
	}
	return b
}

func (c *sCatalog) channel(pkg, name, chains string) error {
	ch := sChannel{pkg: pkg, name: strings.TrimSuffix(name, "*"), isDefault: strings.HasSuffix(name, "*")}
	for chain := range strings.SplitSeq(chains, ",") {
		links := strings.Split(chain, "->")
		for i := range links {
			links[i] = strings.TrimSpace(links[i])
		}
		for i, link := range links {
			if strings.HasPrefix(link, "(") { // named, but not present
				continue
			}
			replaces := ""
			if i+1 < len(links) {
				replaces = strings.Trim(links[i+1], "()")
			}
			ch.entries = append(ch.entries, [2]string{link, replaces})
			c.bundle(link)
		}
	}
	c.channels = append(c.channels, ch)
	return nil
}

// attributes adds attributes to a bundle; more handles the others.
func (b *sBundle) attributes(text string, more func([]string) bool) error {
	for attribute := range strings.SplitSeq(text, ";") {
		words := strings.Fields(attribute)
		if len(words) == 0 {
			continue
		}
		after := func(n int) string { return strings.Join(words[n:], " ") }
		add := func(kind, value string) { b.props = append(b.props, property(kind, value)) }
		switch key := words[0]; {
		case key == "provides":
			for _, api := range words[1:] {
				add("olm.gvk", apiValue(api))
			}
		case key == "requires" && words[1] == "api":
			add("olm.gvk.required", apiValue(words[2]))
		case key == "requires" && words[1] == "label":
			add("olm.label.required", fmt.Sprintf(`{"label":%q}`, words[2]))
		case key == "requires":
			add("olm.package.required", fmt.Sprintf(`{"packageName":%q,"versionRange":%q}`, words[2], after(3)))
		case key == "constraint":
			add("olm.constraint", after(1))
		case key == "label":
			add("olm.label", fmt.Sprintf(`{"label":%q}`, words[1]))
		case key == "property":
			add(words[1], after(2))
		case key == "deprecated":
			add("olm.deprecated", "{}")
		case key == "version":
			b.version = after(1)
		case key == "skips":
			b.skips = append(b.skips, words[1:]...)
		case key == "discouraged":
			b.discouraged = true
		case key == "release":
			b.release = after(1) // "-" for an explicitly empty one
		case key == "skipRange":
			b.skipRange = after(1)
		case more == nil || !more(words):
			return fmt.Errorf("no such attribute: %s", attribute)
		}
	}
	return nil
}

func apiValue(api string) string {
	part := append(strings.SplitN(api, ".", 3), "v1", "g")
	if len(part) == 4 {
		part[2] = "g"
	}
	return fmt.Sprintf(`{"group":%q,"version":%q,"kind":%q}`, part[2], part[1], part[0])
}

// text writes the catalog in its file format.
func (c *sCatalog) text() string {
	var b strings.Builder
	written := map[string]bool{}
	for _, ch := range c.channels {
		if i := slices.IndexFunc(c.channels, func(o sChannel) bool { return o.pkg == ch.pkg && o.isDefault }); !written[ch.pkg] {
			written[ch.pkg] = true
			standard := ch.name
			if i >= 0 {
				standard = c.channels[i].name
			}
			fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":%q}`+"\n", ch.pkg, standard)
		}
		var entries []string
		for _, e := range ch.entries {
			x := c.bundles[e[0]]
			skips, _ := json.Marshal(x.skips) // strings only: cannot fail
			entries = append(entries, fmt.Sprintf(`{"name":%q,"replaces":%q,"skips":%s,"skipRange":%q}`, e[0], e[1], skips, x.skipRange))
			if key := ch.pkg + "/" + e[0]; !written[key] {
				written[key] = true
				pkg := fmt.Sprintf(`{"packageName":%q,"version":%q}`, ch.pkg, x.version)
				if x.release != "" {
					pkg = fmt.Sprintf(`{"packageName":%q,"version":%q,"release":%q}`, ch.pkg, x.version, strings.Trim(x.release, "-"))
				}
				props := append([]string{property("olm.package", pkg)}, x.props...)
				if x.discouraged {
					fmt.Fprintf(&b, `{"schema":"olm.deprecations","package":%q,"entries":[{"reference":{"schema":"olm.bundle","name":%q},"message":"move on"}]}`+"\n", ch.pkg, e[0])
				}
				fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"i/%s","properties":[%s]}`+"\n",
					ch.pkg, e[0], e[0], strings.Join(props, ","))
			}
		}
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":%q,"entries":[%s]}`+"\n", ch.pkg, ch.name, strings.Join(entries, ","))
	}
	return b.String()
}
