package catalog

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fairlead/fairlead/catalog/internal/inspect"
)

// Open reads the catalog in fsys: every regular file below its root, whatever its name,
// that no .indexignore file excludes (see [Catalog.Explain]).
//
//  1. All files are read once, through windows; see [Options] for the limits.
//     Every document's syntax is checked, and the types of the fields of the
//     known schemas.
//     Of a key that an object has twice the last one counts, as in opm and clusters.
//     Directories and files of version control (.git, .github and the like) are left
//     out: [Catalog.Warnings] tells of both.
//  2. All errors in the content are returned, as [Diagnostics], together with the catalog
//     of the documents without errors. A file or directory that cannot be read is also
//     such an error. At most 100 errors are reported per file.
//  3. With any other error there is no catalog: fsys is nil or has no root, ctx ended
//     (its cause is returned), or there are more files or documents than the limits allow
//     (a [*LimitError]).
//
// The result is the same for every number of workers. fsys is kept: bundles' payloads are
// read from it on demand. It must be safe for concurrent use, as those of the standard
// library are. A file system whose files offer io.ReaderAt or io.Seeker, as those of
// directories do, is asked only for the bytes needed; in others, a file is read from its
// start each time.
func Open(ctx context.Context, fsys fs.FS, opts *Options) (*Catalog, error) {
	if fsys == nil {
		return nil, errors.New("catalog: Open needs a file system; got nil")
	}
	return load(ctx, fsys, opts.withDefaults(), nil)
}

// Reopen returns the catalog as it is now in fsys: the file system of c, if fsys is nil,
// or one that differs in some files, such as a patched one. It lists all directories, and
// reads only the files whose size or modification time is not what it was, or whose
// modification time is unknown. (A change that keeps the size, within the same tick of
// the file system's clock as the last reading, goes unnoticed.) The receiver does not
// change. Errors are those of Open; faults in files that did not change are reported
// again.
func (c *Catalog) Reopen(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	if fsys == nil {
		fsys = c.fsys
	}
	return load(ctx, fsys, c.opts, c.files)
}

// load opens a catalog. before are the files of the catalog being reopened, by path.
func load(ctx context.Context, fsys fs.FS, o Options, before []*fileIndex) (*Catalog, error) {
	found, err := discover(ctx, fsys, &o)
	if err != nil {
		return nil, err
	}
	var changed []*fileIndex
	known := 0
	for i, f := range found.files {
		for len(before) > 0 && before[0].path < f.path {
			before = before[1:]
		}
		if len(before) > 0 && before[0].unchanged(f) {
			found.files[i] = before[0]
			known += len(before[0].docs)
		} else {
			changed = append(changed, f)
		}
	}
	if err := indexFiles(ctx, changed, known, &o); err != nil {
		return nil, err
	}
	faults, warnings := found.faults, found.leftOut()
	for _, f := range found.files {
		faults, warnings = append(faults, f.faults...), append(warnings, f.warnings...)
	}
	c := &Catalog{fsys: fsys, opts: o, files: found.files, rules: found.rules, faults: faults.Sorted(), warnings: warnings.Sorted()}
	for _, d := range found.faults {
		c.unlisted = append(c.unlisted, Broken{File: d.Pos.File})
	}
	c.assemble()
	return c, c.faults.Err()
}

// indexFiles indexes files with several workers, the largest files first so that no
// worker is left with one at the end. known is the number of documents that the catalog
// already has.
func indexFiles(ctx context.Context, files []*fileIndex, known int, o *Options) error {
	slices.SortStableFunc(files, func(a, b *fileIndex) int { return cmp.Compare(b.size, a.size) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, documents atomic.Int64
	documents.Store(int64(known))
	count := func() error {
		if documents.Add(1) <= int64(o.MaxDocuments) {
			return nil
		}
		return &LimitError{What: "number of documents in the catalog (Options.MaxDocuments)", Max: int64(o.MaxDocuments)}
	}
	var group sync.WaitGroup
	for range min(o.Workers, len(files)) {
		group.Go(func() {
			x := newIndexer(o)
			x.inspect = inspect.From(ctx)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				if err := x.index(ctx, files[i], count); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
