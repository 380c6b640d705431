package fairlead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckStore tests a [Store] against its contract and returns nil, or an
// error that lists every rule that was broken, in the order of the rules. It is
// to stores what testing/fstest.TestFS is to file systems.
//
// Each call of open returns a Store on the same storage, which must be empty at
// first and is left empty, provided that the store's Delete works. CheckStore
// closes the store, if it is an [io.Closer], before it opens it again. A
// [Watcher] is also tested as one. Behaviour after a crash, or with a failing
// disk, is not tested.
//
// Each rule gets 30 seconds: a store that blocks longer breaks it, and is
// abandoned together with its goroutine. If ctx ends, CheckStore returns what
// it has found so far together with ctx.Err().
func CheckStore(ctx context.Context, open func() (Store, error)) error {
	c := &storeCheck{open: open}
	if err := c.reopen(ctx); err != nil {
		return fmt.Errorf("fairlead.CheckStore: %w", err)
	}
	defer c.close()
	for rec, err := range c.store.List(ctx, "") {
		if err != nil {
			return fmt.Errorf("fairlead.CheckStore: list of the empty store: %w", err)
		}
		return fmt.Errorf("fairlead.CheckStore: the storage already holds key %q: give it an empty one, because CheckStore deletes everything in it", rec.Key)
	}
	var broken brokenRules
	for _, rule := range storeRules {
		if err := ctx.Err(); err != nil {
			broken = append(broken, fmt.Errorf("%s: not examined, nor were the rules after it: %w", rule.name, err))
			break
		}
		if err := c.run(ctx, rule.check); err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", rule.name, err))
		}
	}
	if broken == nil {
		return nil
	}
	return broken
}

// storeRules are the rules in the order in which they are checked and
// reported.
var storeRules = []struct {
	name  string
	check func(*storeProbe)
}{
	{"create", ruleCreate},
	{"update", ruleUpdate},
	{"delete", ruleDelete},
	{"revisions", ruleRevisions},
	{"keys", ruleKeys},
	{"limits", ruleLimits},
	{"ownership", ruleOwnership},
	{"list", ruleList},
	{"list while writing", ruleListWrite},
	{"list under change", ruleListChange},
	{"concurrency", ruleConcurrency},
	{"context", ruleContext},
	{"durability", ruleDurability},
	{"watch", ruleWatch},
}

// brokenRules is the error of CheckStore.
type brokenRules []error

func (b brokenRules) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "fairlead.CheckStore: %d of %d rules broken:", len(b), len(storeRules))
	for _, err := range b {
		fmt.Fprintf(&s, "\n\t%v", err)
	}
	return s.String()
}

func (b brokenRules) Unwrap() []error { return b }

const ruleTimeout = 30 * time.Second

// storeCheck is one run of CheckStore.
type storeCheck struct {
	open   func() (Store, error)
	store  Store
	locked bool // writes inside a List loop do not return: they are not tried again
}

func (c *storeCheck) reopen(ctx context.Context) error {
	if err := c.close(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := c.open()
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	c.store = s
	return nil
}

func (c *storeCheck) close() error {
	if closer, ok := c.store.(io.Closer); ok {
		if err := closer.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	return nil
}

// run checks one rule, on its own goroutine so that a store that blocks or
// panics is reported like any other, and empties the store afterwards.
func (c *storeCheck) run(ctx context.Context, rule func(*storeProbe)) error {
	ruleCtx, cancel := context.WithTimeout(ctx, ruleTimeout)
	defer cancel()
	p := &storeProbe{ctx: ruleCtx, check: c, Store: c.store}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				p.failf("panic: %v", v)
			}
		}()
		rule(p)
		p.wipe()
	}()
	select {
	case <-done:
		return p.err
	case <-ruleCtx.Done():
	}
	// A store that respects its context returns now; give it time.
	select {
	case <-done:
	case <-time.After(time.Second):
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("a call has not returned after %v", ruleTimeout)
}

// storeProbe is the store as one rule sees it. It keeps the first failure;
// what follows a failure is not reported.
type storeProbe struct {
	Store
	ctx   context.Context
	check *storeCheck
	err   error
}

func (p *storeProbe) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// put writes and expects success.
func (p *storeProbe) put(key, value string, prev Revision) Revision {
	rev, err := p.Put(p.ctx, key, []byte(value), prev)
	switch {
	case err != nil:
		p.failf("Put(%s, prev %q): %w", brief(key), prev, err)
	case rev == "":
		p.failf("Put(%s) returned the empty revision, which means absent", brief(key))
	case rev == prev:
		p.failf("Put(%s) returned the revision %q that the key had before", brief(key), rev)
	}
	return rev
}

// refuse writes and expects target as the error.
func (p *storeProbe) refuse(key string, prev Revision, target error, why string) {
	if _, err := p.Put(p.ctx, key, []byte("refused"), prev); !errors.Is(err, target) {
		p.failf("Put(%s, prev %q) %s returned error %v, want %q", brief(key), prev, why, err, target)
	}
}

// remove deletes and expects success.
func (p *storeProbe) remove(key string, prev Revision) {
	if err := p.Delete(p.ctx, key, prev); err != nil {
		p.failf("Delete(%s, prev %q): %w", brief(key), prev, err)
	}
}

// keep deletes and expects target as the error.
func (p *storeProbe) keep(key string, prev Revision, target error, why string) {
	if err := p.Delete(p.ctx, key, prev); !errors.Is(err, target) {
		p.failf("Delete(%s, prev %q) %s returned error %v, want %q", brief(key), prev, why, err, target)
	}
}

// want expects key to have this value and revision.
func (p *storeProbe) want(key, value string, rev Revision, when string) {
	rec, err := p.Get(p.ctx, key)
	switch {
	case err != nil:
		p.failf("Get(%s) %s: %w", brief(key), when, err)
	case rec.Key != key:
		p.failf("Get(%s) %s returned a record with key %s", brief(key), when, brief(rec.Key))
	case string(rec.Value) != value:
		p.failf("Get(%s) %s returned value %s, want %s", brief(key), when, brief(string(rec.Value)), brief(value))
	case rec.Revision != rev:
		p.failf("Get(%s) %s returned revision %q, want %q, which Put returned", brief(key), when, rec.Revision, rev)
	}
}

// revision returns the revision of key, which exists.
func (p *storeProbe) revision(key string) Revision {
	rec, err := p.Get(p.ctx, key)
	if err != nil {
		p.failf("Get(%s): %w", brief(key), err)
	}
	return rec.Revision
}

// absent expects key not to exist.
func (p *storeProbe) absent(key, when string) {
	if rec, err := p.Get(p.ctx, key); !errors.Is(err, ErrNotFound) {
		p.failf("Get(%s) %s returned value %s and error %v, want %q", brief(key), when, brief(string(rec.Value)), err, ErrNotFound)
	}
}

// list expects exactly these keys, each with itself as the value.
func (p *storeProbe) list(prefix string, want []string) {
	var got []string
	for rec, err := range p.List(p.ctx, prefix) {
		if err != nil {
			p.failf("List(%q): %w", prefix, err)
			return
		}
		got = append(got, rec.Key)
		if string(rec.Value) != rec.Key || rec.Revision == "" {
			p.failf("List(%q) yielded %s with value %s and revision %q, which is not what was put", prefix, brief(rec.Key), brief(string(rec.Value)), rec.Revision)
		}
	}
	if slices.Equal(got, want) {
		return
	}
	sorted := slices.Sorted(slices.Values(got))
	if slices.Equal(sorted, want) {
		p.failf("List(%s) yielded the keys in the order %s, want %s: by bytes, ascending", brief(prefix), briefs(got), briefs(want))
	}
	p.failf("List(%s) yielded the keys %s, want %s", brief(prefix), briefs(got), briefs(want))
}

// wipe deletes everything.
func (p *storeProbe) wipe() {
	var all []Record
	for rec, err := range p.List(p.ctx, "") {
		if err != nil {
			p.failf("List to clean up: %w", err)
			return
		}
		all = append(all, rec)
	}
	for _, rec := range all {
		p.remove(rec.Key, rec.Revision)
	}
}

// brief quotes s, shortened if it is long.
func brief(s string) string {
	if len(s) <= 40 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:24], len(s))
}

func briefs(keys []string) string {
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = brief(key)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}

// pattern returns n bytes that do not repeat soon, so that a torn or shifted
// value shows.
func pattern(n int) string {
	var b []byte
	for i := int64(0); len(b) < n; i++ {
		b = append(strconv.AppendInt(b, i, 10), ',')
	}
	return string(b[:n])
}
