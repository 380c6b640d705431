package install_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// A shelf is a catalog that tests write in short lines:
//
//	PACKAGE/CHANNEL NAME [replaces=NAME] [skips=(NAME,...)] [range=LOW-HIGH]
//	bundle NAME [provides=(KIND/VERSION,...)] [requires=(KIND/VERSION,...)] [max=VERSION]
//	deprecate PACKAGE/CHANNEL MESSAGE
//
// The first channel of a package is its default. A name is PACKAGE.vMAJOR or
// PACKAGE.vMAJOR.MINOR.PATCH.
type shelf struct {
	packages []string
	defaults map[string]string
	channels map[string][]string // entries, as JSON, by PACKAGE/CHANNEL
	order    []string            // of channels
	bundles  map[string][]string // properties, as JSON, by name
	names    []string            // of bundles
	ends     []string            // deprecations, as JSON
}

func parseShelf(lines string) *shelf {
	s := &shelf{defaults: map[string]string{}, channels: map[string][]string{}, bundles: map[string][]string{}}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "deprecate" {
			s.deprecate(words[1], strings.Join(words[2:], " "))
			continue
		}
		options := map[string][]string{}
		for _, w := range words[2:] {
			key, value, _ := strings.Cut(w, "=")
			options[key] = strings.Split(strings.Trim(value, "()"), ",")
		}
		if words[0] == "bundle" {
			s.bundle(words[1], options["provides"], options["requires"])
			if limit := options["max"]; limit != nil {
				s.bundles[words[1]] = append(s.bundles[words[1]], fmt.Sprintf(`{"type":"olm.maxOpenShiftVersion","value":%q}`, limit[0]))
			}
		} else {
			s.entry(words[0], words[1], options)
		}
	}
	return s
}

func (s *shelf) deprecate(channel, message string) {
	pkg, ch, _ := strings.Cut(channel, "/")
	s.ends = append(s.ends, fmt.Sprintf(`{"schema":"olm.deprecations","package":%q,"entries":[{"reference":{"schema":"olm.channel","name":%q},"message":%q}]}`, pkg, ch, strings.Trim(message, `"`)))
}

func (s *shelf) entry(channel, name string, options map[string][]string) {
	pkg, ch, _ := strings.Cut(channel, "/")
	if s.defaults[pkg] == "" {
		s.packages, s.defaults[pkg] = append(s.packages, pkg), ch
	}
	e := map[string]any{"name": name}
	if r := options["replaces"]; r != nil {
		e["replaces"] = r[0]
	}
	if k := options["skips"]; k != nil {
		e["skips"] = k
	}
	if r := options["range"]; r != nil {
		low, high, _ := strings.Cut(r[0], "-")
		e["skipRange"] = fmt.Sprintf(">=%s <%s", low, high)
	}
	text, _ := json.Marshal(e)
	if s.channels[channel] == nil {
		s.order = append(s.order, channel)
	}
	s.channels[channel] = append(s.channels[channel], string(text))
	s.bundle(name, nil, nil)
}

func (s *shelf) bundle(name string, provides, requires []string) {
	if s.bundles[name] == nil {
		pkg, version, _ := strings.Cut(name, ".v")
		if !strings.Contains(version, ".") {
			version += ".0.0"
		}
		s.names = append(s.names, name)
		s.bundles[name] = []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, pkg, version)}
	}
	for kind, apis := range map[string][]string{"olm.gvk": provides, "olm.gvk.required": requires} {
		for _, api := range apis {
			k, v, _ := strings.Cut(api, "/")
			s.bundles[name] = append(s.bundles[name], fmt.Sprintf(`{"type":%q,"value":{"group":"g.example","version":%q,"kind":%q}}`, kind, v, k))
		}
	}
	slices.Sort(s.bundles[name]) // the map above has no order
}

// sources returns the shelf as the one catalog of a cluster.
func (s *shelf) sources(t testing.TB) []olm.Source {
	t.Helper()
	var b strings.Builder
	for _, p := range s.packages {
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":%q}`+"\n", p, s.defaults[p])
	}
	for _, c := range s.order {
		pkg, ch, _ := strings.Cut(c, "/")
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":%q,"entries":[%s]}`+"\n", pkg, ch, strings.Join(s.channels[c], ","))
	}
	for _, n := range s.names {
		pkg, _, _ := strings.Cut(n, ".v")
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"example.com/%s","properties":[%s]}`+"\n", pkg, n, n, strings.Join(s.bundles[n], ","))
	}
	b.WriteString(strings.Join(s.ends, "\n"))
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(b.String())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []olm.Source{{SourceKey: olm.SourceKey{Name: "shelf"}, Catalog: held}}
}
