package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fairlead/fairlead/internal/archive"
)

// ManifestsLabel is the label of an image that says in which directory the
// manifests of its bundle lie.
const ManifestsLabel = "operators.operatorframework.io.bundle.manifests.v1"

// OpenBundle opens a registry+v1 bundle: a directory with the directories
// manifests and metadata, an archive of one (which may hold it in a directory),
// or an OCI image layout, as a directory or archive, of which the first image
// with the label of bundles counts. The root of the result is the bundle
// directory. Errors name the path; a limit that is exceeded is a *LimitError.
func OpenBundle(ctx context.Context, path string, opts *Options) (*Source, error) {
	if opts == nil {
		opts = &Options{}
	}
	s, err := openBundle(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", path, plain(err))
	}
	return s, nil
}

func openBundle(ctx context.Context, path string, o *Options) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if isLayout(os.DirFS(path)) {
			return openLayout(os.DirFS(path), o, bundleImage)
		}
		return &Source{FS: os.DirFS(path)}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is neither a directory nor a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, isArchive, err := decompress(f, nil); err != nil {
		return nil, err
	} else if !isArchive {
		return nil, errors.New("it is neither a directory nor an archive of one")
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, err
	}
	limits := o.limits()
	files, err := archive.Read(ctx, f, &limits)
	switch {
	case err != nil:
		return nil, err
	case isLayout(files):
		return openLayout(files, o, bundleImage)
	}
	return bundleIn(files)
}

// bundleIn returns the bundle directory in an archive: its root, or the only
// directory there.
func bundleIn(files fs.FS) (*Source, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	if len(entries) == 1 && entries[0].IsDir() && entries[0].Name() != "manifests" {
		if files, err = fs.Sub(files, entries[0].Name()); err != nil {
			return nil, err
		}
	}
	return &Source{FS: files}, nil
}
