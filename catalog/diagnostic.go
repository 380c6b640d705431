package catalog

import "github.com/fairlead/fairlead/internal/doc"

// Position is a place in a file of the catalog. It has the fields File, the
// path in the file system, Line and Column. Both count from one, columns in
// characters; zero is unknown. String returns file:line:column, and Compare
// orders positions that way.
type Position = doc.Position

// LimitError is the limit that a document or catalog exceeds; find it with
// errors.As. It has the fields What, which says what is limited, and Max, the
// limit.
type LimitError = doc.LimitError

// Code names a kind of finding. Codes are stable: scripts may compare them.
type Code = doc.Code

// The codes of findings about the content of files, before any rule about
// catalogs is looked at.
const (
	CodeRead         = doc.CodeRead         // a file or directory cannot be read
	CodeChanged      = doc.CodeChanged      // a file is not as it was when the catalog was opened
	CodeSyntax       = doc.CodeSyntax       // neither JSON nor YAML
	CodeEncoding     = doc.CodeEncoding     // no text in UTF-8
	CodeDuplicateKey = doc.CodeDuplicateKey // a key twice in one object
	CodeLimit        = doc.CodeLimit        // larger than Options allows; wraps a *LimitError
	CodeNotObject    = doc.CodeNotObject    // a document that is a list or a single value
	CodeYAML         = doc.CodeYAML         // YAML that has no JSON form
	CodeNoSchema     = doc.CodeNoSchema     // a document that does not say what it is
	CodeType         = doc.CodeType         // a field's value has the wrong type
)

// Diagnostic is one finding about a catalog. It has the fields Pos (where it
// is), Code (which kind of finding), Subject (what it is about: package "foo"),
// Message (what is wrong, and why), Hint (how to mend it) and Err (the error
// under it, which Unwrap returns). Error returns all that in one line.
type Diagnostic = doc.Diagnostic

// Diagnostics is a list of findings, sorted by position, code, subject and
// message, without repetitions. As an error it has at least one: Error returns
// the first and how many more there are, Unwrap all, Err the list or nil when
// it is empty. Sorted brings a list into this order.
type Diagnostics = doc.Diagnostics

// Diagnose returns the finding that an error of this module about a file or
// document tells: err itself if it is one. Of any other error it makes a
// finding without position, of code [CodeRead].
func Diagnose(err error) *Diagnostic { return doc.Diagnose(err) }
