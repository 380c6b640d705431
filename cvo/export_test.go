package cvo

// For the rows of the reference that test parts of Summarize and Prune alone.
var (
	Condense     = condense
	FirstOfMinor = firstOfMinor
	LastOfMinor  = lastOfMinor
	Weight       = weight
	NewestDone   = newestCompleted
	SameRelease  = sameRelease
	MinorOf      = minorOf
)
