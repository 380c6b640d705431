package kube

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/fairlead/fairlead"
)

// Cached is a Store for one who writes alone, such as the elected leader: it
// remembers what it has read and written, so that a pass that changes nothing
// asks the server nothing.
//
// Others may write, but rarely: what they have written is seen after the next
// Put or Delete, which meets ErrConflict and forgets the key, and after List.
// Nothing can be lost by that, since every write names the revision it goes
// from. Make a new one for each term as leader. It may be used from several
// goroutines.
type Cached struct {
	store fairlead.Store

	mu    sync.Mutex
	known map[string]fairlead.Record // by key; with the empty Revision when absent
}

// NewCached returns a cache that knows nothing yet.
func NewCached(store fairlead.Store) *Cached {
	return &Cached{store: store, known: map[string]fairlead.Record{}}
}

// Get returns what is remembered, else what the store has.
func (c *Cached) Get(ctx context.Context, key string) (fairlead.Record, error) {
	if err := ctx.Err(); err != nil {
		return fairlead.Record{}, err
	}
	c.mu.Lock()
	r, ok := c.known[key]
	c.mu.Unlock()
	if !ok {
		r, err := c.store.Get(ctx, key)
		if err == nil || errors.Is(err, fairlead.ErrNotFound) {
			c.learn(key, r)
		}
		return r, err
	}
	if r.Revision == "" {
		return fairlead.Record{}, fairlead.ErrNotFound
	}
	r.Value = slices.Clone(r.Value)
	return r, nil
}

// Put writes through.
func (c *Cached) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	next, err := c.store.Put(ctx, key, value, prev)
	if err != nil {
		c.forget(key)
		return "", err
	}
	c.learn(key, fairlead.Record{Key: key, Value: value, Revision: next})
	return next, nil
}

// Delete writes through.
func (c *Cached) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	err := c.store.Delete(ctx, key, prev)
	if err != nil {
		c.forget(key)
		return err
	}
	c.learn(key, fairlead.Record{})
	return nil
}

// List asks the store, and remembers what it yields.
func (c *Cached) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		for r, err := range c.store.List(ctx, prefix) {
			if err == nil {
				c.learn(r.Key, r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (c *Cached) learn(key string, r fairlead.Record) {
	r.Value = slices.Clone(r.Value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = r
}

func (c *Cached) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, key)
}
