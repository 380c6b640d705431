package fbc

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/template"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/shell"
)

func validate(c *call) error {
	format := c.Choice("o", "text", "json", "sarif", "github", "opm")
	root := c.Flags.String("root", "", "")
	lint := c.Flags.String("lint", "", "")
	all := c.Flags.Bool("v", false, "")
	fix, show := c.Flags.Bool("fix", false, ""), c.Flags.Bool("n", false, "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	src, err := c.source(c.Arg(0))
	if err != nil {
		return err
	}
	var files fs.FS = src
	if *fix || *show {
		if files, err = c.fixed(c.Arg(0), src, *show); err != nil {
			return err
		}
	}
	cat, report, err := check.Open(c.Context, files, nil)
	if err != nil {
		return err
	}
	codes := []catalog.Code{check.LintStuck} // users without a way to the head are told of anyway
	if *lint != "" {
		more, err := lintCodes(*lint)
		if err != nil {
			return err
		}
		codes = append(codes, more...)
	}
	c.Doing("linting")
	lints, err := check.Lint(c.Context, cat, codes...)
	if err != nil {
		return err
	}
	report = report.WithWarnings(lints)
	valid := report.Valid()
	if valid && *format != "opm" && !holdsAny(cat) {
		return emptyCatalog(c.Arg(0))
	}
	if file := onlyTemplate(cat); file != "" && valid && *format != "opm" {
		return fmt.Errorf("catalog %s: there is no catalog in it, but a template of one, which %s expands", c.Arg(0), shell.Command("fairlead catalog template %s", c.placer("", c.Arg(0))(file)))
	}
	report = report.Relocate(c.placer(*root, c.Arg(0)))
	most := 10 // warnings of a kind
	if *all {
		most = 0
	}
	switch *format {
	case "text":
		err = report.WriteText(c.Painted(severity), most)
	case "json":
		err = report.WriteJSON(c.Stdout)
	case "sarif":
		err = report.WriteSARIF(c.Stdout)
	case "github":
		err = report.WriteGitHub(c.Stdout)
	case "opm":
		valid = report.OPM() == ""
		_, err = io.WriteString(c.Stdout, report.OPM())
	}
	if err == nil && !valid {
		err = args.ErrFindings
	}
	return err
}

// severity paints the verdict and the severity of each finding.
func severity(line []byte) (from, to int, colour args.Colour) {
	if colon := bytes.IndexByte(line, ':'); colon > 0 {
		switch verdict := string(line[:colon]); {
		case verdict == "not valid":
			return 0, colon, args.Bad
		case verdict == "valid":
			return 0, colon, args.Good
		case strings.HasPrefix(verdict, "valid, with "):
			return 0, colon, args.Warning
		}
	}
	from, to = bytes.LastIndex(line, []byte(" [")), len(line)
	switch {
	case from < 0:
		return 0, 0, ""
	case bytes.HasPrefix(line[from:], []byte(" [warning: ")):
		return from + 1, to, args.Warning
	}
	return from + 1, to, args.Bad
}

// holdsAny reports whether a catalog has a document. One without is not validated:
// naming the wrong directory must not be reported as success.
func holdsAny(cat *catalog.Catalog) bool {
	for range cat.Documents() {
		return true
	}
	return false
}

// onlyTemplate returns the file of a template in a catalog without packages, or "".
func onlyTemplate(cat *catalog.Catalog) string {
	for range cat.Packages() {
		return ""
	}
	for d := range cat.Others() {
		if d.Schema() == template.SchemaBasic || d.Schema() == template.SchemaSemver {
			return d.Start().File
		}
	}
	return ""
}

// emptyCatalog is the error for a catalog without a document.
func emptyCatalog(path string) error {
	return fmt.Errorf("catalog %s: there is no document in it; name the directory that holds the catalog", path)
}

// lintCodes reads the list of requested lints.
func lintCodes(list string) ([]catalog.Code, error) {
	if list == "all" {
		return check.Lints(), nil
	}
	var codes []catalog.Code
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(check.Lints(), catalog.Code(name)) {
			return nil, &args.UsageError{Text: fmt.Sprintf("unknown lint %q; docs/diagnostics.md lists them", name)}
		}
		codes = append(codes, catalog.Code(name))
	}
	return codes, nil
}
