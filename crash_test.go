package fairlead_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
)

// absent stands for the value of a key that is not there.
const absent = "(absent)"

// history is what a caller of a store knows: for each key the values at which
// it may be, one after a success, and two after an error.
type history struct {
	possible map[string][]string
	revs     map[fairlead.Revision]string // every revision that was ever given, and to what
}

func newHistory() *history {
	return &history{possible: map[string][]string{}, revs: map[fairlead.Revision]string{}}
}

func (h *history) at(key string) []string {
	if h.possible[key] == nil {
		return []string{absent}
	}
	return h.possible[key]
}

// write puts value, or deletes when it is absent, and notes what is known then.
func (h *history) write(t *testing.T, s *fairlead.FileStore, key, value string) error {
	t.Helper()
	rec, err := s.Get(t.Context(), key)
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		return err
	}
	if value == absent && err != nil {
		return nil // gone already, for what created it failed
	}
	if value == absent {
		err = s.Delete(t.Context(), key, rec.Revision)
	} else {
		var rev fairlead.Revision
		rev, err = s.Put(t.Context(), key, []byte(value), rec.Revision)
		if was, ok := h.revs[rev]; ok && err == nil {
			t.Fatalf("revision %q of %s=%s was given before, to %s", rev, key, value, was)
		}
		h.revs[rev] = key + "=" + value
	}
	if err != nil {
		h.possible[key] = append(slices.Clone(h.at(key)), value)
		return err
	}
	h.possible[key] = []string{value}
	return nil
}

// verify checks that s has each key at a value where it may be, and nothing
// else, and pins those values down.
func (h *history) verify(t *testing.T, s *fairlead.FileStore, when string) {
	t.Helper()
	found := map[string]string{}
	for rec, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		found[rec.Key] = string(rec.Value)
		if want := rec.Key + "=" + string(rec.Value); h.revs[rec.Revision] != "" && h.revs[rec.Revision] != want {
			t.Fatalf("%s: %s has the revision of %s", when, want, h.revs[rec.Revision])
		}
	}
	for _, key := range []string{"a", "A", "b"} {
		value, ok := found[key]
		if !ok {
			value = absent
		}
		if !slices.Contains(h.at(key), value) {
			t.Fatalf("%s: key %s is at %s, want one of %q", when, key, value, h.at(key))
		}
		h.possible[key] = []string{value}
		delete(found, key)
	}
	if len(found) > 0 {
		t.Fatalf("%s: keys that were never written: %v", when, found)
	}
}

func (h *history) clone() *history {
	c := newHistory()
	for key, values := range h.possible {
		c.possible[key] = slices.Clone(values)
	}
	for rev, to := range h.revs {
		c.revs[rev] = to
	}
	return c
}

// story is what the process does. It holds each write in each state of its
// key, and an opening of a directory that is not empty.
var story = []struct{ key, value string }{
	{"a", "1"}, {"b", "1"}, {"a", "2, and longer than before"}, {"b", absent}, {"b", "2"}, {"A", "x"}, {"a", absent},
	{"open", "again"},
	{"b", "3"}, {"a", "3"}, {"A", absent}, {"A", "y"},
}

// live plays the story on d until the disk is cut. A store that failed is
// closed and opened again, as its contract says.
func live(t *testing.T, d *disk, h *history) error {
	s, err := fairlead.OpenFileStoreOn(d)
	if err != nil {
		return err
	}
	reopen := func() error {
		if err := s.Close(); errors.Is(err, errCut) {
			return err
		}
		if s, err = fairlead.OpenFileStoreOn(d); err != nil {
			return err
		}
		h.verify(t, s, "opened again")
		return nil
	}
	for _, w := range story {
		if w.key == "open" {
			err = reopen()
		} else if err = h.write(t, s, w.key, w.value); errors.Is(err, errDisk) {
			if _, err := s.Get(t.Context(), w.key); err == nil || errors.Is(err, fairlead.ErrNotFound) {
				h.verify(t, s, "after a write that failed and left the store usable")
			} else if !errors.Is(err, errDisk) {
				t.Fatalf("Get after the disk failed: %v", err)
			}
			err = reopen()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// survive checks what the next process finds on d, that it stays true should
// the power fail then, and that the next process can work on.
func survive(t *testing.T, d *disk, h *history, when string) {
	t.Helper()
	s, err := fairlead.OpenFileStoreOn(d)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	h.verify(t, s, when)
	for _, after := range d.powerLost() {
		s, err := fairlead.OpenFileStoreOn(after)
		if err != nil {
			t.Fatalf("%s, opened, and the power lost: %v", when, err)
		}
		h.clone().verify(t, s, when+", read, and the power lost")
	}
	for _, w := range story {
		if w.key == "open" {
			break
		}
		if err := h.write(t, s, w.key, w.value); err != nil {
			t.Fatalf("%s, and a write after it: %v", when, err)
		}
	}
	for _, after := range d.powerLost() {
		s, err := fairlead.OpenFileStoreOn(after)
		if err != nil {
			t.Fatalf("%s, written, and the power lost: %v", when, err)
		}
		h.clone().verify(t, s, when+", written, and the power lost")
	}
}

// steps returns how many steps the story takes.
func steps(t *testing.T) int {
	d, h := newDisk(), newHistory()
	if err := live(t, d, h); err != nil {
		t.Fatal(err)
	}
	return d.steps
}

// The process is killed at every step; then only it ends, or the power fails.
func TestFileStoreCut(t *testing.T) {
	total, worlds := steps(t), 0
	for cut := 1; cut <= total+1; cut++ {
		d, h := newDisk(), newHistory()
		d.cutAt = cut
		if err := live(t, d, h); (err == nil) != (cut > total) {
			t.Fatalf("cut at step %d: %v", cut, err)
		}
		when := fmt.Sprintf("cut at step %d of %d", cut, total)
		survive(t, d.killed(), h.clone(), when)
		for i, after := range d.powerLost() {
			survive(t, after, h.clone(), fmt.Sprintf("%s, power lost (%d)", when, i))
			worlds++
		}
		// Killed, and killed again at every step of the next opening.
		for again := 1; again <= 8; again++ {
			next := d.killed()
			next.cutAt = again
			_, err := fairlead.OpenFileStoreOn(next)
			if err == nil {
				break
			}
			survive(t, next.killed(), h.clone(), fmt.Sprintf("%s, again at step %d", when, again))
			for _, after := range next.powerLost() {
				survive(t, after, h.clone(), fmt.Sprintf("%s, again at step %d, power lost", when, again))
				worlds++
			}
		}
	}
	t.Logf("%d steps, %d disks after a loss of power", total, worlds)
	if total < 70 || worlds < 800 {
		t.Errorf("the story has shrunk: %d steps, %d disks", total, worlds)
	}
}

// The disk fails once, at every step, and the process lives on.
func TestFileStoreDiskFails(t *testing.T) {
	for fail := 1; fail <= steps(t); fail++ {
		for _, effect := range []bool{false, true} {
			d, h := newDisk(), newHistory()
			d.failAt, d.effect = fail, effect
			if err := live(t, d, h); err != nil {
				if !errors.Is(err, errDisk) {
					t.Fatalf("failure at step %d: %v", fail, err)
				}
				continue // an opening failed, and says so
			}
			when := fmt.Sprintf("failure at step %d (with effect: %v)", fail, effect)
			survive(t, d.killed(), h.clone(), when)
			for _, after := range d.powerLost() {
				survive(t, after, h.clone(), when+", power lost")
			}
		}
	}
}
