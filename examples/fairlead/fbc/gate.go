package fbc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

// gate is the command release.
type gate struct {
	*call
	format, report, sarif, pictures *string
	root, revisions                 *string
	with                            *[]string
}

func releaseGate(c *call) error {
	g := &gate{
		call:   c,
		format: c.Choice("o", "markdown", "json", "sarif", "github"),
		report: c.Flags.String("report", "", ""), sarif: c.Flags.String("sarif", "", ""), pictures: c.Flags.String("pictures", "", ""),
		root: c.Flags.String("root", "", ""), revisions: c.Flags.String("git", "", ""), with: c.Words("with"),
	}
	if err := c.Parse(1, 2); err != nil {
		return err
	}
	before, after, err := g.sides()
	if err != nil {
		return err
	}
	r, err := g.evaluate(before, after)
	if err != nil {
		return err
	}
	if err := g.write(r.Relocate(before.at, after.at), after); err != nil {
		return err
	}
	if err := g.draw(c.Context, r, after); err != nil {
		return err
	}
	switch {
	case len(r.Old) > 0:
		return fmt.Errorf("OLD (%s) cannot be read as a whole: who would be stranded is not known; the report lists what cannot be read", before.name)
	case len(r.Unknown) > 0:
		return fmt.Errorf("NEW (%s) cannot be read as a whole: who would be stranded is not known; the report lists what cannot be read", after.name)
	case !r.Passes():
		return args.ErrFindings
	}
	return nil
}

// side is one of the two catalogs.
type side struct {
	name string // as people know it
	fs.FS
	at  func(file string) string // where a file of it is, see placer
	err error                    // why it cannot be opened
}

// sides opens OLD and NEW: two paths, or one path in two revisions.
func (g *gate) sides() (before, after side, err error) {
	if *g.revisions != "" {
		if len(g.Args) != 1 {
			return before, after, &args.UsageError{Text: "-git needs one path, the catalog in the repository"}
		}
		return g.fromGit(*g.revisions, g.Arg(0))
	}
	if len(g.Args) != 2 {
		return before, after, &args.UsageError{Text: "name OLD and NEW, or one path and -git BASE..HEAD"}
	}
	open := func(path string) side {
		src, err := g.source(path)
		return side{path, src, g.placer(*g.root, path), err}
	}
	before, after = open(g.Arg(0)), open(g.Arg(1))
	return before, after, after.err
}

// evaluate evaluates the release. An old catalog that cannot be opened is a finding, so that
// a report is written nevertheless.
func (g *gate) evaluate(before, after side) (*release.Report, error) {
	others, err := g.others()
	if err != nil {
		return nil, err
	}
	old := catalog.New(nil)
	if before.err == nil {
		old, err = catalog.Open(g.Context, before.FS, nil)
		if old == nil {
			before.err, old = err, catalog.New(nil)
		}
	}
	if before.err == nil && len(old.Faults()) == 0 && !holdsAny(old) {
		before.err = emptyCatalog(before.name)
	}
	g.Doing("checking updates")
	r, err := release.Evaluate(g.Context, old, after.FS, &release.Options{Resolver: &reach.Resolver{With: others}, Breaks: reach.Breaks})
	if err != nil {
		return nil, fmt.Errorf("NEW (%s): %w", after.name, err)
	}
	if before.err != nil {
		r.Old = append(r.Old, &catalog.Diagnostic{Code: release.CodeOld, Subject: "OLD (" + before.name + ")", Message: "cannot be read: " + before.err.Error()})
	}
	return r, nil
}

// others opens the other catalogs of the cluster: NAME=PATH[,priority=N].
func (g *gate) others() ([]olm.Source, error) {
	var list []olm.Source
	for _, text := range *g.with {
		name, path, ok := strings.Cut(text, "=")
		if !ok || name == "" || path == "" {
			return nil, &args.UsageError{Text: fmt.Sprintf("-with %s: write NAME=PATH or NAME=PATH,priority=N", text)}
		}
		source := olm.Source{SourceKey: olm.SourceKey{Name: name}}
		if at := strings.LastIndex(path, ",priority="); at >= 0 {
			n, err := strconv.Atoi(path[at+len(",priority="):])
			if err != nil {
				return nil, &args.UsageError{Text: fmt.Sprintf("-with %s: the priority is not a number", text)}
			}
			source.Priority, path = n, path[:at]
		}
		cat, err := g.open(path)
		if err != nil {
			return nil, fmt.Errorf("-with %s: %w", text, err)
		}
		source.Catalog = cat
		list = append(list, source)
	}
	return list, nil
}

// write writes the report to standard output and to the files that were asked for.
func (g *gate) write(r *release.Report, after fs.FS) error {
	markdown := func(w io.Writer) error { return r.WriteMarkdown(w, after) }
	formats := map[string]func(io.Writer) error{"markdown": markdown, "json": r.WriteJSON, "sarif": r.WriteSARIF, "github": r.WriteGitHub}
	err := errors.Join(toFile(*g.report, markdown), toFile(*g.sarif, r.WriteSARIF))
	if err != nil {
		return err
	}
	return formats[*g.format](g.Stdout)
}

// toFile writes a file, if it has a name.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// draw writes a picture of each package that changed.
func (g *gate) draw(ctx context.Context, r *release.Report, after side) error {
	if *g.pictures == "" {
		return nil
	}
	next, err := catalog.Open(ctx, after.FS, nil)
	if next == nil {
		return err
	}
	if err := os.MkdirAll(*g.pictures, 0o755); err != nil {
		return err
	}
	for _, d := range r.Diff.Packages {
		p, ok := next.Package(d.Name)
		if !ok || !filepath.IsLocal(d.Name) || filepath.Base(d.Name) != d.Name {
			continue
		}
		if err := toFile(filepath.Join(*g.pictures, d.Name+".svg"), func(w io.Writer) error { return draw.SVG(ctx, w, p, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// placer returns how files of the catalog at a path are named: relative to root, which is the
// working directory if it is empty, as code hosts and editors need it. Files in archives and
// images are named as they are there.
func (c *call) placer(root, path string) func(file string) string {
	unchanged := func(file string) string { return file }
	info, err := os.Stat(path)
	if err != nil {
		return unchanged
	}
	dir := path
	if !info.IsDir() {
		if ext := filepath.Ext(path); ext == ".gz" || ext == ".tar" || ext == ".tgz" {
			return unchanged
		}
		dir = filepath.Dir(path)
	} else if _, err := os.Stat(filepath.Join(path, "oci-layout")); err == nil {
		return unchanged
	}
	if root == "" {
		root = "."
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		if base, err := filepath.Abs(root); err == nil {
			if relative, err := filepath.Rel(base, absolute); err == nil && filepath.IsLocal(relative) {
				dir = relative
			}
		}
	}
	return func(file string) string { return filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(file))) }
}
