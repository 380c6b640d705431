package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// The rules of CheckStore. Each begins with an empty store.

func ruleCreate(p *storeProbe) {
	p.absent("a", "before it was created")
	rev := p.put("a", "one", "")
	p.want("a", "one", rev, "after Put")
	p.refuse("a", "", ErrConflict, "of a key that exists")
	p.want("a", "one", rev, "after a refused Put")
	p.refuse("b", rev, ErrConflict, "of a key that never existed")
	p.absent("b", "after a refused Put")
	rev = p.put("empty", "", "")
	p.want("empty", "", rev, "after Put of an empty value")
	p.refuse("empty", "", ErrConflict, "of a key that exists with an empty value")
}

func ruleUpdate(p *storeProbe) {
	first := p.put("a", "one", "")
	second := p.put("a", "two", first)
	p.want("a", "two", second, "after an update")
	p.refuse("a", first, ErrConflict, "at an old revision")
	p.want("a", "two", second, "after a refused update")
	p.put("b", "other", "")
	p.want("a", "two", second, "after a Put of another key")
	third := p.put("a", "two", second) // writing the same value is also a change
	p.want("a", "two", third, "after a Put of the same value")
}

func ruleDelete(p *storeProbe) {
	p.keep("a", "", ErrNotFound, "of a key that never existed")
	first := p.put("a", "one", "")
	second := p.put("a", "two", first)
	p.keep("a", first, ErrConflict, "at an old revision")
	p.keep("a", "", ErrConflict, "of a key that exists")
	p.want("a", "two", second, "after a refused Delete")
	p.remove("a", second)
	p.absent("a", "after Delete")
	p.keep("a", second, ErrNotFound, "of a key that was deleted")
	p.refuse("a", second, ErrConflict, "of a key that was deleted")
	p.absent("a", "after a refused Put")
	third := p.put("a", "three", "")
	p.want("a", "three", third, "after it was created again")
	p.keep("a", second, ErrConflict, "at a revision from before it was created again")
}

func ruleRevisions(p *storeProbe) {
	seen := make(map[Revision]string)
	note := func(rev Revision, when string) {
		if before, ok := seen[rev]; ok {
			p.failf("revision %q came back %s; the key had it %s", rev, when, before)
		}
		seen[rev] = when
	}
	for i := range 20 {
		rev := p.put("a", "same", "")
		note(rev, fmt.Sprintf("at creation %d", i+1))
		for range i % 3 {
			rev = p.put("a", "same", rev)
			note(rev, fmt.Sprintf("at an update after creation %d", i+1))
		}
		p.remove("a", rev)
	}
}

// oddKeys are keys that some system treats specially or takes for another key,
// as a file name, an object name or a word.
func oddKeys() []string {
	keys := []string{
		"a", "A", "aB", "ab", "Ab", "AB", "-", "_", "-a", "_a", "a-", "a_", "0", ".a", "a.", "a..b", "a..", "a...",
		"con", "CON", "nul", "NUL.txt", "com1", "lpt9.log", "aux.", "desktop.ini", ".gitignore", "temp", "tmp", "lock",
		"true", "null", "1e3", "0x10", "007",
	}
	for _, last := range "aAb" { // the longest ones, which differ only in their last byte
		keys = append(keys, strings.Repeat("k", MaxKeySize-1)+string(last))
	}
	return keys
}

func ruleKeys(p *storeProbe) {
	keys := oddKeys()
	for _, key := range keys {
		p.put(key, key, "")
	}
	longest := slices.Sorted(slices.Values(keys[len(keys)-3:]))
	slices.Sort(keys)
	p.list("", keys)
	p.list(longest[0][:MaxKeySize-1], longest)
	for i, key := range keys {
		rec, err := p.Get(p.ctx, key)
		if err != nil || string(rec.Value) != key {
			p.failf("Get(%s) returned value %s and error %v, want the value that was put", brief(key), brief(string(rec.Value)), err)
		}
		p.remove(key, rec.Revision)
		p.absent(key, "after Delete")
		if i%8 == 0 {
			p.list("", keys[i+1:])
		}
	}
}

func ruleLimits(p *storeProbe) {
	bad := []string{
		"", ".", "..", "..a", "a/b", "/a", `a\b`, "a b", "a\x00", "a\n", "a:b", "a%", "ä", "a\xff", "~", "a*",
		strings.Repeat("k", MaxKeySize+1),
	}
	var limit *LimitError
	for _, key := range bad {
		if _, err := p.Put(p.ctx, key, []byte("x"), ""); !errors.As(err, &limit) {
			p.failf("Put(%s) returned error %v, want a *LimitError: call CheckLimits", brief(key), err)
		}
		if rec, err := p.Get(p.ctx, key); err == nil {
			p.failf("Get(%s) returned value %s, want an error: the key is invalid", brief(key), brief(string(rec.Value)))
		}
		if err := p.Delete(p.ctx, key, ""); err == nil {
			p.failf("Delete(%s) returned nil, want an error: the key is invalid", brief(key))
		}
	}
	p.list("", nil)
	p.list("/", nil)
	if _, err := p.Put(p.ctx, "a", make([]byte, MaxValueSize+1), ""); !errors.As(err, &limit) {
		p.failf("Put of a value of %d bytes returned error %v, want a *LimitError: call CheckLimits", MaxValueSize+1, err)
	}
	p.absent("a", "after a Put of too large a value")
	largest := pattern(MaxValueSize)
	rev := p.put("a", largest, "")
	p.want("a", largest, rev, "after Put of the largest value")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	rev = p.put("b", string(all), "")
	p.want("b", string(all), rev, "after Put of every byte")
}

func ruleOwnership(p *storeProbe) {
	value := []byte("mine")
	rev, err := p.Put(p.ctx, "a", value, "")
	if err != nil {
		p.failf("Put: %w", err)
	}
	copy(value, "xxxx")
	p.want("a", "mine", rev, "after the caller changed the slice given to Put")
	rec, err := p.Get(p.ctx, "a")
	if err != nil {
		p.failf("Get: %w", err)
	}
	clear(rec.Value)
	p.want("a", "mine", rev, "after the caller changed the slice returned by Get")
	for rec, err := range p.List(p.ctx, "") {
		if err != nil {
			p.failf("List: %w", err)
		}
		clear(rec.Value)
	}
	p.want("a", "mine", rev, "after the caller changed the slice yielded by List")
}

func ruleList(p *storeProbe) {
	p.list("", nil)
	keys := []string{"m.10", "m.2", "M.1", "m-1", "m", "m.1", "n", "m_1", "l.9", "m.a.b", "mm"}
	for _, key := range keys {
		p.put(key, key, "")
	}
	slices.Sort(keys)
	p.list("", keys)
	p.list("m.", []string{"m.1", "m.10", "m.2", "m.a.b"})
	p.list("m", []string{"m", "m-1", "m.1", "m.10", "m.2", "m.a.b", "m_1", "mm"})
	p.list("m.1", []string{"m.1", "m.10"})
	p.list("n", []string{"n"})
	p.list("x", nil)
	p.put("m.3", "m.3", "") // an earlier list does not hide later keys
	p.list("m.", []string{"m.1", "m.10", "m.2", "m.3", "m.a.b"})
	seq := p.List(p.ctx, "m.")
	for range 2 { // a loop over a sequence can end early, and start again
		n := 0
		for rec, err := range seq {
			if n++; err != nil || rec.Key != "m.1" {
				p.failf("the first of List(%q) is %s, error %v, want %q", "m.", brief(rec.Key), err, "m.1")
			}
			break
		}
		if n != 1 {
			p.failf("a List that was ranged over twice yielded %d records the second time, want the same again", n)
		}
	}
}

// promptly is how long a write inside a List loop may take.
const promptly = 5 * time.Second

// ruleListWrite writes so much inside a List loop that a store gets stuck if it
// holds a read transaction or a lock while the loop runs. A store that maps its
// file into memory gets stuck only once the file must grow.
func ruleListWrite(p *storeProbe) {
	const writes = 20
	p.put("a", "", "")
	value := make([]byte, MaxValueSize)
	var stuck chan error
	for _, err := range p.List(p.ctx, "a") {
		if err != nil {
			p.failf("List: %w", err)
			break
		}
		for i := 0; i < writes && stuck == nil; i++ {
			done := make(chan error, 1)
			wait, cancel := context.WithTimeout(p.ctx, promptly)
			go func() {
				_, err := p.Put(p.ctx, fmt.Sprintf("b%d", i), value, "")
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					p.failf("Put inside a List loop, of value %d of %d bytes: %w", i, len(value), err)
					cancel()
					return
				}
			case <-wait.Done():
				stuck = done
				p.check.locked = true
				p.failf("Put inside a List loop, of value %d of %d bytes, has not returned after %v: "+
					"List seems to hold a read transaction or a lock while the caller's code runs; let it read some records at a time, and end its transaction before it yields them", i, len(value), promptly)
			}
			cancel()
		}
	}
	if stuck != nil {
		<-stuck // the loop is over: what it held is free
	}
}

func ruleListChange(p *storeProbe) {
	if p.check.locked {
		return
	}
	for i := range 10 {
		p.put(fmt.Sprintf("a%d", i), "old", "")
	}
	seen := make(map[string]int)
	last := ""
	for rec, err := range p.List(p.ctx, "a") {
		if err != nil {
			p.failf("List: %w", err)
			break
		}
		if seen[rec.Key]++; rec.Key < last {
			p.failf("List yielded %q after %q while keys changed: the order must hold nevertheless", rec.Key, last)
		}
		switch last = rec.Key; rec.Key {
		case "a2": // change keys that were yielded, the current one, and later ones
			for _, key := range []string{"a1", "a2", "a5"} {
				p.remove(key, p.revision(key))
			}
			p.put("a0x", "new", "")
			p.put("a6x", "new", "")
		case "a7":
			p.put("a1", "new", "")
			p.put("a2", "new", "")
			p.put("a9", "new", p.revision("a9"))
		}
	}
	for i := range 10 {
		key := fmt.Sprintf("a%d", i)
		if n := seen[key]; n != 1 && !(i == 5 && n == 0) {
			p.failf("List yielded %q %d times while other keys changed, want once", key, n)
		}
	}
	for _, key := range []string{"a0x", "a5", "a6x"} {
		if seen[key] > 1 {
			p.failf("List yielded %q twice, which was created or deleted meanwhile", key)
		}
	}
}

// ruleConcurrency lets goroutines race for the same revisions: only one may win
// each, and no win may be lost.
func ruleConcurrency(p *storeProbe) {
	const goroutines, wins = 8, 10
	first := p.put("count", "", "")
	var mu sync.Mutex
	won := map[Revision]int{first: 0}
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for n := 0; n < wins && p.ctx.Err() == nil; {
				rec, err := p.Get(p.ctx, "count")
				var rev Revision
				if err == nil {
					rev, err = p.Put(p.ctx, "count", append(slices.Clip(rec.Value), '+'), rec.Revision)
				}
				mu.Lock()
				switch {
				case err == nil:
					n++
					if won[rev]++; won[rev] > 1 {
						p.failf("two Puts that raced returned the same revision %q", rev)
					}
				case !errors.Is(err, ErrConflict):
					p.failf("a Put that raced with others: %w", err)
					n = wins
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	rec, err := p.Get(p.ctx, "count")
	if err != nil {
		p.failf("Get: %w", err)
	} else if n := len(rec.Value); n != goroutines*wins {
		p.failf("of %d Puts that succeeded while they raced only %d left a trace: two succeeded at one revision", goroutines*wins, n)
	}
	race := func(what string, act func() error, lost error) {
		n := 0
		for range goroutines {
			group.Go(func() {
				err := act()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					n++
				} else if !errors.Is(err, lost) && !errors.Is(err, ErrConflict) {
					p.failf("%s that raced with others: %w", what, err)
				}
			})
		}
		if group.Wait(); n != 1 {
			p.failf("%d of %d calls of %s for the same key succeeded, want 1", n, goroutines, what)
		}
	}
	race("Put to create", func() error { _, err := p.Put(p.ctx, "new", nil, ""); return err }, ErrConflict)
	race("Delete", func() error { return p.Delete(p.ctx, "count", rec.Revision) }, ErrNotFound)
}

func ruleContext(p *storeProbe) {
	rev := p.put("a", "one", "")
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	want := func(call string, err error) {
		if !errors.Is(err, context.Canceled) {
			p.failf("%s with a canceled context returned error %v, want %q", call, err, context.Canceled)
		}
	}
	_, err := p.Get(ctx, "a")
	want("Get", err)
	_, err = p.Put(ctx, "a", []byte("two"), rev)
	want("Put", err)
	want("Delete", p.Delete(ctx, "a", rev))
	err = nil
	for _, err = range p.List(ctx, "") {
		if err != nil {
			break
		}
	}
	want("List", err)
	p.want("a", "one", rev, "after calls with a canceled context")
}

func ruleDurability(p *storeProbe) {
	seen := make(map[Revision]int)
	var rev, gone Revision
	for opening := 1; opening <= 3; opening++ {
		churn := func() { // first and last, to detect a counter that restarts with the store
			for range 3 {
				gone = p.put("gone", "x", "")
				if at, ok := seen[gone]; ok {
					p.failf("revision %q of a deleted key came back: the key had it after opening %d, and again after opening %d", gone, at, opening)
				}
				seen[gone] = opening
				p.remove("gone", gone)
			}
		}
		before, key := fmt.Sprintf("key%d", opening-1), fmt.Sprintf("key%d", opening)
		if opening > 1 {
			p.want(before, "two", rev, "after the store was closed and opened again")
			p.absent("gone", "after it was deleted, and the store closed and opened again")
			p.refuse("gone", gone, ErrConflict, "at a revision from before the store was closed")
		}
		churn()
		if opening > 1 {
			p.remove(before, p.put(before, "three", rev))
		}
		rev = p.put(key, "two", p.put(key, "one", ""))
		churn()
		if err := p.check.reopen(p.ctx); err != nil {
			p.failf("close and open again: %w", err)
			return
		}
		p.Store = p.check.store
	}
}

const watchTimeout = 10 * time.Second

func ruleWatch(p *storeProbe) {
	w, ok := p.Store.(Watcher)
	if !ok {
		return
	}
	p.put("other", "x", "")
	one := p.put("w.1", "one", "")
	two := p.put("w.2", "two", "")
	ctx, cancel := context.WithTimeout(p.ctx, watchTimeout)
	defer cancel()

	// Each step waits for one key to be at a revision, then makes the next
	// change. Other records of the same prefix may come in between.
	var three Revision
	steps := []struct {
		key  string
		rev  func() Revision
		next func()
	}{
		{"w.1", func() Revision { return one }, func() {}},
		{"w.2", func() Revision { return two }, func() { p.put("other", "y", ""); three = p.put("w.3", "three", "") }},
		{"w.3", func() Revision { return three }, func() { p.remove("w.2", two) }},
		{"w.2", func() Revision { return "" }, func() { three = p.put("w.3", "four", p.put("w.3", "3", three)) }},
		{"w.3", func() Revision { return three }, func() { two = p.put("w.2", "again", "") }},
		{"w.2", func() Revision { return two }, func() {}},
	}
	p.remove("other", p.revision("other"))
	i := 0
	var end error
	for rec, err := range w.Watch(ctx, "w.") {
		if end = err; err != nil {
			break
		}
		if !strings.HasPrefix(rec.Key, "w.") {
			p.failf("Watch(%q) yielded key %q", "w.", rec.Key)
		}
		if i == 0 && rec.Key != "w.1" {
			p.failf("Watch(%q) began with key %q, want %q: existing records come first, in key order", "w.", rec.Key, "w.1")
		}
		if rec.Key == steps[i].key && rec.Revision == steps[i].rev() {
			if rec.Revision == "" && len(rec.Value) != 0 {
				p.failf("Watch yielded the deletion of %q with a value", rec.Key)
			}
			steps[i].next()
			i++
		}
		if i == len(steps) || p.err != nil {
			cancel() // the next record must be the error
			i = len(steps) - 1
		}
	}
	switch {
	case p.err != nil:
	case end == nil:
		p.failf("Watch ended without an error, after %d of %d changes", i, len(steps))
	case errors.Is(end, context.DeadlineExceeded):
		p.failf("Watch did not yield %q at revision %q within %v", steps[i].key, steps[i].rev(), watchTimeout)
	case !errors.Is(end, context.Canceled):
		p.failf("Watch with a canceled context ended with error %v, want %q", end, context.Canceled)
	}
}
