// Package reading reads what others name, such as catalogs, in the background: whoever
// asks gets the last result at once. A source that hangs or fails delays no other group.
package reading

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Sources are read in the background. Its methods may be called from several goroutines.
type Sources[V any] struct {
	Clock   fairlead.Clock   // tells the time
	Timeout time.Duration    // of one reading
	Each    int              // how many sources of a group are read at once
	Retry   fairlead.Backoff // before a source that failed is read again
	// Budget returns how many bytes the sources of a group may hold together; zero means
	// no limit.
	Budget  func(group string) int64
	Changed func() // called after each reading, if not nil

	mu      sync.Mutex
	entries map[string]*entry[V]
	busy    map[string]int // by group: readings under way
	idle    *sync.Cond
}

// Result is what is known of a source.
type Result[V any] struct {
	Form     string    // identifies what was to be read
	Value    V         // the last that was read
	Size     int64     // of Value, in bytes
	Has      bool      // there is a Value
	At       time.Time // when it was read
	Err      error     // why the last attempt failed; nil if it did not
	Again    time.Time // when it is read again; zero means when its form changes
	failures int
}

// Source is what to read.
type Source[V any] struct {
	Key, Group string        // its name, and whose it is
	Form       string        // another form is another content
	Every      time.Duration // how often to read it again; zero means never
	// Read reads it, given the last result, which may be of another form. Size is that
	// of the value in bytes.
	Read func(ctx context.Context, last Result[V]) (value V, size int64, err error)
}

type entry[V any] struct {
	source  Source[V]
	result  Result[V]
	reading bool
	cancel  context.CancelFunc
	done    chan struct{} // closed when it has been read
}

// Get returns what is known of a source, and has it read if that is due. A result of
// another form has no Value.
func (s *Sources[V]) Get(from Source[V]) Result[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries, s.busy, s.idle = map[string]*entry[V]{}, map[string]int{}, sync.NewCond(&s.mu)
	}
	e := s.entries[from.Key]
	if e == nil {
		e = &entry[V]{}
		s.entries[from.Key] = e
	}
	if e.reading && e.source.Form != from.Form {
		e.cancel() // its result is of no use
	}
	e.source = from
	s.begin(e)
	if e.result.Form != from.Form {
		return Result[V]{Form: from.Form}
	}
	return e.result
}

// begin reads a source if it is due and its group has room.
func (s *Sources[V]) begin(e *entry[V]) {
	now, from, last := s.Clock.Now(), e.source, e.result
	fresh := last.Form == from.Form && (last.Has || last.Err != nil) && (last.Again.IsZero() || now.Before(last.Again))
	if e.reading || fresh || s.busy[from.Group] >= s.Each {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	e.reading, e.cancel, e.done = true, cancel, make(chan struct{})
	s.busy[from.Group]++
	go func() {
		defer cancel()
		value, size, err := read(ctx, from, last)
		s.end(e, from, value, size, err)
	}()
}

func read[V any](ctx context.Context, from Source[V], last Result[V]) (value V, size int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return from.Read(ctx, last)
}

// end records the result of a reading.
func (s *Sources[V]) end(e *entry[V], from Source[V], value V, size int64, err error) {
	s.mu.Lock()
	defer func() {
		changed := s.Changed
		s.mu.Unlock()
		if changed != nil {
			changed()
		}
	}()
	e.reading = false
	close(e.done)
	s.busy[from.Group]--
	if s.busy[from.Group] == 0 {
		delete(s.busy, from.Group)
	}
	if s.entries[from.Key] == e && e.source.Form == from.Form {
		s.record(e, value, size, err)
	}
	for _, other := range s.entries { // one of the group that had no room; which does not matter
		if other.source.Group == from.Group {
			s.begin(other)
		}
	}
	s.idle.Broadcast()
}

func (s *Sources[V]) record(e *entry[V], value V, size int64, err error) {
	now, r, form := s.Clock.Now(), &e.result, e.source.Form
	if r.Form != form {
		*r = Result[V]{Form: form}
	}
	if err == nil {
		err = s.room(e, size)
	}
	if r.Err = err; err != nil {
		r.failures++
		r.Again = now.Add(s.Retry.After(r.failures))
		return
	}
	*r = Result[V]{Form: form, Value: value, Size: size, Has: true, At: now}
	if e.source.Every > 0 {
		r.Again = now.Add(e.source.Every)
	}
}

// room says that the sources of a group hold too much together.
func (s *Sources[V]) room(e *entry[V], size int64) error {
	if s.Budget == nil {
		return nil
	}
	most, held := s.Budget(e.source.Group), size
	for _, other := range s.entries {
		if other != e && other.source.Group == e.source.Group {
			held += other.result.Size
		}
	}
	if most > 0 && held > most {
		return fmt.Errorf("the catalogs of namespace %s would take more than %d bytes together; delete some, or have the administrator raise the limit", e.source.Group, most)
	}
	return nil
}

// Keep forgets all sources but some.
func (s *Sources[V]) Keep(wanted func(key string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.entries, func(key string, e *entry[V]) bool {
		if wanted(key) {
			return false
		}
		if e.reading {
			e.cancel()
		}
		return true
	})
}

// Next returns when a source is read again at the earliest; zero if that is never.
func (s *Sources[V]) Next() (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if at := e.result.Again; !e.reading && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// Settle waits until the sources of some groups that are being read for the first time
// have a result, for a limited time: otherwise statuses would say after each start that
// nothing is known.
func (s *Sources[V]) Settle(ctx context.Context, limit time.Duration, group func(string) bool) {
	var first []chan struct{}
	s.mu.Lock()
	for _, e := range s.entries {
		if e.reading && e.result.Form != e.source.Form && group(e.source.Group) {
			first = append(first, e.done)
		}
	}
	s.mu.Unlock()
	if first == nil {
		return
	}
	over := time.NewTimer(limit)
	defer over.Stop()
	for _, done := range first {
		select {
		case <-done:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Wait waits until nothing is being read.
func (s *Sources[V]) Wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.busy) > 0 {
		s.idle.Wait()
	}
}
