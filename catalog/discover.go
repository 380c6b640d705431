package catalog

import (
	"context"
	"io/fs"
	"path"

	"github.com/fairlead/fairlead/catalog/internal/regular"
	"github.com/fairlead/fairlead/internal/words"
)

// discovery lists the files of a catalog.
type discovery struct {
	ctx    context.Context
	fsys   fs.FS
	opts   *Options
	rules  rules
	left   []string     // what is no part of a catalog, in the order met
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
		if foreign[e.Name()] {
			if !r.excludes() {
				d.left = append(d.left, name)
			}
			continue
		}
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

// foreign are names of directories and files that tools put beside a catalog, and that hold
// no documents.
var foreign = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".bzr": true, ".jj": true,
	".github": true, ".gitlab": true, ".tekton": true, ".idea": true, ".vscode": true,
	".gitignore": true, ".gitattributes": true, ".gitmodules": true, ".DS_Store": true, "__MACOSX": true,
}

// leftOut is the warning about what was left out, if anything was.
func (d *discovery) leftOut() Diagnostics {
	if len(d.left) == 0 {
		return nil
	}
	message := "left out, because it is no part of a catalog"
	if others := d.left[1:]; len(others) > 0 {
		message = "left out, like " + words.First(others, 4) + ", because they are no part of a catalog"
	}
	return Diagnostics{{
		Pos: Position{File: d.left[0]}, Code: CodeLeftOut, Message: message,
		Hint: "add what opm must not read to .indexignore",
	}}
}
