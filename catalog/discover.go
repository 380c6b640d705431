package catalog

import (
	"context"
	"io/fs"
	"path"

	"github.com/fairlead/fairlead/catalog/internal/regular"
)

// discovery lists the files of a catalog.
type discovery struct {
	ctx    context.Context
	fsys   fs.FS
	opts   *Options
	rules  rules
	files  []*fileIndex // by path, not indexed yet
	faults Diagnostics
}

// discover walks the directories of fsys. The error is that of the root
// directory, of ctx, or about too many files.
func discover(ctx context.Context, fsys fs.FS, o *Options) (*discovery, error) {
	d := &discovery{ctx: ctx, fsys: fsys, opts: o}
	return d, d.dir(".", nil)
}

// dir lists one directory. decided is the rule that decides on it.
func (d *discovery) dir(dir string, decided *rule) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	entries, err := fs.ReadDir(d.fsys, dir)
	if err != nil {
		if dir == "." {
			return err
		}
		d.faults = append(d.faults, readFault(dir, err))
	}
	for _, e := range entries {
		if e.Name() == ignoreName && !e.IsDir() && !d.decide(dir, e, decided).excludes() {
			if _, err := regular.Info(d.fsys, path.Join(dir, ignoreName), e); err != nil {
				d.faults = append(d.faults, readFault(path.Join(dir, ignoreName), err))
			} else if fault := d.rules.read(d.fsys, dir); fault != nil {
				d.faults = append(d.faults, fault)
			}
		}
	}
	for _, e := range entries {
		if e.Name() == ignoreName && !e.IsDir() {
			continue
		}
		r := d.decide(dir, e, decided)
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			// An excluded directory is not even listed, unless a rule may
			// include some of it again.
			if !r.excludes() || d.rules.takes {
				err = d.dir(name, r)
			}
		} else if !r.excludes() {
			err = d.file(name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *discovery) decide(dir string, e fs.DirEntry, decided *rule) *rule {
	return d.rules.decide(path.Join(dir, e.Name()), e.IsDir(), decided)
}

// file adds a file. A link counts as its target.
func (d *discovery) file(name string, e fs.DirEntry) error {
	info, err := regular.Info(d.fsys, name, e)
	if err != nil {
		d.faults = append(d.faults, readFault(name, err))
		return nil
	}
	if len(d.files) >= d.opts.MaxFiles {
		return &LimitError{What: "number of files in the catalog (Options.MaxFiles)", Max: int64(d.opts.MaxFiles)}
	}
	d.files = append(d.files, &fileIndex{fsys: d.fsys, path: name, size: info.Size(), modTime: info.ModTime()})
	return nil
}
