package operators

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/kubernetes/zstd"
)

// Images provides the content of images. Implement it with a client of your
// registry; [Directory] reads them from disk.
type Images interface {
	// Open returns the files of an image: for a catalog, those below the
	// directory named by its label
	// operators.operatorframework.io.index.configs.v1; for a bundle, the
	// directories manifests and metadata. A file system that is an io.Closer is
	// closed when it is no longer in use. Open is called from several goroutines.
	Open(ctx context.Context, image string) (fs.FS, error)
}

// Directory is the path of a directory that contains images by name: as
// directories, as archives, or as OCI image layouts; see package catalog/source.
// The image quay.io/acme/shelf:v1 is ROOT/quay.io/acme/shelf:v1.
type Directory string

// Open implements [Images]. Names that would lead out of the directory are
// refused.
func (d Directory) Open(ctx context.Context, image string) (fs.FS, error) {
	local := filepath.FromSlash(image)
	if !filepath.IsLocal(local) {
		return nil, fmt.Errorf("image %q: is not the name of an image below %s", image, string(d))
	}
	found, err := source.Open(ctx, filepath.Join(string(d), local), &source.Options{Decoders: []source.Decoder{zstd.Decoder()}})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("image %q: does not exist below %s; put it there", image, string(d))
	}
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", image, err)
	}
	return found, nil
}
