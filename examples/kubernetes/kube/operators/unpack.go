package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// unpack keeps the objects of a bundle, or the error of getting them. Images are opened in
// the background, so that one that hangs holds up only what its namespace installs.
func (b *Backend) unpack(ctx context.Context, namespace string, a install.Unpack) {
	c := install.Content{Source: a.Source, Bundle: a.Bundle}
	held, err := install.FindBundle(b.shelf.sources(), a)
	if err == nil {
		c.Properties, err = held.Facts()
	}
	if err == nil && !Inlined(held) {
		if err = b.opened(namespace, held, &c); err == nil {
			return // not yet
		}
	} else if err == nil {
		c.Manifests, err = Manifests(ctx, held, nil)
	}
	if err != nil {
		c.Error = err.Error()
	}
	b.contents.Keep(namespace, c)
}

// Inlined reports whether the objects of a bundle are in its catalog, or nowhere: then
// [Manifests] opens no image.
func Inlined(held *catalog.Bundle) bool {
	inline, err := install.Inline(held)
	return err != nil || len(inline) > 0 || held.Image() == ""
}

// opened has the objects in the image of a bundle read and kept. The error is that of the
// last attempt.
func (b *Backend) opened(namespace string, held *catalog.Bundle, c *install.Content) error {
	from := namespace // whose registry is asked: the catalog's
	if !b.tenant(c.Source.Namespace) {
		from = c.Source.Namespace
	}
	key, keep := namespace+" "+c.Source.String()+" "+c.Bundle, *c
	ask := reading.Source[struct{}]{
		Key: key, Group: namespace, Form: held.Image(),
		Read: func(ctx context.Context, _ reading.Result[struct{}]) (struct{}, int64, error) {
			all, err := Manifests(ctx, held, b.images(from))
			if err == nil {
				keep.Manifests = all
				b.contents.Keep(namespace, keep)
			}
			return struct{}{}, 0, err
		},
	}
	switch r := b.bundles.Get(ask); {
	case r.Has: // it was dropped since
		b.bundles.Keep(func(other string) bool { return other != key })
		b.bundles.Get(ask)
	case r.Err != nil:
		var refused *fairlead.InputLimitError
		if b.opts.Unread != nil {
			b.opts.Unread(c.Source, r.Err)
		}
		if b.tenant(from) && !errors.As(r.Err, &refused) {
			return fmt.Errorf("image %s is unreachable, or holds no bundle that can be read; the log of the operator says more", held.Image())
		}
		return r.Err
	}
	return nil
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
