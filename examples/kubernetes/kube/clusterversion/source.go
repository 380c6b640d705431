package clusterversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead/cvo"
)

// Source provides the files of release images. It is called from several
// goroutines.
type Source interface {
	// Open returns the files of a release image: the directories manifests and
	// release-manifests, see payload.Load. They are read at once; an io.Closer is
	// closed afterwards. The error says why the image is not available.
	Open(ctx context.Context, release cvo.Release) (fs.FS, error)
}

// Directory is a Source on disk: a directory with one directory for each
// release. For an image with a digest it is <algorithm>/<hex>, as in
// sha256/8c04…; for an image without one it is named after the image's tag, or
// after the release's version if there is no tag.
type Directory string

// Open returns the directory of a release. It opens nothing outside of the
// Directory.
func (d Directory) Open(_ context.Context, r cvo.Release) (fs.FS, error) {
	name, err := directoryOf(r)
	if err != nil {
		return nil, err
	}
	full := filepath.Join(string(d), filepath.FromSlash(name))
	switch info, err := os.Stat(full); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("release %s is not on disk: there is no directory %s", r.Image, full)
	case err != nil:
		return nil, fmt.Errorf("release %s: %w", r.Image, err)
	case !info.IsDir():
		return nil, fmt.Errorf("release %s: %s is not a directory", r.Image, full)
	}
	root, err := os.OpenRoot(full) // links do not lead out of it
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", r.Image, err)
	}
	return root.FS(), nil // which keeps root open as long as it is used
}

// directoryOf names the directory of a release.
func directoryOf(r cvo.Release) (string, error) {
	name, digest, ok := strings.Cut(r.Image, "@")
	if ok {
		name = strings.Replace(digest, ":", "/", 1)
	} else if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[i+1:]
	} else {
		name = r.Version
	}
	if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(name)) || strings.Count(name, "/") > 1 {
		return "", fmt.Errorf("image %q: neither digest, tag nor version identifies a release; write registry/name@sha256:…", r.Image)
	}
	return name, nil
}

// SourceFunc makes a [Source] of a function, such as Client.OpenRelease of
// package registry.
type SourceFunc func(ctx context.Context, release cvo.Release) (fs.FS, error)

// Open implements [Source].
func (f SourceFunc) Open(ctx context.Context, release cvo.Release) (fs.FS, error) {
	return f(ctx, release)
}
