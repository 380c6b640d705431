package signature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// Options say how signatures are looked for. Nil is the zero value.
type Options struct {
	// First are asked before all other stores, one after the other: what costs
	// no request to another place, such as [ConfigMaps]. Each may take half of
	// the time that is left.
	First []Store
	// Repositories are those that a statement may name an image of, such as
	// quay.io/openshift-release-dev/ocp-release; empty for any.
	Repositories []string
	// Timeout is the longest that one Verify may take. Zero means half of the
	// time that its context leaves, or 2 minutes if that has no end.
	Timeout time.Duration
	// MaxSignatures is how many signatures of one store are tried for a digest;
	// default 32.
	MaxSignatures int
	// Remember is for how many images the signatures are kept that were found
	// last; default 64.
	Remember int
	// Clock tells whether keys and signatures have expired; default the
	// machine's.
	Clock fairlead.Clock
}

// Verifier verifies release images by their signatures. [New] makes one. It is
// safe for concurrent use.
type Verifier struct {
	keyrings []*Keyring
	stores   []Store
	opts     Options
	known    memory
}

var _ cvo.Verifier = (*Verifier)(nil)

// New returns a verifier that wants each of the keyrings satisfied by a
// signature of one of the stores. Without a keyring, without a store, with one
// that is nil, and with two keyrings of one name it is an error.
func New(keyrings []*Keyring, stores []Store, opts *Options) (*Verifier, error) {
	v := &Verifier{keyrings: slices.Clone(keyrings), stores: slices.Clone(stores)}
	if opts != nil {
		v.opts = *opts
		v.opts.First = slices.Clone(opts.First)
		v.opts.Repositories = slices.Clone(opts.Repositories)
	}
	switch {
	case len(keyrings) == 0:
		return nil, errors.New("a verifier without a keyring would trust every image: give it one")
	case len(stores) == 0:
		return nil, errors.New("a verifier without a signature store can trust no image: give it one")
	case slices.Contains(keyrings, nil):
		return nil, errors.New("a keyring of the verifier is nil: was the error of ParseKeyring looked at?")
	case slices.Contains(slices.Concat(v.opts.First, stores), nil):
		return nil, errors.New("a signature store of the verifier is nil: was the error of Open looked at?")
	}
	slices.SortFunc(v.keyrings, func(a, b *Keyring) int { return cmp.Compare(a.name, b.name) })
	for i, k := range v.keyrings[1:] {
		if k.name == v.keyrings[i].name {
			return nil, fmt.Errorf("two keyrings are called %s: name them differently", k.name)
		}
	}
	v.opts.MaxSignatures = cmp.Or(max(v.opts.MaxSignatures, 0), 32)
	v.known.size = cmp.Or(max(v.opts.Remember, 0), 64)
	if v.opts.Clock == nil {
		v.opts.Clock = fairlead.SystemClock{}
	}
	return v, nil
}

// Verify returns nil once each keyring is satisfied. Any other end is an
// *Error, which also holds the error of a ctx that ended.
func (v *Verifier) Verify(ctx context.Context, digest string) error {
	if !cvo.IsDigest(digest) {
		return &Error{Digest: digest, Err: errors.New("it is not a digest; name the image by one, as in registry/name@sha256:…")}
	}
	now := v.opts.Clock.Now()
	s := v.search(digest, now)
	for _, m := range v.known.get(digest) {
		s.try(attempt{}, m)
	}
	if s.done() {
		return nil
	}
	s = v.search(digest, now)
	within, cancel := context.WithTimeout(ctx, v.timeout(ctx))
	defer cancel()
	for i, store := range v.opts.First {
		if s.askHalf(within, i, store); s.done() {
			break
		}
	}
	if !s.done() {
		s.askAll(within, v.stores)
	}
	if s.done() {
		v.known.put(digest, s.good)
		return nil
	}
	return s.err(ctx, within)
}

// timeout returns how long a Verify may take.
func (v *Verifier) timeout(ctx context.Context) time.Duration {
	if v.opts.Timeout > 0 {
		return v.opts.Timeout
	}
	if end, ok := ctx.Deadline(); ok {
		return time.Until(end) / 2
	}
	return 2 * time.Minute
}

// memory keeps the signatures of the last images.
type memory struct {
	mu    sync.Mutex
	size  int
	order []string // digests, the one found last at the end
	good  map[string][][]byte
}

func (m *memory) get(digest string) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.good[digest]
}

func (m *memory) put(digest string, good [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.good == nil {
		m.good = map[string][][]byte{}
	}
	m.order = append(slices.DeleteFunc(m.order, func(d string) bool { return d == digest }), digest)
	m.good[digest] = good
	if len(m.order) > m.size {
		delete(m.good, m.order[0])
		m.order = m.order[1:]
	}
}
