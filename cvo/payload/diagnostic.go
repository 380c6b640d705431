package payload

import (
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/doc"
)

// Position is a place in a file of the payload; File is the path in the file
// system.
type Position = fairlead.Position

// LimitError is the limit that a document or payload exceeds; find it with
// errors.As.
type LimitError = fairlead.InputLimitError

// Code names a kind of finding. Codes are stable: scripts may compare them.
type Code = fairlead.Code

// The codes of findings about the content of files.
const (
	CodeRead         = doc.CodeRead         // a file or directory cannot be read
	CodeSyntax       = doc.CodeSyntax       // neither JSON nor YAML
	CodeEncoding     = doc.CodeEncoding     // not UTF-8 text
	CodeDuplicateKey = doc.CodeDuplicateKey // an object has the same key twice
	CodeLimit        = doc.CodeLimit        // larger than Options allows; wraps a *LimitError
	CodeNotObject    = doc.CodeNotObject    // a document that is not an object
	CodeYAML         = doc.CodeYAML         // YAML that has no JSON form
	CodeType         = doc.CodeType         // a field's value has the wrong type
)

// The codes of findings about payloads.
const (
	CodeMissing     Code = "missing"            // a manifest without kind or name
	CodeVersion     Code = "api-version"        // an apiVersion that is neither group/version nor version
	CodeList        Code = "list"               // a List, which is not split into its items
	CodeDuplicate   Code = "duplicate-resource" // a resource more than once in one file
	LintTwice       Code = "resource-twice"     // several tasks are about one resource
	LintFileName    Code = "file-name"          // a file name that does not match the grammar, see FileName
	LintTemplate    Code = "template"           // a template that uses an unknown value; the file is left out
	CodeMetadata    Code = "metadata"           // release-metadata has invalid fields, or lacks required ones
	CodeReferences  Code = "references"         // image-references has invalid fields, or lacks required ones
	CodeMixed       Code = "mixed"              // release-metadata and image-references have different versions
	CodeAnnotation  Code = "annotation"         // an annotation of the release has an invalid value
	LintUnknownKind Code = "unknown-kind"       // a kind that neither Kubernetes nor this payload defines
	LintOrder       Code = "order"              // a resource may be applied before the definition of its kind
)

// Diagnostic is one finding about a payload; Subject names the
// resource that it is about.
type Diagnostic = fairlead.Diagnostic

// Diagnostics is a list of findings, sorted by position, code, subject and
// message, without repetitions. As an error it has at least one.
type Diagnostics = fairlead.Diagnostics

// diagnose returns the finding for an error about a file.
func diagnose(err error, file string) *Diagnostic {
	d := doc.Diagnose(err)
	d.Pos.File = file
	return d
}

// quote puts a text in quotes for a message, and cuts the middle of a long
// one.
func quote(s string) string {
	if len(s) > 100 {
		s = s[:60] + "…" + s[len(s)-30:]
	}
	return strconv.Quote(s)
}
