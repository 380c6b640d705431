package fbc

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

func list(c *call) error {
	if err := c.Parse(1, 3); err != nil {
		return err
	}
	what, path := c.Arg(0), c.Arg(1)
	if path == "" {
		what, path = "packages", what
	}
	rows := map[string]func(io.Writer, *catalog.Package) error{"packages": packageRow, "channels": channelRows, "bundles": bundleRows, "sizes": sizeRow(c)}[what]
	if rows == nil {
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
	w := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	words.Fprintf(w, "%s\n", map[string]words.Text{
		"packages": "NAME\tDISPLAY NAME\tDEFAULT CHANNEL", "channels": "PACKAGE\tCHANNEL\tHEAD",
		"bundles": "PACKAGE\tCHANNEL\tBUNDLE\tREPLACES\tSKIPS\tSKIP RANGE\tIMAGE",
		"sizes":   "PACKAGE\tBUNDLES\tBYTES\tMANIFESTS\tCSV METADATA\tICON",
	}[what])
	for p := range packages {
		if err := rows(w, p); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return sound(cat, c.Arg(2))
}

func one(p *catalog.Package) iter.Seq[*catalog.Package] {
	return func(yield func(*catalog.Package) bool) { yield(p) }
}

// packageRow shows a package with the display name from the head of its default
// channel.
func packageRow(w io.Writer, p *catalog.Package) error {
	display := ""
	if ch, ok := p.Channel(p.DefaultChannel()); ok {
		for _, head := range ch.Heads() {
			if b, ok := p.Bundle(head); ok && display == "" {
				var err error
				if display, err = b.DisplayName(); err != nil {
					return err
				}
			}
		}
	}
	words.Fprintf(w, "%s\t%s\t%s\n", p.Name(), display, p.DefaultChannel())
	return nil
}

// sizeRow shows the size of a package.
func sizeRow(c *call) func(io.Writer, *catalog.Package) error {
	return func(w io.Writer, p *catalog.Package) error {
		s, err := edit.SizeOf(c.Context, p)
		if err == nil {
			words.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", s.Package, s.Bundles, s.Bytes, s.Objects, s.Metadata, s.Icon)
		}
		return err
	}
}

func channelRows(w io.Writer, p *catalog.Package) error {
	for ch := range p.Channels() {
		head := strings.Join(ch.Heads(), ", ")
		switch len(ch.Heads()) {
		case 0:
			head = "(none)"
		case 1:
		default:
			head += " (several)"
		}
		words.Fprintf(w, "%s\t%s\t%s\n", p.Name(), ch.Name(), head)
	}
	return nil
}

func bundleRows(w io.Writer, p *catalog.Package) error {
	for ch := range p.Channels() {
		for _, e := range ch.Entries() {
			image := ""
			if b, ok := p.Bundle(e.Name); ok {
				image = b.Image()
			}
			words.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Name(), ch.Name(), e.Name, e.Replaces, strings.Join(e.Skips, ","), e.SkipRange, image)
		}
	}
	return nil
}
