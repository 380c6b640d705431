package cvo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
)

// Fetcher carries out Retrieve for a Backend: it has the image verified and
// downloaded, and loads its payload. The zero value knows no image. Several
// goroutines may use it if its functions allow that.
type Fetcher struct {
	// Own is the image that the engine is part of. It is neither verified nor
	// downloaded. Empty means none.
	Own   string
	Local fs.FS // the content of Own; nil means that it is retrieved like others
	// Verifier verifies images; nil verifies none.
	Verifier Verifier
	// Download returns the content of an image: the directories manifests and
	// release-manifests. It must return soon after ctx ends.
	Download func(ctx context.Context, image string) (fs.FS, error)
	// Timeout is how long everything may take; default 4 minutes, as in Policy.
	// An earlier deadline of the context takes precedence.
	Timeout time.Duration
	// Load says how payloads are loaded; nil means the zero options.
	Load *payload.Options
}

var (
	errNoImage    = errors.New("no payload image has been specified and the contents of the payload cannot be retrieved")
	errNoDownload = errors.New("images cannot be downloaded; set Download")
	errNoVerifier = errors.New("images cannot be verified; set Verifier")
)

// Fetch retrieves a release, and returns what belongs in World.Retrieved from
// then on:
//
//  1. The image is verified. That may take half of the time, so that the other
//     half is left for a forced download.
//  2. An image that could not be verified is downloaded only with force, because
//     unpacking it may run programs from it.
//  3. It is downloaded and loaded.
func (f *Fetcher) Fetch(ctx context.Context, r Retrieve) Retrieved {
	out := Retrieved{Image: r.Release.Image, Try: r.Try}
	switch {
	case r.Release.Image == "":
		out.Error = errNoImage.Error()
		return out
	case f.Own != "" && f.Local != nil && SameImage(f.Own, r.Release.Image):
		f.load(&out, f.Local)
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(max(f.Timeout, 0), 4*time.Minute))
	defer cancel()
	if err := f.verify(ctx, r.Release.Image); err != nil {
		if out.VerifyError = err.Error(); !r.Force {
			return out
		}
	}
	out.Verified = out.VerifyError == ""
	if f.Download == nil {
		out.Error = errNoDownload.Error()
		return out
	}
	fsys, err := f.Download(ctx, r.Release.Image)
	if err == nil && fsys == nil {
		err = fmt.Errorf("the download of %s returned nothing", r.Release.Image)
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	f.load(&out, fsys)
	return out
}

// verify calls the verifier, which gets half of the remaining time.
func (f *Fetcher) verify(ctx context.Context, image string) error {
	if f.Verifier == nil {
		return errNoVerifier
	}
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		left := end.Sub(fairlead.SystemClock{}.Now()) // context deadlines use the system clock
		ctx, cancel = context.WithTimeout(ctx, left/2)
		defer cancel()
	}
	return f.Verifier.Verify(ctx, Digest(image))
}

// load reads the payload.
func (f *Fetcher) load(out *Retrieved, fsys fs.FS) {
	opts := payload.Options{}
	if f.Load != nil {
		opts = *f.Load
	}
	opts.ReleaseImage = cmp.Or(opts.ReleaseImage, out.Image)
	p, err := payload.Load(fsys, &opts)
	if err != nil {
		out.LoadError = err.Error()
		return
	}
	out.Payload = p
}
