package cvo

// For the rows of the reference that test parts of Step, Summarize, Record and
// Prune alone.
var (
	Condense       = condense
	Besides        = besides
	Described      = described
	SameRelease    = sameRelease
	Kept           = kept
	EdgeOfMinor    = edgeOfMinor
	BetweenMinors  = betweenMinors
	BetweenPatches = betweenPatches
	MinorOf        = minorOf
)

// Course is how a resource of a kind is told to be on its way.
func Course(kind string) string {
	c := courseOf(kind)
	return c.pending + "; " + c.end + "; cannot " + c.verb
}

// OneLine is what a message is shortened to.
func OneLine(text string) string { return clauseOf(text, most) }
