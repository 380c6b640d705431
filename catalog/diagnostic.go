package catalog

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/doc"
)

// Position is a place in a file of the catalog; File is the path in the file
// system that was opened.
type Position = fairlead.Position

// LimitError is the limit that a document or catalog exceeds; find it with
// errors.As.
type LimitError = fairlead.InputLimitError

// Code names a kind of finding. Codes are stable: scripts may compare them.
type Code = fairlead.Code

// The codes of findings about the content of files, before any rule about catalogs is
// checked.
const (
	CodeRead              = doc.CodeRead         // a file or directory cannot be read
	CodeChanged           = doc.CodeChanged      // a file has changed since the catalog was opened
	CodeSyntax            = doc.CodeSyntax       // neither JSON nor YAML
	CodeEncoding          = doc.CodeEncoding     // not UTF-8 text
	CodeDuplicateKey      = doc.CodeDuplicateKey // an object has the same key twice
	CodeLimit             = doc.CodeLimit        // larger than Options allows; wraps a *LimitError
	CodeNotObject         = doc.CodeNotObject    // a document that is not an object
	CodeYAML              = doc.CodeYAML         // YAML that has no JSON form
	CodeNoSchema          = doc.CodeNoSchema     // a document without a schema
	CodeLeftOut      Code = "left-out"           // warning: a directory or file that is no part of a catalog was not read
	CodeType              = doc.CodeType         // a field's value has the wrong type
)

// Diagnostic is one finding about a catalog; Subject says what it is
// about, such as: package "foo", channel "beta".
type Diagnostic = fairlead.Diagnostic

// Diagnostics is a list of findings, sorted by position, code, subject and message,
// without duplicates. As an error it has at least one.
type Diagnostics = fairlead.Diagnostics

// Relocate returns copies of findings, whose files are named by file: relative to where a
// program runs, for example, instead of to the root of the catalog. Findings without a file
// stay as they are.
func Relocate(list Diagnostics, file func(path string) string) Diagnostics {
	moved := make(Diagnostics, len(list))
	for i, d := range list {
		x := *d
		for _, pos := range []*Position{&x.Pos, &x.Also} {
			if pos.File != "" {
				pos.File = file(pos.File)
			}
		}
		moved[i] = &x
	}
	return moved
}

// Diagnose returns err as a finding: the one it wraps, if it is an error of this module
// about a file or document, otherwise a new one with code [CodeRead] and without a
// position.
func Diagnose(err error) *Diagnostic { return doc.Diagnose(err) }
