package catalog_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// realPackages visits the packages of real catalogs.
func realPackages(t testing.TB, visit func(where string, p *catalog.Package)) {
	t.Helper()
	archives := []string{"published", "full-sample"}
	if long.Enabled() {
		archives = append(archives, "slim")
	}
	for where, fsys := range samples.Catalogs(t, archives...) {
		if !long.Enabled() && strings.HasPrefix(where, "published/") && where != "published/v4.17" {
			continue
		}
		for p := range samples.Open(t, fsys).Packages() {
			visit(where, p)
		}
	}
}

// nameless matches the box of a head that says how many versions it stands for, and
// not which the head is.
var nameless = regexp.MustCompile(`<rect class="node head[^>]*/><text[^>]*>\d+ versions<`)

var width = regexp.MustCompile(`width="(\d+)" height="(\d+)"`)

// TestWidth: no picture of a real package is wider than 2,000 pixels, and each box
// that is a head says which version that is.
func TestWidth(t *testing.T) {
	type picture struct {
		width, height int
		name, text    string
	}
	var all []picture
	realPackages(t, func(where string, p *catalog.Package) {
		var b strings.Builder
		if err := draw.SVG(t.Context(), &b, p, nil); err != nil {
			t.Fatal(err)
		}
		m := width.FindStringSubmatch(b.String())
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		if x > 2000 {
			t.Errorf("%s: %s is %d pixels wide", where, p.Name(), x)
		}
		if at := nameless.FindString(b.String()); at != "" {
			t.Errorf("%s: %s: which version is the head? %s", where, p.Name(), at)
		}
		all = append(all, picture{x, y, strings.ReplaceAll(where, "/", "-") + "-" + p.Name(), b.String()})
	})
	slices.SortFunc(all, func(a, b picture) int { return b.width*10000 + b.height - a.width*10000 - a.height })
	for _, p := range all[:20] {
		d := xml.NewDecoder(strings.NewReader(p.text))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
		}
		t.Logf("%s: %d x %d", p.name, p.width, p.height)
		if dir := os.Getenv("FAIRLEAD_SHOW"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, p.name+".svg"), []byte(p.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCollapsed: versions in a line become one box, which names them, and the
// lanes stand by version.
func TestCollapsed(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, `{"schema": "olm.package", "name": "p", "defaultChannel": "3.10"}`)
	for _, ch := range []string{"3.10", "3.6"} {
		fmt.Fprintf(&b, `{"schema": "olm.channel", "package": "p", "name": %q, "entries": [`, ch)
		for i := range 60 {
			if i > 0 {
				fmt.Fprintf(&b, `, {"name": "p.v%s.%d", "replaces": "p.v%[1]s.%[3]d"}`, ch, i, i-1)
			} else {
				fmt.Fprintf(&b, `{"name": "p.v%s.0"}`, ch)
			}
		}
		fmt.Fprintln(&b, "]}")
		for i := range 60 {
			fmt.Fprintf(&b, `{"schema": "olm.bundle", "package": "p", "name": "p.v%s.%d", "image": "r.io/p", "properties": [{"type": "olm.package", "value": {"packageName": "p", "version": "%[1]s.%[2]d"}}]}`+"\n", ch, i)
		}
	}
	p, _ := openText(t, b.String()).Package("p")
	var svg strings.Builder
	if err := draw.SVG(t.Context(), &svg, p, nil); err != nil {
		t.Fatal(err)
	}
	text := svg.String()
	for _, label := range []string{">3.6.0–3.6.58<", ">3.10.0–3.10.58<"} {
		if n := strings.Count(text, label); n != 1 {
			t.Errorf("%d boxes %s\n%s", n, label, text)
		}
	}
	if !strings.Contains(text, "59 versions: p.v3.6.0, p.v3.6.1, ") || strings.Index(text, ">3.6<") > strings.Index(text, ">3.10<") {
		t.Error("names are missing, or lanes in the wrong order")
	}
}
