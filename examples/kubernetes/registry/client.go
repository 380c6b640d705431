package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/fairlead/fairlead"
)

// Options configures a [Client]. Zero values mean the defaults.
type Options struct {
	// Cache is a directory for layers, which is created. It is required.
	// Several clients and processes may share it.
	Cache string
	// MaxCache limits the bytes of the layers that are kept, 10 GiB by default.
	// The least recently used ones are removed first. Layers in use may exceed
	// it.
	MaxCache int64
	// MaxImage limits the compressed bytes of one image, 4 GiB by default.
	MaxImage int64
	// MaxUnpacked limits the decompressed bytes of one image, 16 GiB by
	// default.
	MaxUnpacked int64
	// MaxFiles limits the bytes of the opened files, 1 GiB by default: those below
	// the requested directories.
	MaxFiles int64
	// Credentials are those sent to registries; see [PullSecrets]. Nil means the
	// configuration of docker or podman on this machine.
	Credentials authn.Keychain
	// Mirrors are other locations of images; see [ReadMirrors].
	Mirrors []Mirror
	// Platform selects one of several images, linux/amd64 by default.
	Platform v1.Platform
	// Transport makes requests; nil means one with the proxies of the
	// environment. For images that others name use that of package outbound, which
	// connects neither to this machine nor, if wanted, to private networks.
	Transport http.RoundTripper
	// Timeout limits the time for opening one image. Zero means no limit but that of the
	// context.
	Timeout time.Duration
	// Attempts limits how often each request is made, 5 by default. Pause is the
	// wait before the second attempt, doubled for each further one; one second by
	// default.
	Attempts int
	Pause    time.Duration // see Attempts
}

// Limits far above any image of a catalog, bundle or release.
const (
	maxDocument  = 8 << 20 // bytes of a manifest, a configuration, or an answer with a token
	maxManifests = 1000    // images in an index
	maxLayers    = 1000    // of an image
)

// Client opens images. It may be used by several goroutines.
type Client struct {
	options Options
	remote  []remote.Option
	cache   cache
}

// New returns a Client. Errors are about the cache or the options.
func New(o Options) (*Client, error) {
	if o.Cache == "" {
		return nil, errors.New("registry: Options.Cache is empty: name a directory for layers")
	}
	o.MaxCache = cmp.Or(o.MaxCache, 10<<30)
	o.MaxImage = cmp.Or(o.MaxImage, 4<<30)
	o.MaxUnpacked = cmp.Or(o.MaxUnpacked, 16<<30)
	o.MaxFiles = cmp.Or(o.MaxFiles, 1<<30)
	o.Attempts = cmp.Or(o.Attempts, 5)
	o.Pause = cmp.Or(o.Pause, time.Second)
	if o.MaxCache < 0 || o.MaxImage < 0 || o.MaxUnpacked < 0 || o.MaxFiles < 0 || o.Attempts < 0 || o.Pause < 0 || o.Timeout < 0 {
		return nil, errors.New("registry: a limit of Options is negative; 0 means the default")
	}
	if o.Credentials == nil {
		o.Credentials = authn.DefaultKeychain
	}
	if o.Platform.OS == "" {
		o.Platform = v1.Platform{OS: "linux", Architecture: "amd64"}
	}
	if o.Transport == nil {
		o.Transport = remote.DefaultTransport
	}
	c := &Client{options: o, cache: cache{dir: o.Cache, max: o.MaxCache}}
	c.remote = []remote.Option{
		remote.WithAuthFromKeychain(o.Credentials), remote.WithPlatform(o.Platform), remote.WithTransport(small{o.Transport, o.MaxImage}),
		remote.WithRetryBackoff(remote.Backoff{Duration: o.Pause, Factor: 2, Jitter: 0.1, Steps: o.Attempts}),
		remote.WithRetryStatusCodes(http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout),
	}
	return c, c.cache.open()
}

// found is an image, with its location.
type found struct {
	v1.Image
	at     name.Reference
	digest v1.Hash
}

// find looks up an image, at its mirrors and then in the registry of its name.
func (c *Client) find(ctx context.Context, image string) (*found, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return nil, fmt.Errorf("image %q: is not the name of an image: %w", image, err)
	}
	places, err := mirrored(ref, c.options.Mirrors)
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", image, err)
	}
	var errs []error
	for _, at := range places {
		img, err := c.ask(ctx, at)
		if err == nil {
			return img, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("image %q: %w", image, ctx.Err())
		}
		errs = append(errs, fmt.Errorf("image %q: %w", at.Name(), err))
	}
	return nil, errors.Join(errs...)
}

// ask looks up an image at one location.
func (c *Client) ask(ctx context.Context, at name.Reference) (*found, error) {
	options := append([]remote.Option{remote.WithContext(ctx)}, c.remote...)
	d, err := remote.Get(at, options...)
	if err != nil {
		return nil, err
	}
	if d.MediaType.IsIndex() {
		index, err := d.ImageIndex()
		if err != nil {
			return nil, err
		}
		list, err := index.IndexManifest()
		if err != nil {
			return nil, fmt.Errorf("its index is malformed: %w", err)
		}
		if n := len(list.Manifests); n > maxManifests {
			return nil, &fairlead.InputLimitError{What: "number of images in the index", Size: int64(n), Max: maxManifests}
		}
	}
	img, err := d.Image()
	if err != nil {
		return nil, err
	}
	m, err := img.Manifest()
	if err != nil {
		return nil, fmt.Errorf("its manifest is malformed: %w", err)
	}
	if n := len(m.Layers); n > maxLayers {
		return nil, &fairlead.InputLimitError{What: "number of layers", Size: int64(n), Max: maxLayers}
	}
	size := m.Config.Size
	for _, l := range m.Layers {
		if l.Size < 0 || l.Size > c.options.MaxImage-size {
			return nil, &fairlead.InputLimitError{What: "size of the image's layers in bytes", Max: c.options.MaxImage}
		}
		size += l.Size
	}
	if m.Config.Size > maxDocument {
		return nil, &fairlead.InputLimitError{What: "size of the image's configuration in bytes", Size: m.Config.Size, Max: maxDocument}
	}
	return &found{img, at, d.Digest}, nil
}
