package duel

// MeasureAll measures all runs in turn, seven rounds of at least 50 ms each, and
// returns the median of each: for comparisons beside those of this package.
func MeasureAll(runs ...func() error) ([]Cost, error) { return measureAll(runs) }
