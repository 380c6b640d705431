package solver

import "math/bits"

// pairwiseMax is the size up to which an at-most-one is encoded as a clause for
// each pair.
const pairwiseMax = 5

// limitHelpers returns how many variables atMost creates for a set of the given
// size.
func limitHelpers(size, n int) int {
	switch {
	case n == 0 || n >= size:
		return 0
	case n == 1 && size <= pairwiseMax:
		return 0
	case n == 1:
		return bits.Len(uint(size - 1))
	case counts(size, n):
		return (size - 1) * n
	}
	return 2 * comparators(size, n+1)
}

// limitClauses returns about how many clauses atMost adds for a set of the
// given size.
func limitClauses(size, n int) int {
	switch {
	case n == 0:
		return size
	case n >= size:
		return 0
	case n == 1 && size <= pairwiseMax:
		return size * (size - 1) / 2
	case n == 1:
		return size * bits.Len(uint(size-1))
	}
	return 2*limitHelpers(size, n) + size
}

// counts reports whether a counter is smaller than a sorting network.
func counts(size, n int) bool { return (size-1)*n <= 2*comparators(size, n+1) }

// atMost encodes that at most n of the literals are true, 0 <= n < len(lits).
//
//   - n = 1, few: a clause for each pair
//   - n = 1, many: every literal implies its own number in binary, and no two
//     numbers are possible at once (log2 helpers, size*log2 clauses)
//   - n small: a sequential counter (Sinz 2005), which needs size*n helpers and
//     as many clauses
//   - else: a network that sorts by merging odds and evens (Batcher 1968),
//     truncated to the first n+1 places (Asin, Nieuwenhuis, Oliveras and
//     Rodriguez-Carbonell 2011), which needs about size*log2(n)^2 helpers and
//     as many clauses
//
// In all of these encodings, unit propagation derives everything that follows
// from the literals that are true.
func (e *encoding) atMost(n int, lits []elit) {
	switch {
	case n == 0:
		for _, l := range lits {
			e.add(-l)
		}
	case n == 1 && len(lits) <= pairwiseMax:
		for i, a := range lits {
			for _, b := range lits[:i] {
				e.add(-a, -b)
			}
		}
	case n == 1:
		e.binary(lits)
	case counts(len(lits), n):
		e.counter(n, lits)
	default:
		e.add(-e.sorted(lits, n+1)[n])
	}
}

// sorted returns the first k places of the literals sorted with the true ones
// first: place i is true if more than i of them are.
func (e *encoding) sorted(lits []elit, k int) []elit {
	if len(lits) == 1 || e.poll.ended {
		return lits
	}
	half := len(lits) / 2
	return e.merged(e.sorted(lits[:half], k), e.sorted(lits[half:], k), k)
}

// merged returns the first k places of two sorted lists merged in order.
func (e *encoding) merged(a, b []elit, k int) []elit {
	switch {
	case len(a) == 0:
		return b[:min(k, len(b))]
	case len(b) == 0:
		return a[:min(k, len(a))]
	case len(a) == 1 && len(b) == 1:
		more, less := e.compare(a[0], b[0])
		return []elit{more, less}[:min(k, 2)]
	}
	odd := e.merged(every2(a, 0), every2(b, 0), k/2+1)
	even := e.merged(every2(a, 1), every2(b, 1), k/2)
	all := odd[:1:1]
	for i := 0; len(all) < k && (i < len(even) || i+1 < len(odd)); i++ {
		switch {
		case i >= len(even):
			all = append(all, odd[i+1])
		case i+1 >= len(odd):
			all = append(all, even[i])
		default:
			more, less := e.compare(odd[i+1], even[i])
			all = append(all, more, less)
		}
	}
	return all[:min(k, len(all))]
}

// every2 returns every second element, beginning at from.
func every2(lits []elit, from int) []elit {
	var all []elit
	for i := from; i < len(lits); i += 2 {
		all = append(all, lits[i])
	}
	return all
}

// compare returns a literal that is true if either is, and one that is true if
// both are.
func (e *encoding) compare(a, b elit) (more, less elit) {
	more, less = e.engine.fresh(), e.engine.fresh()
	e.add(-a, more)
	e.add(-b, more)
	e.add(-a, -b, less)
	return more, less
}

// comparators returns a lower bound on the number of comparisons that sorted
// makes.
func comparators(size, k int) int {
	if size <= 1 {
		return 0
	}
	half := size / 2
	return comparators(half, k) + comparators(size-half, k) + merges(min(half, k), min(size-half, k))
}

// merges returns a lower bound on the number of comparisons that merged makes.
func merges(a, b int) int {
	switch {
	case a == 0 || b == 0:
		return 0
	case a == 1 && b == 1:
		return 1
	}
	return merges((a+1)/2, (b+1)/2) + merges(a/2, b/2) + (a+b-1)/2
}

func (e *encoding) binary(lits []elit) {
	digits := make([]elit, bits.Len(uint(len(lits)-1)))
	for d := range digits {
		digits[d] = e.engine.fresh()
	}
	for i, l := range lits {
		if e.poll.ended {
			return
		}
		for d, digit := range digits {
			if i>>d&1 == 0 {
				digit = -digit
			}
			e.add(-l, digit)
		}
	}
}

// counter encodes the limit as a sequential counter: row[j] says that more than
// j of the literals so far are true.
func (e *encoding) counter(n int, lits []elit) {
	var row []elit
	for i, l := range lits {
		if e.poll.ended {
			return
		}
		if i == len(lits)-1 {
			e.add(-l, -row[n-1])
			return
		}
		next := make([]elit, n)
		for j := range next {
			next[j] = e.engine.fresh()
			if row != nil {
				e.add(-row[j], next[j])
			}
			switch {
			case j == 0:
				e.add(-l, next[0])
			case row != nil:
				e.add(-l, -row[j-1], next[j])
			}
		}
		if row != nil {
			e.add(-l, -row[n-1])
		}
		row = next
	}
}
