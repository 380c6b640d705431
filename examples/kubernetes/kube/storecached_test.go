package kube_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
)

// counting counts the calls of Get.
type counting struct {
	fairlead.Store
	gets int
	then func() // what happens between reading and returning
}

func (c *counting) Get(ctx context.Context, key string) (fairlead.Record, error) {
	c.gets++
	r, err := c.Store.Get(ctx, key)
	if c.then != nil {
		c.then()
	}
	return r, err
}

func TestCachedAsksOnce(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below)
	get := func(key, want string, wantErr error, gets int) fairlead.Revision {
		t.Helper()
		r, err := c.Get(t.Context(), key)
		if string(r.Value) != want || !errors.Is(err, wantErr) || below.gets != gets {
			t.Fatalf("%q, %v, %d calls", r.Value, err, below.gets)
		}
		return r.Revision
	}
	get("a", "", fairlead.ErrNotFound, 1)
	get("a", "", fairlead.ErrNotFound, 1)
	value := []byte("1")
	at, err := c.Put(t.Context(), "a", value, "")
	if err != nil {
		t.Fatal(err)
	}
	value[0] = 'x' // the caller's slice
	get("a", "1", nil, 1)

	other, err := below.Put(t.Context(), "a", []byte("2"), at)
	if err != nil {
		t.Fatal(err)
	}
	get("a", "1", nil, 1) // old, and harmless:
	if _, err := c.Put(t.Context(), "a", []byte("3"), at); !errors.Is(err, fairlead.ErrConflict) {
		t.Fatal(err)
	}
	if now := get("a", "2", nil, 2); now != other {
		t.Fatal(now)
	}
	if err := c.Delete(t.Context(), "a", other); err != nil {
		t.Fatal(err)
	}
	get("a", "", fairlead.ErrNotFound, 2)
}

// After everything was listed, the store is not asked for keys it lacks, unless a
// write has failed.
func TestCachedListFirst(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	if _, err := below.Put(t.Context(), "a", []byte("1"), ""); err != nil {
		t.Fatal(err)
	}
	c := kube.NewCached(below).ListFirst()
	get := func(what, key, want string, gets int) {
		t.Helper()
		below.gets = 0
		r, err := c.Get(t.Context(), key)
		if string(r.Value) != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, fairlead.ErrNotFound) || below.gets != gets {
			t.Errorf("%s: %q, %v, %d calls; want %q, %d calls", what, r.Value, err, below.gets, want, gets)
		}
	}
	get("there", "a", "1", 0)
	get("not there", "b", "", 0)
	if _, err := below.Put(t.Context(), "b", []byte("2"), ""); err != nil {
		t.Fatal(err)
	}
	get("written by another one, and harmless", "b", "", 0)
	if _, err := c.Put(t.Context(), "b", []byte("3"), ""); !errors.Is(err, fairlead.ErrConflict) {
		t.Fatal(err)
	}
	get("after the conflict", "b", "2", 1)
	at, err := c.Put(t.Context(), "d", []byte("4"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), "d", at); err != nil {
		t.Fatal(err)
	}
	get("deleted", "d", "", 0)
	if err := c.Delete(t.Context(), "d", at); err == nil {
		t.Fatal("no error")
	}
	get("a deletion failed", "d", "", 1)
	get("and it is known", "d", "", 0)

	overtaken := kube.NewCached(below)
	for range overtaken.List(t.Context(), "") {
		if _, err := overtaken.Put(t.Context(), "e", nil, ""); err != nil && !errors.Is(err, fairlead.ErrConflict) {
			t.Fatal(err)
		}
	}
	below.gets = 0
	if _, err := overtaken.Get(t.Context(), "f"); !errors.Is(err, fairlead.ErrNotFound) || below.gets != 1 {
		t.Errorf("a list that a write has overtaken is taken for complete: %v, %d calls", err, below.gets)
	}
}

// A complete List shows what others have written and deleted.
func TestCachedList(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below)
	at := map[string]fairlead.Revision{}
	for _, key := range []string{"a.1", "a.2", "a.3", "b.1"} {
		var err error
		if at[key], err = c.Put(t.Context(), key, []byte("1"), ""); err != nil {
			t.Fatal(err)
		}
		if key != "a.2" {
			if err := below.Delete(t.Context(), key, at[key]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := below.Put(t.Context(), "a.2", []byte("2"), at["a.2"]); err != nil {
		t.Fatal(err)
	}
	for range c.List(t.Context(), "a.") {
		break
	}
	known := func(want string) {
		t.Helper()
		var got []string
		for _, key := range []string{"a.1", "a.2", "a.3", "b.1"} {
			r, err := c.Get(t.Context(), key)
			if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				t.Fatal(err)
			}
			got = append(got, string(r.Value))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	known("1,2,1,1")
	for range c.List(t.Context(), "a.") {
	}
	known(",2,,1")
}

// A Get or List that is slower than a write does not restore older data.
func TestCachedReadOvertaken(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below)
	var at fairlead.Revision
	put := func(value string) {
		var err error
		if at, err = c.Put(t.Context(), "a", []byte(value), at); err != nil {
			t.Fatal(err)
		}
	}
	latest := func(want string) {
		t.Helper()
		if r, err := c.Get(t.Context(), "a"); string(r.Value) != want || (err != nil) != (want == "") {
			t.Errorf("%q, %v; want %q", r.Value, err, want)
		}
	}
	below.then = func() { below.then = nil; put("1") }
	if _, err := c.Get(t.Context(), "a"); !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatal(err)
	}
	latest("1")

	c = kube.NewCached(below)
	below.then = func() {
		below.then = nil
		if err := c.Delete(t.Context(), "a", at); err != nil {
			t.Error(err)
		}
	}
	if r, err := c.Get(t.Context(), "a"); string(r.Value) != "1" || err != nil {
		t.Fatal(r, err)
	}
	latest("")

	at = ""
	put("2")
	if _, err := below.Put(t.Context(), "b", nil, ""); err != nil {
		t.Fatal(err)
	}
	c = kube.NewCached(slowList{below, func() { put("3") }})
	for range c.List(t.Context(), "") {
	}
	latest("3")
}

// slowList lists the state from before something happens.
type slowList struct {
	fairlead.Store
	then func()
}

func (s slowList) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	var list []fairlead.Record
	for r, err := range s.Store.List(ctx, prefix) {
		if err == nil {
			list = append(list, r)
		}
	}
	s.then()
	return func(yield func(fairlead.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Names of deleted objects do not fill the memory.
func TestCachedForgetsAbsentKeys(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below)
	if _, err := c.Put(t.Context(), "here", nil, ""); err != nil {
		t.Fatal(err)
	}
	const many = 10_001
	for i := range many {
		if _, err := c.Get(t.Context(), strconv.Itoa(i)); !errors.Is(err, fairlead.ErrNotFound) {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		key  string
		gets int
	}{{"here", many}, {strconv.Itoa(many - 1), many}, {"0", many + 1}} {
		if _, err := c.Get(t.Context(), test.key); below.gets != test.gets {
			t.Errorf("%s: %v, %d calls, want %d", test.key, err, below.gets, test.gets)
		}
	}
}

// With one writer, Cached is a Store like any other.
func TestCachedCheckStore(t *testing.T) {
	for _, c := range []*kube.Cached{kube.NewCached(new(fairlead.MemStore)), kube.NewCached(new(fairlead.MemStore)).ListFirst()} {
		if err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return c, nil }); err != nil {
			t.Error(err)
		}
	}
}

// listing is a store during whose List something happens after the last record.
type listing struct {
	fairlead.Store
	then func()
}

func (l *listing) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		for r, err := range l.Store.List(ctx, prefix) {
			if !yield(r, err) {
				return
			}
		}
		if l.then != nil {
			l.then()
		}
	}
}

// A List that a write overtakes must not make the cache deny what was written.
func TestCachedNeverDeniesItsWrite(t *testing.T) {
	below := &listing{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below).ListFirst()
	if _, err := c.Get(t.Context(), "a"); !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatal(err)
	}
	below.then = func() {
		if _, err := c.Put(t.Context(), "a", []byte("1"), ""); err != nil {
			t.Error(err)
		}
	}
	for range c.List(t.Context(), "") {
	}
	if r, err := c.Get(t.Context(), "a"); err != nil || string(r.Value) != "1" {
		t.Errorf("%q, %v", r.Value, err)
	}
}
