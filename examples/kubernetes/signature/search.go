package signature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// search is one call of Verify.
type search struct {
	v      *Verifier
	digest string
	now    time.Time

	mu       sync.Mutex
	open     []*Keyring // keyrings not satisfied yet
	good     [][]byte   // the messages that satisfied keyrings
	attempts []attempt
}

// attempt is an Attempt with its sort keys.
type attempt struct {
	Attempt
	store, number int
}

func (v *Verifier) search(digest string, now time.Time) *search {
	return &search{v: v, digest: digest, now: now, open: slices.Clone(v.keyrings)}
}

// done reports whether all keyrings are satisfied.
func (s *search) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) == 0
}

// askAll queries stores at once, and returns when all have returned. Once the
// keyrings are satisfied, it cancels the others.
func (s *search) askAll(ctx context.Context, stores []Store) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	for i, store := range stores {
		wait.Go(func() {
			if s.ask(ctx, len(s.v.opts.First)+i, store); s.done() {
				cancel()
			}
		})
	}
	wait.Wait()
}

// askHalf queries one store, which may take half of the time until ctx ends.
func (s *search) askHalf(ctx context.Context, index int, store Store) {
	end, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(end)/2)
	defer cancel()
	s.ask(ctx, index, store)
}

// ask tries the signatures of one store until the keyrings are satisfied.
func (s *search) ask(ctx context.Context, index int, store Store) {
	if ctx.Err() != nil {
		return
	}
	at := attempt{store: index}
	at.Store = store.Name()
	for sig, err := range store.Signatures(ctx, s.digest) {
		if at.number == s.v.opts.MaxSignatures {
			at.Signature = ""
			s.note(at, nil, failure(Limit, "it has more than %d signatures; the others are not tried", at.number))
			return
		}
		at.number++
		at.Signature = sig.Name
		if err != nil {
			f, ok := err.(*Failure)
			if !ok {
				f = &Failure{Reason: Unreachable, Err: err}
			}
			s.note(at, nil, f)
		} else {
			s.try(at, sig.Message)
		}
		if s.done() || ctx.Err() != nil {
			return
		}
	}
	switch {
	case at.number > 0:
	case ctx.Err() != nil:
		s.note(at, nil, failure(Unreachable, "it did not answer in time: %w", ctx.Err()))
	default:
		s.note(at, nil, failure(Missing, "it has no signature for the image"))
	}
}

// try checks a message against the keyrings that are not satisfied.
func (s *search) try(at attempt, data []byte) {
	m, f := parse(data)
	if f != nil {
		s.note(at, nil, f)
		return
	}
	s.mu.Lock()
	open := slices.Clone(s.open)
	s.mu.Unlock()
	good := false
	for _, k := range open {
		f := k.verify(m, s.now)
		if f == nil { // the content is not read before
			f = check(m.content, s.digest, s.v.opts.Repositories)
		}
		if f != nil {
			s.note(at, k, f)
			continue
		}
		good = true
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(o *Keyring) bool { return o == k })
		s.mu.Unlock()
	}
	if good {
		s.mu.Lock()
		s.good = append(s.good, data)
		s.mu.Unlock()
	}
}

// note records a failed attempt.
func (s *search) note(at attempt, k *Keyring, f *Failure) {
	if k != nil {
		at.Keyring = k.name
	}
	at.Failure = f
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, at)
}

// err returns why the keyrings are not satisfied.
func (s *search) err(ctx, within context.Context) error {
	e := &Error{Digest: s.digest}
	for _, k := range s.open {
		e.Keyrings = append(e.Keyrings, k.name)
	}
	slices.SortStableFunc(s.attempts, func(a, b attempt) int {
		return cmp.Or(cmp.Compare(a.store, b.store), cmp.Compare(a.number, b.number), cmp.Compare(a.Keyring, b.Keyring))
	})
	for _, a := range s.attempts {
		if slices.Contains(e.Keyrings, a.Keyring) || a.Keyring == "" {
			e.Attempts = append(e.Attempts, a.Attempt)
		}
	}
	switch {
	case ctx.Err() != nil:
		e.Err = fmt.Errorf("the search was interrupted: %w", context.Cause(ctx))
	case errors.Is(within.Err(), context.DeadlineExceeded):
		e.Err = fmt.Errorf("the search took too long: %w", within.Err())
	}
	return e
}
