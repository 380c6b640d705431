package fbc

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// row is a row of a list: an object with -o json.
type row interface {
	cells() []string // as text
}

// rows are the kinds of lists: the names of the columns, and the rows of a package.
var rows = map[string]struct {
	head string
	of   func(*call, *catalog.Package) ([]row, error)
}{
	"packages": {"NAME\tDISPLAY NAME\tDEFAULT CHANNEL", packageRow},
	"channels": {"PACKAGE\tCHANNEL\tHEAD", channelRows},
	"bundles":  {"PACKAGE\tCHANNEL\tBUNDLE\tREPLACES\tSKIPS\tSKIP RANGE\tIMAGE", bundleRows},
	"sizes":    {"PACKAGE\tBUNDLES\tBYTES\tMANIFESTS\tCSV METADATA\tICON", sizeRow},
}

func list(c *call) error {
	format := c.Choice("o", "text", "json")
	if err := c.Parse(1, 3); err != nil {
		return err
	}
	what, path := c.Arg(0), c.Arg(1)
	if _, err := os.Stat(what); path == "" {
		if _, forgotten := rows[what]; forgotten && err != nil {
			return &args.UsageError{Text: "list " + what + " of which catalog? Name its PATH after that"}
		}
		what, path = "packages", what
	}
	kind, ok := rows[what]
	if !ok {
		return &args.UsageError{Text: fmt.Sprintf("list packages, channels, bundles or sizes, not %q", what)}
	}
	cat, err := c.openSound(path)
	if err != nil {
		return err
	}
	packages := cat.Packages()
	if c.Arg(2) != "" {
		p, err := pkg(cat, c.Arg(2))
		if err != nil {
			return err
		}
		packages = one(p)
	}
	found := []row{}
	for p := range packages {
		some, err := kind.of(c, p)
		if err != nil {
			return err
		}
		found = append(found, some...)
	}
	if *format == "json" {
		err = c.JSON(found)
	} else {
		err = printRows(c, kind.head, found)
	}
	if err != nil {
		return err
	}
	return sound(cat, c.Arg(2))
}

// printRows prints rows below the names of their columns.
func printRows(c *call, head string, found []row) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	words.Fprintf(w, "%s\n", words.Text(head))
	for _, r := range found {
		for i, cell := range r.cells() {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			words.Fprintf(w, "%s", cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func one(p *catalog.Package) iter.Seq[*catalog.Package] {
	return func(yield func(*catalog.Package) bool) { yield(p) }
}

// listedPackage is a package, with the display name from the head of its default channel.
type listedPackage struct {
	Name           string `json:"name"`
	DisplayName    string `json:"displayName,omitempty"`
	DefaultChannel string `json:"defaultChannel,omitempty"`
}

func (p listedPackage) cells() []string { return []string{p.Name, p.DisplayName, p.DefaultChannel} }

func packageRow(_ *call, p *catalog.Package) ([]row, error) {
	r := listedPackage{Name: p.Name(), DefaultChannel: p.DefaultChannel()}
	if ch, ok := p.Channel(r.DefaultChannel); ok {
		for _, head := range ch.Heads() {
			if b, ok := p.Bundle(head); ok && r.DisplayName == "" {
				var err error
				if r.DisplayName, err = b.DisplayName(); err != nil {
					return nil, err
				}
			}
		}
	}
	return []row{r}, nil
}

// listedSize is the size of a package.
type listedSize struct{ edit.Size }

func (s listedSize) cells() []string {
	cells := []string{s.Package}
	for _, n := range []int{s.Bundles, s.Bytes, s.Objects, s.Metadata, s.Icon} {
		cells = append(cells, fmt.Sprint(n))
	}
	return cells
}

func sizeRow(c *call, p *catalog.Package) ([]row, error) {
	s, err := edit.SizeOf(c.Context, p)
	return []row{listedSize{s}}, err
}

// listedChannel is a channel with its heads, of which there should be one.
type listedChannel struct {
	Package string   `json:"package"`
	Channel string   `json:"channel"`
	Heads   []string `json:"heads"`
}

func (ch listedChannel) cells() []string {
	head := cmp.Or(strings.Join(ch.Heads, ", "), "(none)")
	if len(ch.Heads) > 1 {
		head += " (several)"
	}
	return []string{ch.Package, ch.Channel, head}
}

func channelRows(_ *call, p *catalog.Package) (found []row, err error) {
	for ch := range p.Channels() {
		found = append(found, listedChannel{p.Name(), ch.Name(), append([]string{}, ch.Heads()...)})
	}
	return found, nil
}

// listedBundle is an entry of a channel, with the image of its bundle.
type listedBundle struct {
	Package   string   `json:"package"`
	Channel   string   `json:"channel"`
	Bundle    string   `json:"bundle"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
	Image     string   `json:"image,omitempty"`
}

func (b listedBundle) cells() []string {
	return []string{b.Package, b.Channel, b.Bundle, b.Replaces, strings.Join(b.Skips, ","), b.SkipRange, b.Image}
}

func bundleRows(_ *call, p *catalog.Package) (found []row, err error) {
	for ch := range p.Channels() {
		for _, e := range ch.Entries() {
			r := listedBundle{Package: p.Name(), Channel: ch.Name(), Bundle: e.Name, Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange}
			if b, ok := p.Bundle(e.Name); ok {
				r.Image = b.Image()
			}
			found = append(found, r)
		}
	}
	return found, nil
}
