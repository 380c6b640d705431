package fairlead

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// MemStore is a [Store] and [Watcher] in memory: for tests, and for state that
// need not outlive the process. Its zero value is ready to use. It must not be
// copied after first use.
//
// Get, Put and Delete take constant time, apart from copying the value. The
// first List after keys were created or deleted sorts the keys.
type MemStore struct {
	mu       sync.Mutex
	records  map[string]Record // stored values are never modified
	sorted   []string          // the keys in order, nil when stale; replaced, never modified
	last     uint64            // number of the last revision
	watchers map[*watcher]struct{}
}

// A watcher is one Watch under way. All but signal is guarded by the mutex of
// its store.
type watcher struct {
	prefix string
	dirty  map[string]struct{} // keys changed and not yet yielded
	queue  []string            // the same, in the order of their first change
	signal chan struct{}       // holds a token when queue may not be empty
}

// Get returns a copy of the record.
func (s *MemStore) Get(ctx context.Context, key string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	if r, ok := s.lookup(key); ok {
		return r, nil
	}
	return Record{}, keyError(key, ErrNotFound)
}

// Put keeps a copy of value.
func (s *MemStore) Put(ctx context.Context, key string, value []byte, prev Revision) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := CheckLimits(key, value); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != prev {
		return "", keyError(key, ErrConflict)
	}
	s.last++
	rev := Revision(strconv.FormatUint(s.last, 10))
	s.set(Record{Key: key, Value: bytes.Clone(value), Revision: rev})
	return rev, nil
}

// Delete removes the record.
func (s *MemStore) Delete(ctx context.Context, key string, prev Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := deleteError(key, s.records[key].Revision, prev); err != nil {
		return err
	}
	s.remove(key)
	return nil
}

// List yields copies of the records in key order. The keys are those at the
// beginning of the iteration, without those deleted before their turn; the
// values are those at the moment of yielding.
func (s *MemStore) List(ctx context.Context, prefix string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, key := range s.keys(prefix) {
			if err := ctx.Err(); err != nil {
				yield(Record{}, err)
				return
			}
			if r, ok := s.lookup(key); ok && !yield(r, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Record{}, err)
		}
	}
}

// Watch reports changes made through this MemStore. Changes that a slow caller
// has not yet taken cost one entry per changed key.
func (s *MemStore) Watch(ctx context.Context, prefix string) iter.Seq2[Record, error] {
	return s.watch(ctx, prefix, nil, nil)
}

// watch is Watch, which also ends with stop, and then with the error of why.
func (s *MemStore) watch(ctx context.Context, prefix string, stop <-chan struct{}, why func() error) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		w := &watcher{prefix: prefix, dirty: make(map[string]struct{}), signal: make(chan struct{}, 1)}
		s.add(w) // before the list, so that no change falls between the two
		defer s.drop(w)
		for r, err := range s.List(ctx, prefix) {
			if !yield(r, err) || err != nil {
				return
			}
		}
		for {
			select {
			case <-ctx.Done():
				yield(Record{}, ctx.Err())
				return
			case <-stop:
				yield(Record{}, why())
				return
			case <-w.signal:
			}
			for _, key := range s.take(w) {
				r, ok := s.lookup(key)
				if !ok {
					r = Record{Key: key}
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func (s *MemStore) add(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = make(map[*watcher]struct{})
	}
	s.watchers[w] = struct{}{}
}

func (s *MemStore) drop(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

// take empties the queue of w and returns what was in it.
func (s *MemStore) take(w *watcher) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := w.queue
	w.queue = nil
	clear(w.dirty)
	return queue
}

// lookup returns a copy of the record of key.
func (s *MemStore) lookup(key string) (Record, bool) {
	s.mu.Lock()
	r, ok := s.records[key]
	s.mu.Unlock()
	r.Value = bytes.Clone(r.Value)
	return r, ok
}

// keys returns the keys that begin with prefix, in order.
func (s *MemStore) keys(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil {
		s.sorted = slices.Sorted(maps.Keys(s.records))
	}
	from := sort.SearchStrings(s.sorted, prefix)
	n := sort.Search(len(s.sorted)-from, func(i int) bool { return !strings.HasPrefix(s.sorted[from+i], prefix) })
	return s.sorted[from : from+n]
}

// revision returns the revision of key, empty when it is absent.
func (s *MemStore) revision(key string) Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key].Revision
}

// set stores r and keeps its value without a copy. The mutex is held.
func (s *MemStore) set(r Record) {
	if _, ok := s.records[r.Key]; !ok {
		s.sorted = nil
	}
	if s.records == nil {
		s.records = make(map[string]Record)
	}
	s.records[r.Key] = r
	s.notify(r.Key)
}

// remove removes key. The mutex is held.
func (s *MemStore) remove(key string) {
	delete(s.records, key)
	s.sorted = nil
	s.notify(key)
}

// notify marks key as changed for those who watch it. The mutex is held.
func (s *MemStore) notify(key string) {
	for w := range s.watchers {
		if _, ok := w.dirty[key]; ok || !strings.HasPrefix(key, w.prefix) {
			continue
		}
		w.dirty[key] = struct{}{}
		w.queue = append(w.queue, key)
		select {
		case w.signal <- struct{}{}:
		default:
		}
	}
}
