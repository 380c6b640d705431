package semverx

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// MaxRangeLen is the maximum length of a range, in bytes. A longer one is a
// [*fairlead.InputLimitError].
const MaxRangeLen = 64 << 10

// Range is a set of versions, as [ParseRange] reads it. It is immutable. The
// zero Range contains no version.
type Range struct {
	text         string
	alternatives []alternative
	lints        []string
}

// alternative is the text between two "||": comparisons that must all hold.
type alternative struct {
	text        string
	comparisons []comparison
}

type comparison struct {
	op      operator
	version Version
}

type operator uint8

const (
	equal operator = iota
	notEqual
	less
	lessEqual
	greater
	greaterEqual
)

// parseOperator reads an operator as written; no operator means equal.
func parseOperator(s string) (operator, bool) {
	switch s {
	case "", "=", "==":
		return equal, true
	case "!", "!=":
		return notEqual, true
	case "<":
		return less, true
	case "<=":
		return lessEqual, true
	case ">":
		return greater, true
	case ">=":
		return greaterEqual, true
	}
	return 0, false
}

func (c comparison) holds(v Version) bool {
	order := v.Compare(c.version)
	switch c.op {
	case equal:
		return order == 0
	case notEqual:
		return order != 0
	case less:
		return order < 0
	case lessEqual:
		return order <= 0
	case greater:
		return order > 0
	default:
		return order >= 0
	}
}

func (a alternative) holds(v Version) bool {
	for _, c := range a.comparisons {
		if !c.holds(v) {
			return false
		}
	}
	return true
}

// Contains reports whether v is in the range. The zero Version is in no range.
// It allocates nothing; the cost grows with the number of comparisons.
func (r *Range) Contains(v Version) bool {
	if !v.valid {
		return false
	}
	for _, a := range r.alternatives {
		if a.holds(v) {
			return true
		}
	}
	return false
}

// String returns the range as it was written.
func (r *Range) String() string { return r.text }

// Lints reports what in the range is valid but hardly intended: what can never
// match, what the grammar drops, wildcards that cover less than they seem to.
// They are in the order of the text, except that alternatives that can never
// match are last. Most ranges have none: nil.
func (r *Range) Lints() []string {
	lints := append([]string(nil), r.lints...)
	for _, a := range r.alternatives {
		if _, ok := a.least(); !ok {
			lints = append(lints, fmt.Sprintf("%s can never match: no version meets all of its comparisons", quote(a.text)))
		}
	}
	return lints
}

// least returns the least version that meets all comparisons, and false if none
// does. The versions are well ordered upwards in steps of next, so that
// stepping over the excluded ones decides it exactly.
func (a alternative) least() (Version, bool) {
	v := Version{pre: "0", valid: true}
	var excluded []Version
	for _, c := range a.comparisons {
		from := c.version
		switch c.op {
		case greater:
			next, ok := from.next()
			if !ok {
				return Version{}, false
			}
			from = next
		case equal, greaterEqual:
		case notEqual:
			excluded = append(excluded, from)
			continue
		default:
			continue
		}
		if v.Compare(from) < 0 {
			v = from
		}
	}
	for range len(excluded) + 1 {
		if !containsVersion(excluded, v) {
			break
		}
		next, ok := v.next()
		if !ok {
			return Version{}, false
		}
		v = next
	}
	return v, a.holds(v)
}

func containsVersion(vs []Version, v Version) bool {
	for _, o := range vs {
		if o.Compare(v) == 0 {
			return true
		}
	}
	return false
}

// RangeError reports why a text is not a range.
type RangeError struct {
	Text   string // the range as given
	Offset int    // the byte in it where the fault begins
	Reason string // what is wrong there
	Hint   string // what to write instead, or ""
	Err    error  // the *VersionError or *fairlead.InputLimitError that caused it, or nil
}

// Error returns the message on one line.
func (e *RangeError) Error() string {
	var b strings.Builder
	b.WriteString("version range " + quote(e.Text))
	if e.Offset > 0 {
		fmt.Fprintf(&b, " at offset %d", e.Offset)
	}
	b.WriteString(": " + e.Reason)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the error that caused this one, or nil.
func (e *RangeError) Unwrap() error { return e.Err }

// Spans calls visit for the intervals [lo, hi) of a list of n versions in ascending order
// that are in the range, in order. The cost is that of a few binary searches.
func (r *Range) Spans(n int, at func(i int) Version, visit func(lo, hi int)) {
	from := 0
	upTo := func(end int) { // all from from to end are in the range, or none
		if from < end && r.Contains(at(from)) {
			visit(from, end)
		}
		from = max(from, end)
	}
	for _, bound := range r.bounds() {
		upTo(sort.Search(n, func(i int) bool { return at(i).Compare(bound) >= 0 }))
		upTo(sort.Search(n, func(i int) bool { return at(i).Compare(bound) > 0 }))
	}
	upTo(n)
}

// bounds returns the versions that the range compares with, in ascending order: between two
// of them that follow each other, either all versions are in the range or none.
func (r *Range) bounds() []Version {
	var all []Version
	for _, a := range r.alternatives {
		for _, c := range a.comparisons {
			all = append(all, c.version)
		}
	}
	slices.SortFunc(all, Version.Compare)
	return all
}
