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

// Distance counts the bytes to insert, remove or change to make b of a, up to
// limit.
func Distance(a, b string, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}
