package release

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/doc"
	md "github.com/fairlead/fairlead/internal/markdown"
	"github.com/fairlead/fairlead/internal/words"
)

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error { return doc.WriteIndented(w, r) }

// Relocate returns the report with the positions that [catalog.Relocate] makes, for writing
// it: old names files of the old catalog, and now those of the new one.
func (r *Report) Relocate(old, now func(path string) string) *Report {
	moved := *r
	moved.Old, moved.Findings, moved.Warnings = catalog.Relocate(r.Old, old), catalog.Relocate(r.Findings, now), catalog.Relocate(r.Warnings, now)
	moved.named = now
	return &moved
}

// all returns the findings about both catalogs.
func (r *Report) all() catalog.Diagnostics { return slices.Concat(r.Old, r.Findings) }

// WriteSARIF writes the findings as SARIF 2.1.0, which code hosts show beside
// the affected lines.
func (r *Report) WriteSARIF(w io.Writer) error { return check.WriteSARIF(w, r.all(), r.Warnings) }

// WriteGitHub writes the findings as commands of GitHub Actions.
func (r *Report) WriteGitHub(w io.Writer) error { return check.WriteGitHub(w, r.all(), r.Warnings) }

// MaxMarkdown is the largest report that [Report.WriteMarkdown] writes, in characters: the
// largest comment that code hosts accept.
const MaxMarkdown = 65_536

// WriteMarkdown writes the report for a pull request: the verdict, who is
// affected, what changed, and the patch, of the catalog in after. It has at most
// [MaxMarkdown] characters: what does not fit is counted.
func (r *Report) WriteMarkdown(w io.Writer, after fs.FS) error {
	m := &markdown{left: MaxMarkdown - 200} // for the last words
	r.verdict(m)
	if r.Patch != nil {
		var patch bytes.Buffer
		named := r.named
		if named == nil {
			named = func(path string) string { return path }
		}
		if err := r.Patch.WriteUnifiedAs(&patch, after, named); err != nil {
			return err
		}
		m.text(fmt.Sprintf("\nThis edit helps users of %s:\n\n", words.Count(r.helped(), "version", "versions")))
		var fixes []string
		for _, f := range r.Fixes {
			fixes = append(fixes, md.Text(f.String()))
		}
		m.items(fixes, "more edits")
		m.text("\n")
		m.block("diff", patch.String(), m.left/2)
	}
	if len(r.Left) > 0 {
		m.text("\nNo edit of one entry helps these:\n\n")
		var left []string
		for _, l := range r.Left {
			left = append(left, md.Text(l.String()))
		}
		m.items(left, "more")
	}
	if len(r.Old)+len(r.Unknown) == 0 && !r.Diff.Empty() {
		var changed bytes.Buffer
		if err := r.Diff.WriteText(&changed); err != nil {
			return err
		}
		m.text("\n<details><summary>What changed</summary>\n\n")
		m.block("", changed.String(), m.left-100)
		m.text("</details>\n")
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// verdict writes the verdict and the findings.
func (r *Report) verdict(m *markdown) {
	versions := words.Count(r.Users, "version", "versions") + " that users may have"
	switch {
	case len(r.Old) > 0:
		m.text(fmt.Sprintf("**Not known.** %s cannot be read: who would be stranded is not known. Other findings: %d, about %s.\n\n",
			words.Count(len(r.Old), "part of the old catalog (OLD)", "parts of the old catalog (OLD)"), len(r.Findings), versions))
	case len(r.Unknown) > 0:
		m.text(fmt.Sprintf("**Not known.** A part of the new catalog (NEW) cannot be read: which users of %s would be stranded is not known. Findings: %d, about %s.\n\n",
			md.Text(words.List(r.Unknown, "and", 5)), len(r.Findings), versions))
	case r.Passes():
		m.text(fmt.Sprintf("**Passes.** Of %s, each still leads to the head of its channel, by the rules of OLM v0 and v1.\n", versions))
	default:
		m.text(fmt.Sprintf("**Does not pass.** %s; %s were checked by the rules of OLM v0 and v1.\n\n", words.Count(len(r.Findings), "finding", "findings"), versions))
	}
	if r.Resolved > 0 && r.Passes() {
		m.text(fmt.Sprintf("Dependencies were checked too, by %s.\n", words.Count(r.Resolved, "resolution", "resolutions")))
	}
	if r.Elsewhere > 0 {
		m.text(fmt.Sprintf("Taken as met by other catalogs, because nothing met them in OLD either: %s of bundles.\n", words.Count(r.Elsewhere, "requirement", "requirements")))
	}
	m.items(told(r.all()), "more findings")
	if len(r.Warnings) > 0 {
		m.text("\nWarnings, which do not keep it from passing:\n\n")
		m.items(told(r.Warnings), "more warnings")
	}
}

// told returns findings as Markdown.
func told(list catalog.Diagnostics) (findings []string) {
	for _, d := range list {
		at := ""
		if d.Pos.File != "" { // a package that is gone has no place
			at = md.Code(d.Pos.String()) + " "
		}
		if d.Subject != "" {
			at += md.Text(d.Subject) + ": "
		}
		text := at + md.Text(d.Message)
		if d.Also != (catalog.Position{}) {
			text += ", at " + md.Code(d.Also.String())
		}
		findings = append(findings, text)
	}
	return findings
}

// helped counts the bundles of stranded users whom the patch helps.
func (r *Report) helped() (n int) {
	still := map[[2]string]int{}
	for _, l := range r.Left {
		for _, name := range l.Bundles {
			still[[2]string{l.Package, name}]++
		}
	}
	for _, p := range r.Diff.Packages {
		known := map[string]bool{}
		for _, s := range p.Stranded {
			if !known[s.Bundle] && still[[2]string{p.Name, s.Bundle}] == 0 {
				n++
			}
			known[s.Bundle] = true
		}
	}
	return n
}

// markdown is a text with a limit.
type markdown struct {
	strings.Builder
	left int // characters that still fit
}

func (m *markdown) text(s string) bool {
	n := utf8.RuneCountInString(s)
	if n > m.left {
		return false
	}
	m.left -= n
	m.WriteString(s)
	return true
}

// items writes a list, of which up to half of what is left may be used.
func (m *markdown) items(list []string, more string) {
	end := m.left / 2
	for i, s := range list {
		s = "- " + s + "\n"
		if utf8.RuneCountInString(s)+100 > m.left-end || !m.text(s) {
			m.text(fmt.Sprintf("- and %d %s\n", len(list)-i, more))
			return
		}
	}
}

// block writes the lines of a text that fit into a number of characters as a code block.
func (m *markdown) block(language, text string, most int) {
	text = words.Visible(text)
	fence := md.Fence(text)
	m.text(fence + language + "\n")
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		n := utf8.RuneCountInString(line)
		if most -= n; most < 100 || !m.text(line) {
			m.text(fmt.Sprintf("... and %s\n%s\n", words.Count(len(lines)-i, "more line", "more lines"), fence))
			return
		}
	}
	m.text("\n" + fence + "\n")
}
