package registry

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/archive"
)

// Image is an opened image.
type Image struct {
	fs.FS
	// Name is where it was found: the requested name, or that at a mirror.
	Name string
	// Digest is what the name resolved to: that of the index, if there is one.
	Digest string
}

// Open returns the files of a catalog, those below the directory in its label,
// or of a bundle, the directories manifests and metadata. They are in memory,
// compressed: the result need not be closed. It implements Images of package
// kube/operators; the result is an [*Image].
func (c *Client) Open(ctx context.Context, image string) (fs.FS, error) {
	return c.open(ctx, image, func(labels map[string]string) (string, []string, error) {
		if dir, ok := labels[source.ConfigsLabel]; ok {
			return clean(dir), []string{"."}, nil
		}
		if dir, ok := labels[source.ManifestsLabel]; ok {
			return path.Dir(clean(dir)), []string{path.Base(clean(dir)), "metadata"}, nil
		}
		return "", nil, fmt.Errorf("it has neither the label %s of a catalog nor %s of a bundle", source.ConfigsLabel, source.ManifestsLabel)
	})
}

// OpenRelease returns the directories manifests and release-manifests of a
// release image. With it a Client is a Source of package kube/clusterversion:
//
//	clusterversion.SourceFunc(client.OpenRelease)
func (c *Client) OpenRelease(ctx context.Context, r cvo.Release) (fs.FS, error) {
	return c.open(ctx, r.Image, func(map[string]string) (string, []string, error) {
		return ".", []string{"manifests", "release-manifests"}, nil
	})
}

// clean returns the name of a directory of an image as used in archives.
func clean(dir string) string { return path.Join(".", path.Clean("/" + dir)[1:]) }

// open returns the files below some directories of an image: choose returns
// which, given the labels.
func (c *Client) open(ctx context.Context, image string, choose func(labels map[string]string) (root string, below []string, err error)) (*Image, error) {
	if c.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	var img *found
	var config *v1.ConfigFile
	// After an interrupted transfer the image is looked up again, because the
	// library keeps a partly read configuration, and takes it for complete.
	err := c.again(ctx, func() (err error) {
		if img, err = c.find(ctx, image); err != nil {
			return err
		}
		if config, err = img.ConfigFile(); err != nil {
			return fmt.Errorf("image %q: its configuration: %w", img.at.Name(), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Image, error) { return nil, fmt.Errorf("image %q: %w", img.at.Name(), err) }
	root, below, err := choose(config.Config.Labels)
	if err != nil {
		return fail(err)
	}
	layers, err := img.Layers()
	if err != nil {
		return fail(err)
	}
	for i, l := range layers {
		if layers[i], err = partial.CompressedToLayer(&kept{l, ctx, c}); err != nil {
			return fail(err)
		}
	}
	files, err := c.files(ctx, &whole{img, layers}, root, below)
	if err != nil {
		return fail(err)
	}
	return &Image{FS: files, Name: img.at.Name(), Digest: img.digest.String()}, nil
}

// files flattens the layers, and reads the files below the directories.
func (c *Client) files(ctx context.Context, img v1.Image, root string, below []string) (fs.FS, error) {
	flat := mutate.Extract(img)
	defer flat.Close()
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		w.CloseWithError(pick(&unpacking{flat, c.options.MaxUnpacked, c.options.MaxUnpacked}, tar.NewWriter(w), root, below))
	}()
	return archive.Read(ctx, r, &archive.Options{MaxSize: c.options.MaxFiles})
}

// pick copies the members below the directories, with names relative to root.
func pick(archive io.Reader, to *tar.Writer, root string, below []string) error {
	from, seen := tar.NewReader(archive), false
	for {
		h, err := from.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		member, ok := within(root, clean(h.Name))
		if !ok || !wanted(member, below) {
			continue
		}
		seen = true
		h.Name = member
		if h.Typeflag == tar.TypeLink {
			// A hard link names its target from the root of the image.
			if h.Linkname, ok = within(root, clean(h.Linkname)); !ok {
				return fmt.Errorf("%s is a hard link to outside of the directory", member)
			}
		}
		if err := to.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(to, from); err != nil {
			return err
		}
	}
	// Even if a layer cannot be read, the flattened archive ends properly; the
	// error is returned after that.
	if _, err := io.Copy(io.Discard, archive); err != nil {
		return err
	}
	if !seen {
		return fmt.Errorf("it has no files below /%s", strings.Join(prefixed(root, below), " and /"))
	}
	return to.Close()
}

// within returns the name of a member relative to a directory.
func within(dir, member string) (string, bool) {
	if dir == "." {
		return member, member != "."
	}
	return strings.CutPrefix(member, dir+"/")
}

func wanted(member string, below []string) bool {
	for _, dir := range below {
		if dir == "." || member == dir || strings.HasPrefix(member, dir+"/") {
			return true
		}
	}
	return false
}

func prefixed(root string, below []string) []string {
	all := make([]string, len(below))
	for i, dir := range below {
		all[i] = path.Join(root, dir)
	}
	return all
}

// unpacking limits how much of an image is decompressed.
type unpacking struct {
	io.Reader
	left, max int64
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, &fairlead.InputLimitError{What: "size of the unpacked image in bytes", Max: u.max}
	}
	return n, err
}

// whole is an image whose layers come from the cache.
type whole struct {
	v1.Image
	layers []v1.Layer
}

func (w *whole) Layers() ([]v1.Layer, error) { return w.layers, nil }

// kept is a layer that is read through the cache.
type kept struct {
	partial.CompressedLayer
	ctx    context.Context
	client *Client
}

// Compressed returns the layer as stored in the registry. An interrupted transfer
// is repeated.
func (k *kept) Compressed() (io.ReadCloser, error) {
	digest, err := k.Digest()
	if err != nil {
		return nil, err
	}
	size, err := k.Size()
	if err != nil {
		return nil, err
	}
	var r io.ReadCloser
	err = k.client.again(k.ctx, func() (err error) {
		r, err = k.client.cache.get(k.ctx, digest, size, k.CompressedLayer.Compressed)
		return err
	})
	return r, err
}

// again calls f, and calls it again if a transfer was interrupted.
func (c *Client) again(ctx context.Context, f func() error) error {
	for attempt, pause := 1, c.options.Pause; ; attempt, pause = attempt+1, 2*pause {
		err := f()
		if attempt >= c.options.Attempts || !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
