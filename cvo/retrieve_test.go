package cvo_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// verifier answers after a time, or when it is cancelled.
type verifier struct {
	t      *testing.T
	digest string // that it expects
	takes  time.Duration
	err    error
	asked  int
	lasted time.Duration
}

// Verify implements cvo.Verifier.
func (v *verifier) Verify(ctx context.Context, digest string) error {
	v.asked++
	if digest != v.digest {
		v.t.Errorf("asked to verify %q, not %q", digest, v.digest)
	}
	v.lasted = wait(ctx, v.takes)
	return v.err
}

// wait lasts for a time, or until ctx ends, and returns how long it lasted.
func wait(ctx context.Context, d time.Duration) time.Duration {
	begin := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return time.Since(begin)
}

// The 13 rows of TestPayloadRetrieverRetrievePayload. Times are those of the
// reference: all of it may take two seconds.
func TestFetch(t *testing.T) {
	const (
		tag     = "quay.io/openshift-release-dev/ocp-release:failing"
		digest  = "sha256:08ef16270e643a001454410b22864db6246d782298be267688a4433d83f404f4"
		image   = "quay.io/openshift-release-dev/ocp-release@" + digest
		forever = time.Hour
		all     = 2 * time.Second
	)
	bad, gone := errors.New("fails-to-verify"), errors.New("fails to download")
	files := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.1.0"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.1.0"}}`)},
	}
	type download struct {
		takes time.Duration
		err   error
	}
	for _, c := range []struct {
		name     string
		image    string
		force    bool
		deadline time.Duration // of the context; zero means none
		verifier verifier
		download *download // nil: it must not be asked

		verified, loaded     bool
		failure, unverified  string
		verifying, lastingTo time.Duration // how long verification and all of it last
	}{
		{name: "when desired image matches retriever image then return local payload directory", image: "releaseImage", loaded: true},
		{name: "when desired image is empty then return error", failure: "no payload image has been specified and the contents of the payload cannot be retrieved"},
		{name: "tag pullspec, passes verification, fails to download", image: tag, download: &download{err: gone}, verified: true, failure: "fails to download"},
		{name: "tag pullspec, fails verification", image: tag, verifier: verifier{err: bad}, unverified: "fails-to-verify"},
		{name: "sha digest pullspec, passes verification, fails to download", image: image, verifier: verifier{digest: digest}, download: &download{err: gone}, verified: true, failure: "fails to download"},
		{name: "sha digest, fails verification, forced, download fails", image: image, force: true, verifier: verifier{digest: digest, err: bad}, download: &download{err: gone}, unverified: "fails-to-verify", failure: "fails to download"},
		{name: "sha digest, verification times out, unlimited context, forced, download fails", image: image, force: true, verifier: verifier{digest: digest, takes: forever, err: bad}, download: &download{err: gone}, unverified: "fails-to-verify", failure: "fails to download", verifying: all / 2, lastingTo: all / 2},
		{name: "sha digest, verification times out, long deadline, forced, download fails", image: image, force: true, deadline: 4 * time.Second, verifier: verifier{digest: digest, takes: forever, err: bad}, download: &download{err: gone}, unverified: "fails-to-verify", failure: "fails to download", verifying: all / 2, lastingTo: all / 2},
		{name: "sha digest, verification times out, long deadline, forced, download times out", image: image, force: true, deadline: 4 * time.Second, verifier: verifier{digest: digest, takes: forever, err: bad}, download: &download{takes: 3 * time.Second, err: gone}, unverified: "fails-to-verify", failure: "fails to download", verifying: all / 2, lastingTo: all},
		{name: "sha digest, fails verification, forced, download succeeds", image: image, force: true, verifier: verifier{digest: digest, err: bad}, download: &download{}, unverified: "fails-to-verify", loaded: true},
		{name: "sha digest, passes, download hangs (RHBZ#2090680)", image: image, verifier: verifier{digest: digest}, download: &download{takes: forever, err: errors.New("download was canceled")}, verified: true, failure: "download was canceled", lastingTo: all},
		{name: "sha digest, verification times out, forced, enough time for the download", image: image, force: true, verifier: verifier{digest: digest, takes: forever, err: bad}, download: &download{takes: 300 * time.Millisecond}, unverified: "fails-to-verify", loaded: true, verifying: all / 2, lastingTo: all/2 + 300*time.Millisecond},
		{name: "sha digest, passes, download succeeds", image: image, verifier: verifier{digest: digest}, download: &download{}, verified: true, loaded: true},
		// What the rows leave open.
		{name: "a shorter deadline of the context", image: image, force: true, deadline: time.Second, verifier: verifier{digest: digest, takes: forever, err: bad}, download: &download{takes: forever, err: gone}, unverified: "fails-to-verify", failure: "fails to download", verifying: time.Second / 2, lastingTo: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.verifier.t = t
				f := cvo.Fetcher{Own: "releaseImage", Local: files, Verifier: &c.verifier, Timeout: all}
				f.Download = func(ctx context.Context, got string) (fs.FS, error) {
					if c.download == nil || got != c.image {
						t.Errorf("%s was downloaded", got)
						return nil, nil
					}
					wait(ctx, c.download.takes)
					return files, c.download.err
				}
				ctx := t.Context()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				begin := time.Now()
				r := f.Fetch(ctx, cvo.Retrieve{Release: cvo.Release{Image: c.image}, Try: 3, Force: c.force})
				if r.Image != c.image || r.Try != 3 {
					t.Errorf("the answer is to another question: %+v", r)
				}
				if r.Verified != c.verified || r.VerifyError != c.unverified || r.Error != c.failure || (r.Payload != nil) != c.loaded {
					t.Errorf("%+v", r)
				}
				if asked := c.verifier.asked > 0; asked != (c.verified || c.unverified != "") {
					t.Errorf("the verifier was asked: %v", asked)
				}
				if c.verifier.lasted != c.verifying || time.Since(begin) != c.lastingTo {
					t.Errorf("verification lasted for %s, all of it for %s", c.verifier.lasted, time.Since(begin))
				}
			})
		})
	}
}

func TestFetchWithout(t *testing.T) {
	r := new(cvo.Fetcher).Fetch(t.Context(), cvo.Retrieve{Release: cvo.Release{Image: "a@sha256:1"}})
	if r.Payload != nil || !strings.Contains(r.VerifyError, "set Verifier") {
		t.Errorf("without a verifier: %+v", r)
	}
	f := cvo.Fetcher{Verifier: cvo.Digests{"sha256:1"}}
	if r := f.Fetch(t.Context(), cvo.Retrieve{Release: cvo.Release{Image: "a@sha256:1"}}); !strings.Contains(r.Error, "set Download") {
		t.Errorf("without a download: %+v", r)
	}
	f.Download = func(context.Context, string) (fs.FS, error) { return fstest.MapFS{}, nil }
	if r := f.Fetch(t.Context(), cvo.Retrieve{Release: cvo.Release{Image: "a@sha256:1"}}); r.LoadError == "" || !r.Verified || r.Payload != nil {
		t.Errorf("an image that holds nothing: %+v", r)
	}
	f.Download = func(context.Context, string) (fs.FS, error) { return nil, nil }
	if r := f.Fetch(t.Context(), cvo.Retrieve{Release: cvo.Release{Image: "a@sha256:1"}}); r.Error == "" {
		t.Errorf("a download that came to nothing: %+v", r)
	}
}
