package words

// Nearest returns the candidate that a misspelt name most likely means, or ""
// if none is near. A near candidate is at most three edits away, and at most
// one for each three bytes of name; one is always allowed. Of equally near
// candidates, it returns the first.
func Nearest(name string, candidates []string) string {
	best, limit := "", min(3, max(1, len(name)/3))+1
	for _, c := range candidates {
		if c == name || len(c)-len(name) >= limit || len(name)-len(c) >= limit {
			continue
		}
		if d := Distance(name, c, limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// Distance counts the bytes to insert, remove, change, or swap with their
// neighbour, to turn a into b, up to limit; none is edited twice (optimal
// string alignment distance).
func Distance(a, b string, limit int) int {
	above, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1) // rows for the letter before the last, the last, and this one
	for j := range row {
		row[j] = j
	}
	before := limit // the minimum of the row above
	for i := range len(a) {
		least := i + 1
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], above[j-1]+1)
			}
			least = min(least, next[j+1])
		}
		if least >= limit && before+1 >= limit {
			return limit
		}
		above, row, next, before = row, next, above, least
	}
	return row[len(b)]
}
