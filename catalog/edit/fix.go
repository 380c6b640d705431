package edit

import (
	"bytes"
	"context"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
)

// Fixed is what [Fix] did.
type Fixed struct {
	Patch   *Patch              // all changes together; empty if nothing could be fixed
	Applied catalog.Diagnostics // the findings whose hint was applied, in the order of the edits
	Left    catalog.Diagnostics // what is wrong with the catalog after the patch, sorted
}

// Fix applies the unambiguous hints of findings to the catalog in fsys: a misspelt
// name, a version that lacks a part, a number where a string is needed, a
// duplicate. Each is tried: it stays if the finding is gone and there is no new
// one, except for those that an unreadable document hid.
//
// The catalog is checked once for each try. The error is that of ctx or of
// reading.
func Fix(ctx context.Context, fsys fs.FS) (*Fixed, error) {
	done := &Fixed{Patch: &Patch{}}
	c, report, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	for tried := map[string]bool{}; ; {
		fixed := false
		for _, try := range tries(fsys, report) {
			key := complaint(try.finding) + "\x00" + try.patch.Changes[0].New
			if tried[key] {
				continue
			}
			tried[key] = true
			next, err := try.patch.Patched(fsys)
			if err != nil {
				return nil, err
			}
			now, judged, err := check.Reopen(ctx, c, report, next)
			if err != nil {
				return nil, err
			}
			if !try.helps(c, now, report, judged) {
				continue
			}
			done.Patch = done.Patch.Then(try.patch)
			done.Applied = append(done.Applied, try.finding)
			fsys, c, report, fixed = next, now, judged, true
			break
		}
		if !fixed {
			done.Left = report.Findings()
			return done, nil
		}
	}
}

// try is a change that may fix a finding.
type try struct {
	finding *catalog.Diagnostic
	patch   *Patch
	hides   bool // the finding may have hidden another one about its subject
}

// tries returns the changes to try, those that make documents readable first.
func tries(fsys fs.FS, report *check.Report) []try {
	var list []try
	for _, d := range report.Findings() {
		if r, ok := quoted(fsys, d); ok {
			list = append(list, try{d, &Patch{Changes: []Replacement{r}}, true})
		}
	}
	for _, f := range report.Fixes() {
		k := &change{}
		if k.set(f) == nil && len(k.made) > 0 {
			list = append(list, try{f.Finding, (&Patch{Changes: k.made}).Sorted(), false})
		}
	}
	return list
}

// set applies the change of a fix.
func (k *change) set(f check.Fix) error {
	t, err := k.text(f.Document)
	if err != nil {
		return err
	}
	owner := t.tree.At(f.Path[:len(f.Path)-1]...)
	var s splice
	switch step := f.Path[len(f.Path)-1].(type) {
	case string:
		s, err = t.member(owner, step, f.Value)
	case int:
		s, err = t.element(owner, step, f.Value)
	}
	return k.splice(t, "", s, err)
}

// helps reports whether the finding is gone, without a new one that was not hidden
// before.
func (y try) helps(was, is *catalog.Catalog, before, after *check.Report) bool {
	if len(is.Faults()) < len(was.Faults()) {
		return true
	}
	left := map[string]int{}
	for _, d := range append(before.Findings(), before.Hidden()...) {
		left[complaint(d)]++
	}
	if left[complaint(y.finding)]--; y.hides && len(after.Findings()) > len(before.Findings()) {
		return false
	}
	for _, d := range after.Findings() {
		if left[complaint(d)]--; left[complaint(d)] < 0 && !(y.hides && d.Subject == y.finding.Subject) {
			return false
		}
	}
	return true
}

// quoted returns the change that quotes a number or word, if the hint of a fault
// says so.
func quoted(fsys fs.FS, d *catalog.Diagnostic) (r Replacement, ok bool) {
	want, ok := strings.CutPrefix(d.Hint, "write ")
	want, tail := strings.CutSuffix(want, ", in quotes")
	if !ok || !tail {
		return r, false
	}
	text, err := fs.ReadFile(fsys, d.Pos.File)
	if err != nil {
		return r, false
	}
	at := 0
	for line := 1; line < d.Pos.Line; line++ {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return r, false
		}
		at += i + 1
	}
	for column := 1; column < d.Pos.Column && at < len(text); column++ {
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	// The source may have digits that the value lost: 1.10 is the number 1.1.
	end := at
	for end < len(text) && strings.IndexByte("0123456789.+-eE_xXoabcdfABCDF", text[end]) >= 0 {
		end++
	}
	written := string(text[at:end])
	if value, err := strconv.Unquote(want); err != nil || written == "" || !sameNumber(written, value) {
		return r, false
	}
	return Replacement{d.Pos.File, at, written, strconv.Quote(written)}, true
}

// sameNumber reports whether two texts denote the same number.
func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(strings.ReplaceAll(a, "_", ""), 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err1 == nil && err2 == nil && x == y
}
