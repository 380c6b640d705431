package catalog_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/internal/golden"
)

// TestPictureScripts draws the package foo of the input's catalog.
func TestPictureScripts(t *testing.T) {
	golden.Run(t, "testdata/picture/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			cat, err := catalog.Open(context.Background(), scriptFiles(c.Input), nil)
			if err != nil {
				t.Fatalf("%s: %v", c.Pos, err)
			}
			p, _ := cat.Package("foo")
			var out strings.Builder
			if err := picture(p, c.Name, &out, &draw.Options{Channels: c.Values("channel")}); err != nil {
				return "error: " + err.Error()
			}
			return out.String()
		}
	})
}

func picture(p *catalog.Package, format string, w io.Writer, opts *draw.Options) error {
	switch format {
	case "mermaid":
		return draw.Mermaid(context.Background(), w, p, opts)
	case "dot":
		return draw.DOT(context.Background(), w, p, opts)
	case "svg":
		return draw.SVG(context.Background(), w, p, opts)
	}
	return errors.New("no format " + format)
}

// TestPictureAlways: whatever the names, an SVG is well-formed XML, and all
// pictures are the same each time.
func TestPictureAlways(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 100 {
		s := newSynth(r)
		text := s.text()
		if r.IntN(2) == 0 {
			text = strings.ReplaceAll(text, `.v1.1.0"`, `.v1.1.0<>&'\u0001\ud83d\ude00`+strings.Repeat("x", r.IntN(60))+`"`)
		}
		for _, format := range []string{"svg", "mermaid", "dot"} {
			var first string
			for range 2 {
				for p := range openText(t, text).Packages() {
					var b strings.Builder
					if err := picture(p, format, &b, nil); err != nil {
						t.Fatal(err)
					}
					if p.Name() != "a" {
						continue
					}
					if first == "" {
						first = b.String()
					}
					if b.String() != first {
						t.Fatalf("%s differs from one time to the next", format)
					}
					if format == "svg" {
						wellFormed(t, first)
					}
				}
			}
		}
	}
	p, _ := openText(t, filterInput).Package("foo")
	for _, format := range []string{"svg", "mermaid", "dot"} {
		if err := picture(p, format, &failing{50}, nil); err == nil || err.Error() != "disk full" {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func wellFormed(t *testing.T, text string) {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}
