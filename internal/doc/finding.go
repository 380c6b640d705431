package doc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code names a kind of finding. Codes are stable: scripts may compare them.
type Code string

// The codes of findings about the content of files, before any rule about
// catalogs is looked at.
const (
	CodeRead         Code = "read"          // a file or directory cannot be read
	CodeChanged      Code = "changed"       // a file is not as it was when the catalog was opened
	CodeSyntax       Code = "syntax"        // neither JSON nor YAML
	CodeEncoding     Code = "encoding"      // no text in UTF-8
	CodeDuplicateKey Code = "duplicate-key" // a key twice in one object
	CodeLimit        Code = "limit"         // larger than Options allows; wraps a *LimitError
	CodeNotObject    Code = "not-object"    // a document that is a list or a single value
	CodeYAML         Code = "yaml"          // YAML that has no JSON form
	CodeNoSchema     Code = "no-schema"     // a document that does not say what it is
	CodeType         Code = "type"          // a field's value has the wrong type
)

// Diagnostic is one finding about documents.
type Diagnostic struct {
	Pos     Position `json:"position"`          // where it is
	Code    Code     `json:"code"`              // which kind of finding it is
	Subject string   `json:"subject,omitempty"` // what it is about: package "foo", bundle "foo.v1"
	Message string   `json:"message"`           // what is wrong, and why
	Hint    string   `json:"hint,omitempty"`    // how to mend it
	Err     error    `json:"-"`                 // the error under it, if any
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
	if d.Hint != "" {
		b.WriteString("; ")
		b.WriteString(d.Hint)
	}
	return b.String()
}

// Unwrap returns the error under the finding, or nil.
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

// Sorted brings the list into its order, in place, drops repetitions, and
// returns what is left.
func (ds Diagnostics) Sorted() Diagnostics {
	slices.SortStableFunc(ds, (*Diagnostic).compare)
	return slices.CompactFunc(ds, func(a, b *Diagnostic) bool { return a.compare(b) == 0 })
}

// Diagnose returns the finding that an error of this module about a file or
// document tells: err itself if it is one. Of any other error it makes a
// finding without position, of code [CodeRead].
func Diagnose(err error) *Diagnostic {
	var d *Diagnostic
	if errors.As(err, &d) {
		return d
	}
	var e *Error
	if !errors.As(err, &e) {
		return &Diagnostic{Code: CodeRead, Message: err.Error(), Err: err}
	}
	return &Diagnostic{Pos: e.Pos, Code: kindCode(e.Kind), Message: e.Message, Hint: e.Hint, Err: e.Err}
}

func kindCode(k Kind) Code {
	switch k {
	case Encoding:
		return CodeEncoding
	case DuplicateKey:
		return CodeDuplicateKey
	case Limit:
		return CodeLimit
	case NotObject:
		return CodeNotObject
	case Unsupported:
		return CodeYAML
	}
	return CodeSyntax
}
