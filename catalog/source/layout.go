package source

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/fairlead/fairlead"
)

// Limits of the documents of a layout.
const (
	maxManifest  = 16 << 20 // bytes
	maxManifests = 1000     // indexes and manifests read
)

// isLayout reports whether a directory is an OCI image layout.
func isLayout(fsys fs.FS) bool {
	for _, name := range []string{"oci-layout", "index.json"} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// descriptor refers to a blob.
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
}

// manifest is an image manifest or an index of manifests.
type manifest struct {
	Manifests []descriptor `json:"manifests"`
	Config    descriptor   `json:"config"`
	Layers    []descriptor `json:"layers"`
}

// kind says which images of a layout to look for.
type kind struct {
	name  string                    // in messages
	label string                    // that such an image has
	dir   func(label string) string // directory of the files in the image
}

var (
	catalogImage = kind{"catalog", ConfigsLabel, func(label string) string { return label }}
	bundleImage  = kind{"bundle", ManifestsLabel, func(label string) string { return path.Dir(path.Clean("/" + label)) }}
)

// openLayout unpacks the files from the first image of a layout that has
// them.
func openLayout(fsys fs.FS, o *Options, what kind) (*Source, error) {
	data, err := readAll(fsys, "index.json")
	if err != nil {
		return nil, err
	}
	l := layout{fsys: fsys, what: what, decoders: o.Decoders}
	image, dir, err := l.find(data, "index.json")
	if err != nil {
		return nil, err
	}
	if image == nil {
		return nil, fmt.Errorf("none of the %d images of the layout has the label %s: it is not a %s image", l.images, what.label, what.name)
	}
	u, err := newUnpacker(o)
	if err != nil {
		return nil, err
	}
	for _, layer := range image.Layers {
		if err := l.layer(u, layer, dir); err != nil {
			return nil, errors.Join(fmt.Errorf("layer %s: %w", layer.Digest, err), u.discard())
		}
	}
	if !u.found {
		return nil, errors.Join(fmt.Errorf("the image has no directory /%s, which its label %s names for the %s", dir, what.label, what.name), u.discard())
	}
	return u.source(), nil
}

type layout struct {
	fsys     fs.FS
	what     kind
	decoders []Decoder
	looked   int
	images   int
}

// find looks for the first image of the kind, in the order in which indexes
// list them. It returns the directory of the files in the image.
func (l *layout) find(data []byte, name string) (image *manifest, dir string, err error) {
	if l.looked++; l.looked > maxManifests {
		return nil, "", &fairlead.InputLimitError{What: "number of manifests in the layout", Max: maxManifests}
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, "", fmt.Errorf("%s is malformed: %w", name, err)
	}
	for _, d := range m.Manifests {
		inner, err := l.blob(d)
		if err != nil {
			return nil, "", err
		}
		if image, dir, err := l.find(inner, "manifest "+d.Digest); image != nil || err != nil {
			return image, dir, err
		}
	}
	if len(m.Layers) == 0 {
		return nil, "", nil
	}
	l.images++
	config, err := l.blob(m.Config)
	if err != nil {
		return nil, "", err
	}
	var c struct {
		Config struct {
			Labels map[string]string
		} `json:"config"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, "", fmt.Errorf("image configuration %s is malformed: %w", m.Config.Digest, err)
	}
	label, ok := c.Config.Labels[l.what.label]
	if !ok {
		return nil, "", nil
	}
	return &m, path.Join(".", path.Clean("/" + l.what.dir(label))[1:]), nil
}

// blob reads a small blob whole and checks its digest.
func (l *layout) blob(d descriptor) ([]byte, error) {
	name, sum, err := blobName(d.Digest)
	if err != nil {
		return nil, err
	}
	data, err := readAll(l.fsys, name)
	if err != nil {
		return nil, missing(d.Digest, err)
	}
	sum.Write(data)
	return data, checkSum(d.Digest, sum)
}

// layer unpacks one layer and checks its digest.
func (l *layout) layer(u *unpacker, d descriptor, dir string) error {
	name, sum, err := blobName(d.Digest)
	if err != nil {
		return err
	}
	f, err := l.fsys.Open(name)
	if err != nil {
		return missing(d.Digest, err)
	}
	defer f.Close()
	whole := io.TeeReader(f, sum)
	r, archive, err := decompress(whole, l.decoders)
	if err != nil {
		return err
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	if archive {
		if err := u.unpack(r, dir); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return err
	}
	return checkSum(d.Digest, sum)
}

// blobName returns the path of a blob, and the hash for its digest.
func blobName(digest string) (string, hash.Hash, error) {
	algorithm, sum, _ := strings.Cut(digest, ":")
	var h hash.Hash
	switch algorithm {
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	default:
		return "", nil, fmt.Errorf("the digest %q has an unknown algorithm", digest)
	}
	if b, err := hex.DecodeString(sum); err != nil || len(b) != h.Size() {
		return "", nil, fmt.Errorf("the digest %q is malformed", digest)
	}
	return path.Join("blobs", algorithm, sum), h, nil
}

// missing says that a blob cannot be read.
func missing(digest string, err error) error { return fmt.Errorf("the blob %s: %w", digest, err) }

func checkSum(digest string, sum hash.Hash) error {
	_, want, _ := strings.Cut(digest, ":")
	if got := hex.EncodeToString(sum.Sum(nil)); !bytes.EqualFold([]byte(got), []byte(want)) {
		return fmt.Errorf("the blob %s is damaged: its digest is %s", digest, got)
	}
	return nil
}

func readAll(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(data) > maxManifest {
		err = &fairlead.InputLimitError{What: "size in bytes of " + name, Max: maxManifest}
	}
	return data, err
}
