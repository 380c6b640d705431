package graph

import "github.com/fairlead/fairlead"

// Position is a place in a file.
type Position = fairlead.Position

// Code names a kind of finding. Codes are stable: scripts may compare them.
type Code = fairlead.Code

// Diagnostic is one finding about a graph or its data.
type Diagnostic = fairlead.Diagnostic

// Diagnostics is a list of findings, sorted by position. Err returns it as an
// error, or nil if it is empty.
type Diagnostics = fairlead.Diagnostics

// LimitError is the limit that a document exceeds; find it with errors.As.
type LimitError = fairlead.InputLimitError

// The codes of findings.
const (
	CodeField       Code = "graph-field"       // a field is missing, unknown, or has a wrong value
	CodeFormat      Code = "graph-format"      // the document has an unknown format version
	CodeVersion     Code = "graph-version"     // a release has no semantic version, or two have the same
	CodeEdge        Code = "graph-edge"        // an update leads from or to a release that does not exist, or to itself
	CodeRisk        Code = "graph-risk"        // a risk lacks its name or rules, or has unknown rules
	CodeMetadata    Code = "graph-metadata"    // a release's metadata cannot be read
	CodeCycle       Code = "graph-cycle"       // updates form a cycle
	CodeChannel     Code = "graph-channel"     // the name of a channel file differs from its channel, or it lists a release twice
	CodeFile        Code = "graph-file"        // the name of a file of graph data is not of any known kind
	CodeBlockedEdge Code = "graph-blockededge" // a file of blocked edges cannot be used
)
