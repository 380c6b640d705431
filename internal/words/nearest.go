package words

// Nearest returns the candidate that is likely meant by a misspelt name, or ""
// if none is near: at most a third of the characters differ, and at most
// three. Of equally near ones the first counts.
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
// neighbour, to make b of a, up to limit; none is edited twice (the optimal
// string alignment).
func Distance(a, b string, limit int) int {
	above, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1) // of two letters ago, the last, and this one
	for j := range row {
		row[j] = j
	}
	before := limit // the least of the row above
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
