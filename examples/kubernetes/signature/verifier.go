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

// Options configures a Verifier. Nil means the zero value.
type Options struct {
	// First are queried before all other stores, one after the other: those
	// without requests to remote servers, such as [ConfigMaps]. Each may take
	// half of the remaining time.
	First []Store
	// Repositories are those whose images a statement may name, such as
	// quay.io/openshift-release-dev/ocp-release; empty means any.
	Repositories []string
	// Timeout limits the time of one Verify. Zero means half of the time that
	// its context leaves, or 2 minutes if that has no deadline.
	Timeout time.Duration
	// MaxSignatures limits how many signatures of one store are tried for a
	// digest; default 32.
	MaxSignatures int
	// Remember is for how many images the last found signatures are kept;
	// default 64.
	Remember int
	// Clock is the clock for expiry of keys and signatures; default that of
	// the system.
	Clock fairlead.Clock
}

// Verifier verifies release images by their signatures. [New] returns one. It
// is safe for concurrent use.
type Verifier struct {
	keyrings []*Keyring
	stores   []Store
	opts     Options
	known    memory
}

var _ cvo.Verifier = (*Verifier)(nil)

// New returns a verifier that requires each of the keyrings to be satisfied by
// a signature from one of the stores. It is an error if there is no keyring or
// no store, if one is nil, or if two keyrings have the same name.
func New(keyrings []*Keyring, stores []Store, opts *Options) (*Verifier, error) {
	v := &Verifier{keyrings: slices.Clone(keyrings), stores: slices.Clone(stores)}
	if opts != nil {
		v.opts = *opts
		v.opts.First = slices.Clone(opts.First)
		v.opts.Repositories = slices.Clone(opts.Repositories)
	}
	switch {
	case len(keyrings) == 0:
		return nil, errors.New("a verifier without a keyring would trust every image: give it at least one")
	case len(stores) == 0:
		return nil, errors.New("a verifier without a signature store can trust no image: give it at least one")
	case slices.Contains(keyrings, nil):
		return nil, errors.New("a keyring of the verifier is nil: was the error of ParseKeyring checked?")
	case slices.Contains(slices.Concat(v.opts.First, stores), nil):
		return nil, errors.New("a signature store of the verifier is nil: was the error of Open checked?")
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

// Verify returns nil once each keyring is satisfied. Otherwise it returns an
// *Error, which also contains the error of a ctx that ended.
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
	order []string // digests, most recently found last
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
