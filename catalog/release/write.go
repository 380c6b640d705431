package release

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error { return doc.WriteIndented(w, r) }

// WriteSARIF writes the findings as SARIF 2.1.0, which code hosts show beside
// the affected lines.
func (r *Report) WriteSARIF(w io.Writer) error { return check.WriteSARIF(w, r.Findings, nil) }

// WriteMarkdown writes the report for a pull request: the verdict, who is
// affected, what changed, and the patch, of the catalog in after.
func (r *Report) WriteMarkdown(w io.Writer, after fs.FS) error {
	var b bytes.Buffer
	if r.Passes() {
		fmt.Fprintf(&b, "**Passes.** All %d possible installations still reach the head of their channel, by the rules of OLM v0 and v1.\n", r.Users)
		if r.Resolved > 0 {
			fmt.Fprintf(&b, "Dependencies were checked too, by %d resolutions.\n", r.Resolved)
		}
	} else {
		fmt.Fprintf(&b, "**Does not pass.** %s; %d possible installations were checked by the rules of OLM v0 and v1.\n\n", words.Count(len(r.Findings), "finding", "findings"), r.Users)
		for _, d := range r.Findings {
			b.WriteString("- ")
			if d.Pos.File != "" { // a package that is gone has no place
				fmt.Fprintf(&b, "`%s` ", d.Pos)
			}
			fmt.Fprintf(&b, "%s: %s\n", d.Subject, d.Message)
		}
	}
	if !r.Diff.Empty() {
		b.WriteString("\n<details><summary>What changed</summary>\n\n```\n")
		if err := r.Diff.WriteText(&b); err != nil {
			return err
		}
		b.WriteString("```\n</details>\n")
	}
	if r.Patch != nil {
		b.WriteString("\nThis edit helps:\n\n")
		for _, f := range r.Fixes {
			fmt.Fprintf(&b, "- %s\n", f)
		}
		b.WriteString("\n```diff\n")
		if err := r.Patch.WriteUnified(&b, after); err != nil {
			return err
		}
		b.WriteString("```\n")
	}
	if len(r.Left) > 0 {
		b.WriteString("\nNo edit of one entry helps these:\n\n")
		for _, left := range r.Left {
			fmt.Fprintf(&b, "- %s\n", left)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
