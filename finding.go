package fairlead

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Position is a place in a file. Lines and columns count from one; columns
// count characters, not bytes. A zero Line or Column is unknown.
type Position struct {
	File   string `json:"file,omitempty"`   // path of the file, as it was opened
	Line   int    `json:"line,omitempty"`   // of the file, from one
	Column int    `json:"column,omitempty"` // of the line, in characters, from one
}

// String returns file:line:column, without the parts that are unknown, or "-" if
// nothing is known.
func (p Position) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strconv.Itoa(p.Line))
		if p.Column > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Column))
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Code names a kind of finding, such as duplicate-key. Codes are stable:
// scripts may compare them. The packages that report findings list theirs.
type Code string

// Diagnostic is one finding about a document or a file: where, which kind,
// what is wrong, and what to do about it. It is an error of one line.
type Diagnostic struct {
	Pos     Position `json:"position"`          // where it is
	Code    Code     `json:"code"`              // which kind of finding it is
	Subject string   `json:"subject,omitempty"` // what it is about: package "foo", bundle "foo.v1"
	Message string   `json:"message"`           // what is wrong, and why
	Also    Position `json:"also,omitzero"`     // another place that the message is about, which it ends with
	Hint    string   `json:"hint,omitempty"`    // how to fix it
	Err     error    `json:"-"`                 // the underlying error, if any
}

// Error returns the finding in one line: position, subject, message, hint.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.Pos.String())
	b.WriteString(": ")
	if d.Subject != "" {
		b.WriteString(d.Subject)
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Also != (Position{}) {
		b.WriteString(", at " + d.Also.String())
	}
	if d.Hint != "" {
		b.WriteString("; ")
		b.WriteString(d.Hint)
	}
	return b.String()
}

// Unwrap returns the underlying error, or nil.
func (d *Diagnostic) Unwrap() error { return d.Err }

func (d *Diagnostic) compare(e *Diagnostic) int {
	return cmp.Or(d.Pos.Compare(e.Pos), cmp.Compare(d.Code, e.Code), cmp.Compare(d.Subject, e.Subject), cmp.Compare(d.Message, e.Message))
}

// Diagnostics is a list of findings, sorted by position, code, subject and
// message, without repetitions. As an error it has at least one.
type Diagnostics []*Diagnostic

// Error returns the first finding and how many more there are.
func (ds Diagnostics) Error() string {
	switch len(ds) {
	case 0:
		return "no findings"
	case 1:
		return ds[0].Error()
	case 2:
		return ds[0].Error() + " (and 1 more)"
	}
	return fmt.Sprintf("%s (and %d more)", ds[0].Error(), len(ds)-1)
}

// Unwrap returns the findings, for errors.Is and errors.As.
func (ds Diagnostics) Unwrap() []error {
	errs := make([]error, len(ds))
	for i, d := range ds {
		errs[i] = d
	}
	return errs
}

// Err returns the list as an error, or nil when it is empty.
func (ds Diagnostics) Err() error {
	if len(ds) == 0 {
		return nil
	}
	return ds
}

// Sorted sorts the list in place, drops repetitions, and returns what is left.
func (ds Diagnostics) Sorted() Diagnostics {
	slices.SortStableFunc(ds, (*Diagnostic).compare)
	return slices.CompactFunc(ds, func(a, b *Diagnostic) bool { return a.compare(b) == 0 })
}

// InputLimitError is a limit that an input exceeds. Packages return it for
// inputs that are too large to read; find it with errors.As.
type InputLimitError struct {
	What string // what is limited, with its unit, such as "document size in bytes"
	Size int64  // the actual size, 0 if reading stopped at the limit
	Max  int64  // the limit
}

// Error names the limit, its value and, if known, the actual size.
func (e *InputLimitError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("limit exceeded: %s is %d, more than %d", e.What, e.Size, e.Max)
	}
	return fmt.Sprintf("limit exceeded: %s is more than %d", e.What, e.Max)
}
