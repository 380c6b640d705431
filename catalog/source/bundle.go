package source

import (
	"context"
	"errors"
	"io/fs"
)

// ManifestsLabel is the image label that names the directory of the bundle's manifests.
const ManifestsLabel = "operators.operatorframework.io.bundle.manifests.v1"

// OpenBundle opens a registry+v1 bundle: a directory with the directories manifests and
// metadata, an archive of one (which may hold it in a directory), or an OCI image layout,
// as a directory or archive, of which the first image with the label of bundles counts. The
// root of the result is the bundle directory. Errors name the path; an exceeded limit is a
// *fairlead.InputLimitError.
func OpenBundle(ctx context.Context, path string, opts *Options) (*Source, error) {
	return open(ctx, path, opts, &content{
		kind: bundleImage, unpacked: bundleIn,
		file: func(string) (*Source, error) {
			return nil, errors.New("it is neither a directory nor an archive of one")
		},
	})
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
