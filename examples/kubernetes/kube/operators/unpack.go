package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// unpack keeps the objects of a bundle, or the error of getting them.
func (b *Backend) unpack(ctx context.Context, namespace string, a install.Unpack) {
	c := install.Content{Source: a.Source, Bundle: a.Bundle}
	held, err := install.FindBundle(b.shelf.sources(), a)
	if err == nil {
		c.Properties, err = held.Facts()
	}
	if err == nil {
		c.Manifests, err = Manifests(ctx, held, b.opts.Images)
	}
	if err != nil {
		c.Error = err.Error()
	}
	b.contents.Keep(namespace, c)
}

// Manifests returns the objects of a bundle: those in the catalog, or else those in
// its image. Images may be nil.
func Manifests(ctx context.Context, held *catalog.Bundle, images Images) ([]json.RawMessage, error) {
	inline, err := install.Inline(held)
	if err != nil || len(inline) > 0 {
		return inline, err
	}
	image := held.Image()
	switch {
	case image == "":
		return nil, errors.New("it has neither olm.bundle.object properties nor an image; the catalog's authors must add one of them")
	case images == nil:
		return nil, fmt.Errorf("it is in image %s, but images cannot be opened here: put its objects into the catalog, or give the controller an Images", image)
	}
	fsys, err := images.Open(ctx, image)
	if err != nil {
		return nil, err
	}
	defer closeFS(fsys)
	read, err := bundle.Read(ctx, fsys, nil)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", image, err)
	}
	var all []json.RawMessage
	for _, m := range read.Manifests {
		all = append(all, m.JSON)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("image %s: its directory manifests contains no object", image)
	}
	return all, nil
}

func closeFS(fsys fs.FS) {
	if c, ok := fsys.(io.Closer); ok {
		_ = c.Close() // temporary files: nothing depends on it
	}
}
