package semverx

// Least returns the least version of the range, and false if it is empty.
func Least(r *Range) (Version, bool) {
	var least Version
	for _, a := range r.alternatives {
		if v, ok := a.least(); ok && (!least.valid || v.Compare(least) < 0) {
			least = v
		}
	}
	return least, least.valid
}

// NeverMatches reports whether the range is known to be empty.
func NeverMatches(r *Range) bool {
	_, ok := Least(r)
	return !ok
}
