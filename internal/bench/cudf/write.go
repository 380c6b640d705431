package cudf

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Write writes the document, in a form that strict parsers of other programs
// also accept. The error is that of w.
func (d *Document) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "preamble: \nproperty: recommends: vpkgformula = [true!]")
	for _, name := range d.numbers() {
		fmt.Fprintf(out, ", %s: int = [0]", name)
	}
	fmt.Fprint(out, "\n\n")
	for i := range d.Packages {
		d.Packages[i].write(out)
	}
	fmt.Fprint(out, "request: \n")
	field(out, "install", relations(d.Request.Install, ", "))
	field(out, "remove", relations(d.Request.Remove, ", "))
	field(out, "upgrade", relations(d.Request.Upgrade, ", "))
	return out.Flush()
}

// numbers returns the names of all other properties, sorted.
func (d *Document) numbers() []string {
	seen := make(map[string]bool)
	var names []string
	for _, p := range d.Packages {
		for name := range p.Numbers {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (p *Package) write(out *bufio.Writer) {
	fmt.Fprintf(out, "package: %s\nversion: %d\n", p.Name, p.Version)
	depends := p.Depends
	if slices.ContainsFunc(depends, func(c Clause) bool { return len(c) == 0 }) {
		depends = []Clause{{}} // nothing meets them; other programs accept "false!" only where it is alone
	}
	field(out, "depends", formula(depends))
	field(out, "conflicts", relations(p.Conflicts, ", "))
	field(out, "provides", relations(p.Provides, ", "))
	field(out, "recommends", formula(p.Recommends))
	if p.Installed {
		field(out, "installed", "true")
	}
	if p.Keep != KeepNone {
		field(out, "keep", p.Keep.String())
	}
	var names []string
	for name := range p.Numbers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		field(out, name, strconv.FormatInt(p.Numbers[name], 10))
	}
	fmt.Fprintln(out)
}

func field(out *bufio.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(out, "%s: %s\n", name, value)
	}
}

func relations(all []Relation, between string) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, between)
}

func formula(all []Clause) string {
	var texts []string
	for _, c := range all {
		text := relations(c, " | ")
		if text == "" {
			text = "false!"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
