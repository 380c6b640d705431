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

// unpack keeps the objects of a bundle, or why they cannot be had.
func (b *Backend) unpack(ctx context.Context, namespace string, a install.Unpack) {
	c := install.Content{Source: a.Source, Bundle: a.Bundle}
	held, err := install.FindBundle(b.shelf.sources(), a)
	if err == nil {
		c.Properties, err = held.Facts()
	}
	if err == nil {
		c.Manifests, err = b.manifests(ctx, held)
	}
	if err != nil {
		c.Error = err.Error()
	}
	b.keep(namespace, c)
}

// manifests are those in the catalog, or else in the bundle's image.
func (b *Backend) manifests(ctx context.Context, held *catalog.Bundle) ([]json.RawMessage, error) {
	inline, err := install.Inline(held)
	if err != nil || len(inline) > 0 {
		return inline, err
	}
	image := held.Image()
	switch {
	case image == "":
		return nil, errors.New("it has neither olm.bundle.object properties nor an image; the catalog's authors have to give it one of them")
	case b.opts.Images == nil:
		return nil, fmt.Errorf("it is in image %s, and nothing here opens images: put its objects into the catalog, or give the controller an Images", image)
	}
	fsys, err := b.opts.Images.Open(ctx, image)
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
		return nil, fmt.Errorf("image %s: there is no object in its directory manifests", image)
	}
	return all, nil
}

func closeFS(fsys fs.FS) {
	if c, ok := fsys.(io.Closer); ok {
		_ = c.Close() // temporary files: nothing depends on it
	}
}
