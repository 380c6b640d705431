package doc

import (
	"errors"

	"github.com/fairlead/fairlead"
)

// The types of findings are those of the root package.
type (
	Position    = fairlead.Position
	Code        = fairlead.Code
	Diagnostic  = fairlead.Diagnostic
	Diagnostics = fairlead.Diagnostics
	LimitError  = fairlead.InputLimitError
)

// The codes of findings about the content of files, before any rule about
// catalogs is checked.
const (
	CodeRead         Code = "read"          // a file or directory cannot be read
	CodeChanged      Code = "changed"       // a file has changed since the catalog was opened
	CodeSyntax       Code = "syntax"        // neither JSON nor YAML
	CodeEncoding     Code = "encoding"      // not UTF-8 text
	CodeDuplicateKey Code = "duplicate-key" // an object has the same key twice
	CodeLimit        Code = "limit"         // larger than Options allows; wraps a *LimitError
	CodeNotObject    Code = "not-object"    // a document that is not an object
	CodeYAML         Code = "yaml"          // YAML that has no JSON form
	CodeNoSchema     Code = "no-schema"     // a document without a schema
	CodeType         Code = "type"          // a field's value has the wrong type
)

// Diagnose returns the finding for an error of this module about a file or
// document: err itself if it is one. For any other error, it returns a finding
// without a position, with the code [CodeRead].
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
