package cvo

// For the rows of the reference that test parts of Summarize, Record and Prune
// alone.
var (
	Condense       = condense
	SameRelease    = sameRelease
	Kept           = kept
	EdgeOfMinor    = edgeOfMinor
	BetweenMinors  = betweenMinors
	BetweenPatches = betweenPatches
	MinorOf        = minorOf
)
