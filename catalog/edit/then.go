package edit

import "slices"

// Then returns the patch that applies p and then next, which is a patch of the
// files as p leaves them.
func (p *Patch) Then(next *Patch) *Patch {
	paths := map[string][2][]Replacement{}
	for i, list := range [][]Replacement{p.Changes, next.Changes} {
		for _, c := range list {
			both := paths[c.Path]
			both[i] = append(both[i], c)
			paths[c.Path] = both
		}
	}
	all := &Patch{}
	for path, both := range paths {
		j := joiner{path: path, first: slices.Clone(both[0])}
		slices.SortStableFunc(j.first, compareReplacements)
		second := slices.Clone(both[1])
		slices.SortStableFunc(second, compareReplacements)
		for _, c := range second {
			j.change(c)
		}
		j.pass(-1)
		j.close()
		all.Changes = append(all.Changes, j.out...)
	}
	return all.Sorted()
}

// joiner joins the changes to one file: it walks the text between the two
// patches, and tracks its offset in the text before both.
type joiner struct {
	path  string
	first []Replacement // those of the first patch that are still to come
	old   int           // offset in the file before both
	mid   int           // offset in the file between them
	rest  string        // what the first patch inserted here and is still to come
	now   *Replacement  // under construction
	out   []Replacement
}

func (j *joiner) open() *Replacement {
	if j.now == nil {
		j.now = &Replacement{Path: j.path, Offset: j.old}
	}
	return j.now
}

func (j *joiner) close() {
	if j.now != nil && j.now.Old != j.now.New {
		j.out = append(j.out, *j.now)
	}
	j.now = nil
}

// ahead returns how much text between the patches is as it was, before the next
// change of the first patch.
func (j *joiner) ahead() int {
	if len(j.first) == 0 {
		return -1
	}
	return j.first[0].Offset - j.old
}

// enter reads the next change of the first patch.
func (j *joiner) enter() {
	c := j.first[0]
	j.first = j.first[1:]
	j.open().Old += c.Old
	j.old += len(c.Old)
	j.rest = c.New
}

// pass moves on to an offset between the patches, or to the end: the text up to
// there stays.
func (j *joiner) pass(to int) {
	for to < 0 || j.mid < to {
		switch n := j.ahead(); {
		case j.rest != "":
			k := len(j.rest)
			if to >= 0 {
				k = min(k, to-j.mid)
			}
			j.open().New += j.rest[:k]
			j.rest, j.mid = j.rest[k:], j.mid+k
		case n == 0:
			j.enter()
		case n < 0 && to < 0:
			return
		default:
			if n < 0 || to >= 0 && n > to-j.mid {
				n = to - j.mid
			}
			j.close()
			j.old, j.mid = j.old+n, j.mid+n
		}
	}
}

// change applies a change of the second patch.
func (j *joiner) change(c Replacement) {
	j.pass(c.Offset)
	for left := c.Old; left != ""; {
		switch n := j.ahead(); {
		case j.rest != "":
			k := min(len(j.rest), len(left))
			j.open()
			j.rest, j.mid, left = j.rest[k:], j.mid+k, left[k:]
		case n == 0:
			j.enter()
		default:
			if n < 0 || n > len(left) {
				n = len(left)
			}
			j.open().Old += left[:n]
			j.old, j.mid, left = j.old+n, j.mid+n, left[n:]
		}
	}
	j.open().New += c.New
}
