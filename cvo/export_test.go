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
