package diff

import (
	"bytes"
	"io"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// WriteJSON writes the diff as one JSON object.
func (d *Diff) WriteJSON(w io.Writer) error { return doc.WriteIndented(w, d) }

// WriteText writes the diff for people: a paragraph for each package, a line
// for each change, with + for what was added, - for what was removed and ~
// for what changed. No name begins a line, whatever it contains. Nothing is written for an empty diff.
func (d *Diff) WriteText(w io.Writer) error {
	var b bytes.Buffer
	for i := range d.Packages {
		d.Packages[i].text(&b)
	}
	for _, o := range d.Others {
		words.Fprintf(&b, "%s document %s %q of package %q\n", sign(o.Added, o.Removed), o.Schema, o.Name, o.Package)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func sign(added, removed bool) string {
	switch {
	case added:
		return "+"
	case removed:
		return "-"
	}
	return "~"
}

func (d *PackageDiff) text(b *bytes.Buffer) {
	words.Fprintf(b, "%s package %s\n", sign(d.Added, d.Removed), d.Name)
	if d.DefaultChannel != nil {
		words.Fprintf(b, "  ~ default channel: %s, was %s\n", d.DefaultChannel.New, d.DefaultChannel.Old)
	}
	if d.Described {
		b.WriteString("  ~ description, icon or other fields of the package\n")
	}
	if d.Deprecations {
		b.WriteString("  ~ deprecations\n")
	}
	for _, c := range d.Channels {
		words.Fprintf(b, "  %s channel %s", sign(c.Added, c.Removed), c.Name)
		if c.Heads != nil && !c.Added && !c.Removed {
			words.Fprintf(b, ": head %s, was %s", c.Heads.New, c.Heads.Old)
		} else if c.Heads != nil {
			words.Fprintf(b, ", head %s", c.Heads.New+c.Heads.Old)
		} else if c.Entries == nil && c.Edges == nil {
			words.Fprintf(b, ": %s", strings.Join(c.Fields, ", "))
		}
		b.WriteByte('\n')
		if c.Entries != nil {
			signed(b, "entry", c.Entries.Added, c.Entries.Removed)
		}
		if c.Edges != nil {
			signed(b, "update", c.Edges.Added, c.Edges.Removed)
		}
	}
	for _, c := range d.Bundles {
		c.text(b)
	}
	for _, g := range Groups(d.Stranded) {
		words.Fprintf(b, "  ! stranded in %s by the rules of OLM %s: users of %s: %s\n", g.Where(), joined(g.Rules), g.Who(), g.Why)
	}
}

// mostLines is how many names of a list are written: nobody reads more, and a program reads
// JSON.
const mostLines = 100

func signed(b *bytes.Buffer, what string, added, removed []string) {
	for _, list := range []struct {
		sign  string
		names []string
	}{{"+", added}, {"-", removed}} {
		for i, name := range list.names {
			if more := len(list.names) - i; i == mostLines && more > 1 {
				words.Fprintf(b, "    %s %s … and %d more\n", list.sign, what, more)
				break
			}
			words.Fprintf(b, "    %s %s %s\n", list.sign, what, name)
		}
	}
}

func (c *BundleDiff) text(b *bytes.Buffer) {
	words.Fprintf(b, "  %s bundle %s", sign(c.Added, c.Removed), c.Name)
	if len(c.Fields) > 0 {
		words.Fprintf(b, ": %s", strings.Join(c.Fields, ", "))
	}
	b.WriteByte('\n')
	if c.Version != nil {
		words.Fprintf(b, "    ~ version: %s, was %s\n", c.Version.New, c.Version.Old)
	}
	if c.Image != nil {
		words.Fprintf(b, "    ~ image: %s, was %s\n", c.Image.New, c.Image.Old)
	}
	if c.APIs != nil {
		signed(b, "API", c.APIs.Added, c.APIs.Removed)
	}
}

// joined returns the names of rules in words.
func joined(rules []catalog.Rules) string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return strings.Join(names, " and ")
}
