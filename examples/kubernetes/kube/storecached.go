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

// Cached is a Store for one who writes alone, such as the elected leader: it
// remembers what it has read and written, so that a pass that changes nothing
// asks the server nothing.
//
// Others may write, but rarely: what they have written is seen after the next
// Put or Delete, which meets ErrConflict and forgets the key, and after a List
// to its end. Nothing can be lost by that, since every write names the revision
// it goes from. Make a new one for each term as leader. It may be used from
// several goroutines.
//
// It remembers every record, and of the keys that the store lacks no more than
// some ten thousand, since names of objects that are gone come without end.
type Cached struct {
	store fairlead.Store

	mu     sync.Mutex
	known  map[string]fairlead.Record // by key
	absent map[string]bool            // keys that the store lacks
	writes int                        // how many writes have returned
	whole  bool                       // the store lacks all other keys, but for those in doubt
	doubt  map[string]bool            // keys of writes that have failed since
	first  bool                       // the next Get lists

	listing sync.Mutex // held by that
}

// mostAbsent is how many keys are remembered that the store lacks.
const mostAbsent = 10_000

// NewCached returns a cache that knows nothing yet.
func NewCached(store fairlead.Store) *Cached {
	return &Cached{store: store, known: map[string]fairlead.Record{}, absent: map[string]bool{}}
}

// ListFirst has the next Get list the store, which then is not asked for keys that it
// lacks: one request for all objects that have no state yet. It returns c.
func (c *Cached) ListFirst() *Cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = true
	return c
}

// Get returns what is remembered, else what the store has.
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

// remembered returns what is known of a key, without a Revision if the store lacks it,
// and how many writes have returned.
func (c *Cached) remembered(key string) (r fairlead.Record, is bool, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, is = c.known[key]
	return r, is || c.absent[key] || c.whole && !c.doubt[key], c.writes
}

// listed is remembered after the store was listed, if that is to be done. Where it
// fails, or a write overtakes it, keys are asked for one by one.
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

// List asks the store, remembers what it yields, and once it is through forgets
// what it has not. A List of all keys that no write has overtaken tells which the
// store lacks, too.
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
			return strings.HasPrefix(key, prefix) && !listed[key]
		})
		if prefix == "" && c.writes == writes {
			c.whole, c.doubt = true, map[string]bool{}
		}
	}
}

// read remembers what was read when so many writes had returned. If there are
// more by now it may be what was there before one of them.
func (c *Cached) read(key string, r fairlead.Record, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes == c.writes {
		c.learn(key, r)
	}
}

// wrote remembers what a write has left, or forgets the key if it failed.
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
