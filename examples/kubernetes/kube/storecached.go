package kube

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
)

// Cached is a Store for a single writer, such as the elected leader: it
// remembers what it has read and written, so that a pass that changes nothing
// makes no requests.
//
// Others may write, but rarely: their writes are seen after the next Put or
// Delete, which fails with ErrConflict and forgets the key, and after a
// complete List. Nothing can be lost that way, since every write names the
// revision it replaces. Make a new Cached for each term as leader. It may be
// used from several goroutines.
//
// It remembers every record, but at most about ten thousand keys that the
// store lacks, since the number of names of deleted objects is unlimited.
type Cached struct {
	store fairlead.Store

	mu     sync.Mutex
	known  map[string]fairlead.Record // by key
	absent map[string]bool            // keys that the store lacks
	writes int                        // how many writes have returned
	whole  bool                       // the store lacks all other keys, except those in doubt
	doubt  map[string]bool            // keys of writes that have failed since
	first  bool                       // the next Get lists

	listing sync.Mutex // locked while listing
}

// mostAbsent limits how many keys that the store lacks are remembered.
const mostAbsent = 10_000

// NewCached returns an empty cache for a store.
func NewCached(store fairlead.Store) *Cached {
	return &Cached{store: store, known: map[string]fairlead.Record{}, absent: map[string]bool{}}
}

// ListFirst makes the next Get list the store, so that keys it lacks need no
// requests: one request covers all objects that have no state yet. It returns c.
func (c *Cached) ListFirst() *Cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = true
	return c
}

// Get returns the remembered record, or else reads it from the store.
func (c *Cached) Get(ctx context.Context, key string) (fairlead.Record, error) {
	if err := ctx.Err(); err != nil {
		return fairlead.Record{}, err
	}
	r, is, writes := c.remembered(key)
	if !is {
		r, is, writes = c.listed(ctx, key)
	}
	switch {
	case is && r.Revision == "":
		return fairlead.Record{}, fairlead.ErrNotFound
	case is:
		r.Value = slices.Clone(r.Value)
		return r, nil
	}
	r, err := c.store.Get(ctx, key)
	if err == nil || errors.Is(err, fairlead.ErrNotFound) {
		c.read(key, r, writes)
	}
	return r, err
}

// remembered returns what is known about a key, without a Revision if the store lacks
// it, and how many writes have returned.
func (c *Cached) remembered(key string) (r fairlead.Record, is bool, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, is = c.known[key]
	return r, is || c.absent[key] || c.whole && !c.doubt[key], c.writes
}

// listed lists the store, if that is still to be done, and then returns what is
// remembered. If listing fails, or a write overtakes it, keys are read one by one.
func (c *Cached) listed(ctx context.Context, key string) (r fairlead.Record, is bool, writes int) {
	c.listing.Lock()
	defer c.listing.Unlock()
	c.mu.Lock()
	first := c.first
	c.first = false
	c.mu.Unlock()
	if first {
		for range c.List(ctx, "") {
		}
	}
	return c.remembered(key)
}

// Put writes through.
func (c *Cached) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	next, err := c.store.Put(ctx, key, value, prev)
	if err != nil {
		next = ""
	}
	c.wrote(key, fairlead.Record{Key: key, Value: value, Revision: next}, err)
	return next, err
}

// Delete writes through.
func (c *Cached) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	err := c.store.Delete(ctx, key, prev)
	c.wrote(key, fairlead.Record{}, err)
	return err
}

// List lists the store, remembers what it yields, and at the end forgets the keys
// that were not listed. A List of all keys that no write has overtaken also shows
// which keys the store lacks.
func (c *Cached) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		c.mu.Lock()
		writes := c.writes
		c.mu.Unlock()
		listed := map[string]bool{}
		for r, err := range c.store.List(ctx, prefix) {
			if err == nil {
				c.read(r.Key, r, writes)
				listed[r.Key] = true
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.DeleteFunc(c.known, func(key string, _ fairlead.Record) bool {
			gone := strings.HasPrefix(key, prefix) && !listed[key]
			if gone && c.whole && c.writes != writes {
				c.doubt[key] = true // it may have been written while the store was listed
			}
			return gone
		})
		if prefix == "" && c.writes == writes {
			c.whole, c.doubt = true, map[string]bool{}
		}
	}
}

// read remembers what was read, given how many writes had returned before. If
// more have returned by now, it may be older than one of them.
func (c *Cached) read(key string, r fairlead.Record, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes == c.writes {
		c.learn(key, r)
	}
}

// wrote remembers the result of a write, or forgets the key if the write
// failed.
func (c *Cached) wrote(key string, r fairlead.Record, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	delete(c.known, key)
	delete(c.absent, key)
	if err == nil {
		c.learn(key, r)
	} else if c.whole {
		c.doubt[key] = true
	}
}

// learn remembers a record, or that the store lacks it when it has no Revision.
func (c *Cached) learn(key string, r fairlead.Record) {
	delete(c.doubt, key)
	if r.Revision == "" {
		if c.whole {
			return
		}
		if len(c.absent) == mostAbsent {
			clear(c.absent)
		}
		c.absent[key] = true
		return
	}
	delete(c.absent, key)
	r.Value = slices.Clone(r.Value)
	c.known[key] = r
}
