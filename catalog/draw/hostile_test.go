package draw_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/internal/words"
)

// Names in pictures are text, whatever they contain.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{`</text><script>FORGED</script>`, `"]; click n0 href "javascript:FORGED"`, "a\nFORGED", "\u202ea\x7f", `" onload="FORGED`, `\`, "]]>", "\x00"} {
		var text strings.Builder
		for _, doc := range []map[string]any{
			{"schema": "olm.package", "name": "kiln", "defaultChannel": name},
			{"schema": "olm.channel", "package": "kiln", "name": name, "entries": []any{map[string]any{"name": name}, map[string]any{"name": name + "2", "replaces": name, "skips": []any{name + "3"}}}},
		} {
			line, _ := json.Marshal(doc)
			text.Write(append(line, '\n'))
		}
		c, err := catalog.Open(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text.String())}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := c.Package("kiln")
		for form, write := range map[string]func(context.Context, io.Writer, *catalog.Package, *draw.Options) error{"svg": draw.SVG, "dot": draw.DOT, "mermaid": draw.Mermaid} {
			var b strings.Builder
			if err := write(t.Context(), &b, p, nil); err != nil {
				t.Fatal(err)
			}
			out := b.String()
			if words.Visible(out) != out {
				t.Errorf("%s of %q has hidden characters", form, name)
			}
			for line := range strings.Lines(out) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "FORGED") || strings.HasPrefix(line, "click") {
					t.Errorf("%s of %q: a name begins a line: %s", form, name, line)
				}
			}
			if form == "svg" {
				elements(t, out)
			}
		}
	}
}

// elements checks that an image consists of what draws.
func elements(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v: %s", err, svg)
		}
		if e, is := token.(xml.StartElement); is {
			if !strings.Contains(" svg style title text rect path g defs marker line polygon circle ", " "+e.Name.Local+" ") {
				t.Errorf("element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					t.Errorf("attribute %s", a.Name.Local)
				}
			}
		}
	}
}
