package fairlead_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

// flawedStore is a Store and Watcher that keeps the contract but for one flaw,
// named by a line of TestCheckStoreFinds.
type flawedStore struct {
	flaw   string
	lock   chan struct{} // a mutex that a synctest bubble can see
	recs   map[string]fairlead.Record
	dead   map[string]fairlead.Record // what was deleted last
	cached []string                   // keys, until one is deleted
	last   int
	moves  chan string // keys that changed, for the one watcher
}

func newFlawed(flaw string) *flawedStore {
	return &flawedStore{
		flaw: flaw, lock: make(chan struct{}, 1), moves: make(chan string, 1000),
		recs: map[string]fairlead.Record{}, dead: map[string]fairlead.Record{},
	}
}

func (s *flawedStore) has(flaw string) bool { return s.flaw == flaw }

// enter takes the lock, and returns what the flaw makes of key.
func (s *flawedStore) enter(ctx context.Context, key string) (string, error) {
	if s.has("ignores the context") {
		ctx = context.WithoutCancel(ctx)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	switch {
	case s.has("folds case"):
		key = strings.ToLower(key)
	case s.has("cuts keys"):
		key = key[:min(len(key), 200)]
	case s.has("drops final dots"):
		key = strings.TrimRight(key, ".")
	}
	return key, nil
}

func (s *flawedStore) leave() { <-s.lock }

func (s *flawedStore) Get(ctx context.Context, key string) (fairlead.Record, error) {
	asked := key
	key, err := s.enter(ctx, key)
	if err != nil {
		return fairlead.Record{}, err
	}
	defer s.leave()
	r, ok := s.recs[key]
	switch {
	case s.has("has no not-found") && !ok:
		return r, nil
	case s.has("panics") && !ok:
		panic("no such key")
	case !ok, s.has("takes empty for absent") && len(r.Value) == 0:
		return fairlead.Record{}, fairlead.ErrNotFound
	}
	if !s.has("hands out its memory") {
		r.Value = bytes.Clone(r.Value)
	}
	r.Key = asked
	return r, nil
}

func (s *flawedStore) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	if err := fairlead.CheckLimits(key, value); err != nil && !s.has("has no limits") {
		return "", err
	}
	key, err := s.enter(ctx, key)
	if err != nil {
		return "", err
	}
	defer s.leave()
	at := s.recs[key].Revision
	if s.has("looks, then leaps") {
		s.leave()
		time.Sleep(time.Millisecond)
		s.lock <- struct{}{}
	}
	switch {
	case at == prev:
	case s.has("last writer wins"), s.has("creates over") && prev == "", s.has("forgets to compare updates") && prev != "" && at != "":
	case s.has("revives") && at == "" && s.dead[key].Revision == prev:
	default:
		return "", fairlead.ErrConflict
	}
	switch {
	case s.has("keeps the caller's slice"):
	case s.has("keeps text"):
		value = []byte(strings.ToValidUTF8(string(value), "?"))
	case s.has("cuts values"):
		value = bytes.Clone(value[:min(len(value), 1<<16)])
	default:
		value = bytes.Clone(value)
	}
	rev := s.revision(key, value)
	s.recs[key] = fairlead.Record{Key: key, Value: value, Revision: rev}
	s.moves <- key
	return rev, nil
}

func (s *flawedStore) revision(key string, value []byte) fairlead.Revision {
	s.last++
	switch {
	case s.has("has no revisions"):
		return ""
	case s.has("hashes values into revisions"):
		h := fnv.New64()
		h.Write(value)
		return fairlead.Revision(fmt.Sprint(h.Sum64()))
	case s.has("counts per key"):
		n := 0
		_, _ = fmt.Sscan(string(s.recs[key].Revision), &n)
		return fairlead.Revision(fmt.Sprint(n + 1))
	case s.has("counts from the highest"):
		n := 0
		for _, r := range s.recs {
			m := 0
			_, _ = fmt.Sscan(string(r.Revision), &m)
			n = max(n, m)
		}
		return fairlead.Revision(fmt.Sprint(n + 1))
	}
	return fairlead.Revision(fmt.Sprint(s.last))
}

func (s *flawedStore) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	key, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	defer s.leave()
	r, ok := s.recs[key]
	switch {
	case !ok && s.has("deletes what is not there"):
		return nil
	case !ok:
		return fairlead.ErrNotFound
	case r.Revision != prev && !s.has("deletes anything"):
		return fairlead.ErrConflict
	}
	s.dead[key], s.cached = r, nil
	delete(s.recs, key)
	if !s.has("watches no deletions") {
		s.moves <- key
	}
	return nil
}

func (s *flawedStore) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	once := false
	return func(yield func(fairlead.Record, error) bool) {
		if _, err := s.enter(ctx, "x"); err != nil {
			yield(fairlead.Record{}, err)
			return
		}
		keys := slices.Sorted(maps.Keys(s.recs))
		if s.has("caches its lists") {
			if s.cached == nil {
				s.cached = keys
			}
			keys = s.cached
		}
		if s.has("lists by length") {
			slices.SortStableFunc(keys, func(a, b string) int { return len(a) - len(b) })
		}
		if s.has("locks its lists") {
			defer s.leave()
		} else {
			s.leave()
		}
		if s.has("lists once") && once {
			return
		}
		once = true
		for i := 0; i < len(keys); i++ {
			key := keys[i]
			if s.has("lists by position") { // of the keys as they are by now
				if keys = slices.Sorted(maps.Keys(s.recs)); i >= len(keys) {
					return
				}
				key = keys[i]
			}
			r, ok := s.recs[key]
			in := strings.HasPrefix(key, prefix)
			if s.has("lists whole words") {
				in = in && (len(key) == len(prefix) || strings.HasSuffix(prefix, ".") || prefix == "")
			}
			if !s.has("lends its lists") {
				r.Value = bytes.Clone(r.Value)
			}
			if ok && in && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *flawedStore) Watch(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		for len(s.moves) > 0 {
			<-s.moves
		}
		if !s.has("watches changes only") {
			for r := range s.List(ctx, prefix) {
				if !yield(r, nil) {
					return
				}
			}
		}
		for {
			select {
			case <-ctx.Done():
				if !s.has("ends its watch in silence") {
					yield(fairlead.Record{}, ctx.Err())
				}
				return
			case key := <-s.moves:
				if !strings.HasPrefix(key, prefix) && !s.has("watches everything") || s.has("never tells") {
					continue
				}
				r, ok := s.recs[key]
				if !ok && s.has("watches deletions with a value") {
					r.Value = s.dead[key].Value
				}
				r.Key = key
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Close makes the flaws show that need a restart.
func (s *flawedStore) Close() error {
	switch s.flaw {
	case "keeps nothing":
		clear(s.recs)
	case "counts again after a restart":
		s.last = 0
	case "counts from the highest at a restart":
		s.last = 0
		for _, r := range s.recs {
			n := 0
			_, _ = fmt.Sscan(string(r.Revision), &n)
			s.last = max(s.last, n)
		}
	case "restarts with what was deleted":
		for key, r := range s.dead {
			if _, ok := s.recs[key]; !ok {
				s.recs[key] = r
			}
		}
	case "renumbers at a restart":
		for key, r := range s.recs {
			r.Revision = "r" + r.Revision
			s.recs[key] = r
		}
	case "cannot close":
		return errors.New("the disk is full")
	}
	return nil
}

func TestCheckStoreFinds(t *testing.T) {
	tests := []struct{ flaw, want string }{
		{"", ""},
		{"last writer wins", `create: Put("a", prev "") of a key that exists returned error <nil>, want "key changed since it was read"`},
		{"creates over", `create: Put("a", prev "") of a key that exists returned error <nil>`},
		{"forgets to compare updates", `update: Put("a", prev "3") at an old revision returned error <nil>`},
		{"has no not-found", `create: Get("a") before it was created returned value "" and error <nil>, want "key not found"`},
		{"panics", `create: panic: no such key`},
		{"takes empty for absent", `create: Get("empty") after Put of an empty value: key not found`},
		{"has no revisions", `create: Put("a") returned the empty revision`},
		{"hashes values into revisions", `update: Put("a") returned the revision "15608542927976504253" that the key had before`},
		{"counts per key", `revisions: revision "1" came back at creation 2; the key had it at creation 1`},
		{"revives", `delete: Put("a", prev "8") of a key that was deleted returned error <nil>`},
		{"deletes anything", `delete: Delete("a", prev "7") at an old revision returned error <nil>`},
		{"deletes what is not there", `delete: Delete("a", prev "") of a key that never existed returned error <nil>`},
		{"folds case", `keys: Put("A", prev ""): key changed since it was read`},
		{"cuts keys", `keys: Put("kkkkkkkkkkkkkkkkkkkkkkkk"... (253 bytes), prev ""): key changed`},
		{"drops final dots", `keys: Put("a.", prev ""): key changed`},
		{"has no limits", `limits: Put("") returned error <nil>, want a *LimitError: call CheckLimits`},
		{"cuts values", `limits: Get("a") after Put of the largest value returned value "0,1,2,3,4,5,6,7,8,9,10,1"... (65536 bytes), want`},
		{"keeps text", `limits: Get("b") after Put of every byte returned value`},
		{"keeps the caller's slice", `ownership: Get("a") after the caller changed the slice given to Put returned value "xxxx", want "mine"`},
		{"hands out its memory", `ownership: Get("a") after the caller changed the slice returned by Get returned value`},
		{"lends its lists", `ownership: Get("a") after the caller changed the slice yielded by List returned value`},
		{"lists by length", `list: List("") yielded the keys in the order ["m" "n"`},
		{"lists whole words", `list: List("m") yielded the keys ["m"], want ["m" "m-1"`},
		{"caches its lists", `list: List("m.") yielded the keys ["m.1" "m.10" "m.2" "m.a.b"], want ["m.1" "m.10" "m.2" "m.3" "m.a.b"]`},
		{"lists once", `list: a List that was ranged over twice yielded 0 records the second time`},
		{"lists by position", `list under change: List yielded "a6x" after "a7"`},
		{"locks its lists", `list while writing: Put inside a List loop, of value 0 of 1044480 bytes, has not returned after 5s: List seems to hold a read transaction or a lock`},
		{"looks, then leaps", `concurrency: of 80 Puts that succeeded while they raced only 1`},
		{"ignores the context", `context: Get with a canceled context returned error <nil>, want "context canceled"`},
		{"keeps nothing", `durability: Get("key1") after the store was closed and opened again: key not found`},
		{"counts again after a restart", `durability: revision "1" of a deleted key came back: the key had it after opening 2, and again after opening 3`},
		{"counts from the highest", `revisions: revision "1" came back at creation 2`},
		{"counts from the highest at a restart", `durability: revision "22`},
		{"restarts with what was deleted", `durability: Get("gone") after it was deleted, and the store closed and opened again returned value "x"`},
		{"renumbers at a restart", `durability: Get("key1") after the store was closed and opened again returned revision "r`},
		{"cannot close", `durability: close and open again: close: the disk is full`},
		{"never tells", `watch: Watch did not yield "w.3" at revision`},
		{"watches changes only", `watch: Watch did not yield "w.1" at revision`},
		{"watches no deletions", `watch: Watch did not yield "w.2" at revision "" within 10s`},
		{"watches deletions with a value", `watch: Watch yielded the deletion of "w.2" with a value`},
		{"watches everything", `watch: Watch("w.") yielded key "other"`},
		{"ends its watch in silence", `watch: Watch ended without an error`},
	}
	for _, tt := range tests {
		t.Run(tt.flaw, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFlawed(tt.flaw)
				err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return s, nil })
				switch {
				case tt.want == "" && err != nil:
					t.Errorf("a store without a flaw: %v", err)
				case tt.want != "" && err == nil:
					t.Errorf("found nothing, want %s", tt.want)
				case tt.want != "" && !strings.Contains(err.Error(), "\n\t"+tt.want):
					t.Errorf("found %v\nwant a line that begins with %s", err, tt.want)
				}
			})
		})
	}
}

// What CheckStore cannot examine it says, and deletes nothing that is not its
// own.
func TestCheckStoreCannot(t *testing.T) {
	ctx := t.Context()
	full := new(fairlead.MemStore)
	rev, err := full.Put(ctx, "precious", []byte("data"), "")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(ctx)
	openings := 0
	for _, tt := range []struct {
		ctx  context.Context
		open func() (fairlead.Store, error)
		want string
	}{
		{ctx, func() (fairlead.Store, error) { return full, nil },
			`fairlead.CheckStore: the storage already holds key "precious": give it an empty one, because CheckStore deletes everything in it`},
		{ctx, func() (fairlead.Store, error) { return nil, errors.New("no disk") },
			`fairlead.CheckStore: open: no disk`},
		{ended, func() (fairlead.Store, error) {
			if openings++; openings == 4 { // at the end of the rule of durability
				end()
			}
			return newFlawed("keeps nothing"), nil
		}, `watch: not examined, nor were the rules after it: context canceled`},
		{ended, func() (fairlead.Store, error) { return full, nil },
			`fairlead.CheckStore: context canceled`},
	} {
		err := fairlead.CheckStore(tt.ctx, tt.open)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
		if tt.ctx == ended && !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not wrap the context's error", err)
		}
	}
	if at := mustRevision(t, full, "precious"); at != rev {
		t.Error("the storage that was full has changed")
	}
}
