package fbc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// editing is a catalog that a command changes.
type editing struct {
	c    *call
	path string
	show bool // print the change instead of making it
	fsys fs.FS
	*edit.Editor
}

// edit opens the catalog of the first argument; there must be at least least arguments.
func (c *call) edit(least, most int) (*editing, error) {
	show := c.Flags.Bool("n", false, "")
	if err := c.Parse(least, most); err != nil {
		return nil, err
	}
	src, err := c.source(c.Arg(0))
	if err != nil {
		return nil, err
	}
	e, err := edit.Open(c.Context, src)
	if found := catalog.Diagnostics(nil); errors.As(err, &found) {
		c.tell(found, 10, "", c.Arg(0))
		return nil, fmt.Errorf("nothing was changed: %s cannot be read, see above", words.Count(len(found), "part of the catalog", "parts of the catalog"))
	}
	if err != nil {
		return nil, err
	}
	return &editing{c, c.Arg(0), *show, src, e}, nil
}

// make makes a change, or shows it.
func (e *editing) make(p *edit.Patch, err error) error {
	if err != nil {
		return err
	}
	return e.c.apply(e.path, e.fsys, p, e.show)
}

// apply makes a change of the catalog at path, or shows it as a unified diff.
func (c *call) apply(path string, fsys fs.FS, p *edit.Patch, show bool) error {
	if show {
		c.Document()
		return p.WriteUnifiedAs(c.Stdout, fsys, c.placer("", path))
	}
	files, err := p.Apply(fsys)
	if err != nil {
		return err
	}
	dir := path
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.IsDir() {
		dir = filepath.Dir(path)
		if _, ok := files[filepath.Base(path)]; !ok {
			return fmt.Errorf("%s is an archive or image, which cannot be edited: unpack it first, or see the change with -n", path)
		}
	} else if _, err := os.Stat(filepath.Join(path, "oci-layout")); err == nil {
		return fmt.Errorf("%s is an image, which cannot be edited: unpack it first, or see the change with -n", path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	if err := source.WriteFiles(root, files); err != nil {
		return errors.Join(err, root.Close())
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if len(bytes.TrimSpace(files[name])) > 0 {
			continue
		}
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return errors.Join(err, root.Close())
		}
		words.Fprintf(c.Stderr, "removed %s: nothing was left in it\n", filepath.Join(dir, filepath.FromSlash(name)))
	}
	return root.Close()
}

func add(c *call) error {
	channels := c.Words("channel")
	image := c.Flags.String("image", "", "")
	metadata := c.Flags.Bool("csv-metadata", false, "")
	e, err := c.edit(2, 2)
	if err != nil {
		return err
	}
	b, err := c.bundle(c.Arg(1), nil)
	if err != nil {
		return err
	}
	d, err := b.Render(&bundle.RenderOptions{Image: *image, CSVMetadata: *metadata})
	if err != nil {
		return c.reported(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if len(*channels) == 0 {
		*channels = b.Channels()
	}
	var places []edit.Placement
	for _, name := range *channels {
		places = append(places, edit.Placement{Channel: name, Entry: b.Entry()})
	}
	return e.make(e.AddBundle(c.Context, text, places...))
}

func remove(c *call) error {
	e, err := c.edit(2, 3)
	if err != nil {
		return err
	}
	if c.Arg(2) == "" {
		return e.make(e.RemovePackage(c.Context, c.Arg(1)))
	}
	return e.make(e.RemoveBundle(c.Context, c.Arg(1), c.Arg(2)))
}

func deprecate(c *call) error {
	message := c.Flags.String("message", "", "")
	undo := c.Flags.Bool("undo", false, "")
	e, err := c.edit(2, 3)
	if err != nil {
		return err
	}
	what := catalog.Reference{Schema: catalog.SchemaPackage}
	if c.Arg(2) != "" {
		p, err := pkg(e.Catalog(), c.Arg(1))
		if err != nil {
			return err
		}
		what = catalog.Reference{Schema: catalog.SchemaBundle, Name: c.Arg(2)}
		if _, ok := p.Channel(c.Arg(2)); ok {
			what.Schema = catalog.SchemaChannel
		}
	}
	if *undo {
		return e.make(e.Undeprecate(c.Context, c.Arg(1), what))
	}
	if *message == "" {
		return &args.UsageError{Text: "-message is missing: say what users should do instead"}
	}
	return e.make(e.Deprecate(c.Context, c.Arg(1), what, *message))
}

func channel(c *call) error {
	verbs := map[string]func(e *editing) (*edit.Patch, error){
		"add": func(e *editing) (*edit.Patch, error) {
			return e.AddChannel(c.Context, c.Arg(1), c.Arg(3), catalog.Entry{Name: c.Arg(4)})
		},
		"fork":    func(e *editing) (*edit.Patch, error) { return e.ForkChannel(c.Context, c.Arg(1), c.Arg(3), c.Arg(4)) },
		"rename":  func(e *editing) (*edit.Patch, error) { return e.RenameChannel(c.Context, c.Arg(1), c.Arg(3), c.Arg(4)) },
		"head":    func(e *editing) (*edit.Patch, error) { return e.MoveHead(c.Context, c.Arg(1), c.Arg(3), c.Arg(4)) },
		"default": func(e *editing) (*edit.Patch, error) { return e.SetDefaultChannel(c.Context, c.Arg(1), c.Arg(3)) },
	}
	e, err := c.edit(4, 5)
	if err != nil {
		return err
	}
	do := verbs[c.Arg(2)]
	if do == nil || (c.Arg(4) == "") != (c.Arg(2) == "default") {
		return &args.UsageError{Text: fmt.Sprintf("write add, fork, rename or head with a channel and a name, or default with a channel, not %q", c.Args[2:])}
	}
	return e.make(do(e))
}

// fixed applies the unambiguous fixes of findings to the catalog at path,
// reports them, and returns the file system with the changes.
func (c *call) fixed(path string, fsys fs.FS, show bool) (fs.FS, error) {
	done, err := edit.Fix(c.Context, fsys)
	if err != nil {
		return nil, err
	}
	for _, d := range done.Applied {
		words.Fprintf(c.Stderr, "fixed: %s\n", d)
	}
	if len(done.Patch.Changes) == 0 {
		return fsys, nil
	}
	after, err := done.Patch.Patched(fsys)
	if err != nil {
		return nil, err
	}
	return after, c.apply(path, fsys, done.Patch, show)
}

// findingsIf returns the error for findings that have been printed, or err.
func findingsIf(printed bool, err error) error {
	if printed {
		return args.ErrFindings
	}
	return err
}

// bundle reads the bundle at path: a directory, an archive or an image layout.
func (c *call) bundle(path string, opts *bundle.Options) (*bundle.Bundle, error) {
	src, err := source.OpenBundle(c.Context, path, nil)
	if err != nil {
		return nil, err
	}
	c.opened = append(c.opened, src)
	return bundle.Read(c.Context, src, opts)
}
