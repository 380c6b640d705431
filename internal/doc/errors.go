package doc

import (
	"fmt"
)

// Kind is what is wrong with a document.
type Kind uint8

// The kinds of errors.
const (
	Syntax       Kind = iota + 1 // neither JSON nor YAML
	Encoding                     // not UTF-8 text
	DuplicateKey                 // an object has the same key twice
	Limit                        // larger than the limits allow; Err is a *LimitError
	NotObject                    // valid, but an array or a scalar
	Unsupported                  // YAML that has no JSON form
)

// Error reports a document that cannot be used: where and what the fault is,
// and what to do about it.
type Error struct {
	Pos     Position // where it is
	Kind    Kind     // what kind of fault it is
	Message string   // what is wrong
	Hint    string   // what to do about it; may be empty
	Err     error    // the underlying error, nil for most
}

// Error returns the position, the message and the hint in one line.
func (e *Error) Error() string {
	text := e.Pos.String() + ": " + e.Message
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the underlying error: a *LimitError, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Names for what the fields of Limits limit, as in a LimitError.
const (
	SizeLimit  = "document size in bytes"
	DepthLimit = "nesting depth"
	NodesLimit = "number of values in a YAML document"
	AliasLimit = "number of values that aliases repeat in a YAML document"
)

// Limits bound the cost of one document. A zero field means its default.
type Limits struct {
	// Size is the maximum size of a document in bytes, both of its source and
	// as JSON (with aliases expanded). Default 16 MiB.
	Size int
	// Depth is the maximum nesting of objects and arrays. Default 1,000.
	Depth int
	// Nodes is the maximum number of values in one YAML document, with aliases
	// expanded. The parser uses about 400 bytes for each. Default 262,144.
	Nodes int
}

func (l Limits) withDefaults() Limits {
	if l.Size <= 0 {
		l.Size = 16 << 20
	}
	if l.Depth <= 0 {
		l.Depth = 1000
	}
	if l.Nodes <= 0 {
		l.Nodes = 1 << 18
	}
	return l
}

// limitError returns the error for a document that exceeds a limit.
func limitError(pos Position, what string, limit int) *Error {
	err := &LimitError{What: what, Max: int64(limit)}
	return &Error{
		Pos: pos, Kind: Limit, Err: err,
		Message: fmt.Sprintf("the %s is more than the limit of %d", what, limit),
		Hint:    "raise the limit if the document is meant to be like this",
	}
}
