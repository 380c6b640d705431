package clusterversion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// releases contains the requested releases. Each is retrieved in its own
// goroutine, so that no pass waits for a registry.
type releases struct {
	ctx  context.Context // of the background work
	stop context.CancelFunc
	wait sync.WaitGroup

	mu  sync.Mutex
	all []*release // in the order in which they were last requested
}

// release is a requested release.
type release struct {
	image string
	try   int
	done  bool          // the following fields are set
	got   cvo.Retrieved // the result
	slow  []payload.ID  // the resources that take time after they were applied
}

// mostReleases limits how many are kept. An engine needs the one that it
// applies, the previous one and the requested one; others are leftovers.
const mostReleases = 4

func (r *releases) begin() { r.ctx, r.stop = context.WithCancel(context.Background()) }

func (r *releases) end() {
	r.stop()
	r.wait.Wait()
}

// retrieve starts to retrieve a release, unless this attempt or a later one was
// already started.
func (b *Backend) retrieve(a cvo.Retrieve) {
	next := &release{image: a.Release.Image, try: a.Try}
	if !b.releases.add(next, b.desired()) {
		return
	}
	b.releases.wait.Go(func() {
		got, slow := b.fetch(b.releases.ctx, a)
		if b.releases.ctx.Err() != nil {
			return // interrupted: there is no result
		}
		b.releases.mu.Lock()
		next.got, next.slow, next.done = got, slow, true
		b.releases.mu.Unlock()
		b.opts.Changed()
	})
}

// desired returns the image that the cluster runs or is being updated to.
func (b *Backend) desired() string {
	b.seen.mu.Lock()
	defer b.seen.mu.Unlock()
	if b.seen.version == nil {
		return ""
	}
	return b.seen.version.Status.Desired.Image
}

// add adds a release in place of an earlier attempt; if there are too many, it
// drops the least recently requested one other than keep. It returns false for
// a known attempt.
func (r *releases) add(next *release, keep string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, old := range r.all {
		if old.image != next.image {
			continue
		}
		if old.try >= next.try {
			return false
		}
		r.all = slices.Delete(r.all, i, i+1)
		break
	}
	r.all = append(r.all, next)
	if len(r.all) > mostReleases {
		i := slices.IndexFunc(r.all, func(x *release) bool { return x.image != keep })
		r.all = slices.Delete(r.all, i, i+1)
	}
	return true
}

// results returns the results, sorted by image.
func (r *releases) results() []cvo.Retrieved {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []cvo.Retrieved
	for _, x := range r.all {
		if x.done {
			out = append(out, x.got)
		}
	}
	slices.SortFunc(out, func(a, b cvo.Retrieved) int { return strings.Compare(a.Image, b.Image) })
	return out
}

// slow returns the resources of all kept payloads that take time.
func (r *releases) slow() []payload.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []payload.ID
	for _, x := range r.all {
		out = append(out, x.slow...)
	}
	return out
}

// fetch verifies and reads a release. The verifier may use half of the time,
// so that a forced release can still be read.
func (b *Backend) fetch(ctx context.Context, a cvo.Retrieve) (got cvo.Retrieved, takeTime []payload.ID) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.retrieveTimeout())
	defer cancel()
	got = cvo.Retrieved{Image: a.Release.Image, Try: a.Try}
	err := b.verify(ctx, a.Release.Image)
	got.Verified = err == nil
	if err != nil {
		got.VerifyError = err.Error()
		if !a.Force {
			return got, nil
		}
	}
	files, err := b.open(ctx, a.Release)
	if err != nil {
		got.Error = err.Error()
		return got, nil
	}
	p, err := payload.Load(files, &payload.Options{ReleaseImage: a.Release.Image, Profile: b.opts.profile()})
	if c, ok := files.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		got.LoadError = err.Error()
		return got, nil
	}
	got.Payload = p
	for _, m := range p.Manifests {
		if slow(m.ID) && !m.Delete() && !m.CreateOnly() {
			takeTime = append(takeTime, m.ID)
		}
	}
	return got, takeTime
}

func (b *Backend) verify(ctx context.Context, image string) error {
	digest := cmp.Or(cvo.Digest(image), image) // a name without a digest is passed as it is; no verifier accepts it
	if b.opts.Verifier == nil {
		return fmt.Errorf("unable to verify %q: there is no verifier; set Options.Verifier", digest)
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.retrieveTimeout()/2)
	defer cancel()
	return b.opts.Verifier.Verify(ctx, digest)
}

func (b *Backend) open(ctx context.Context, r cvo.Release) (fs.FS, error) {
	if b.opts.Source == nil {
		return nil, errors.New("there is no source of releases; set Options.Source")
	}
	return b.opts.Source.Open(ctx, r)
}
