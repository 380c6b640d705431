package olm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// maxDistance is more than the distance between any two names.
const maxDistance = 1 << 10

// similarPackages lists up to three packages whose names are closest to one
// that does not exist: one letter away, names that begin with it or that it begins
// with, whole words first, other typos, names that contain it or that it contains,
// and otherwise names that share a word.
func (q *query) similarPackages(name string) string {
	var names []string
	for _, n := range q.similarNames(name) {
		names = append(names, "package "+n)
	}
	return listNames(names)
}

// similarNames returns the names of those packages.
func (q *query) similarNames(name string) []string { return similarTo(name, q.packageNames()) }

// similarTo returns the up to three of all names that are closest to one.
func similarTo(name string, all []string) []string {
	type like struct {
		name           string
		rank, distance int
	}
	var likes []like
	for _, p := range all {
		if rank := resemblance(name, p); rank >= 0 {
			likes = append(likes, like{p, rank, words.Distance(name, p, maxDistance)})
		}
	}
	if len(likes) == 0 {
		for _, p := range sharingWord(name, all) {
			likes = append(likes, like{p, 0, words.Distance(name, p, maxDistance)})
		}
	}
	slices.SortFunc(likes, func(a, b like) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, l := range likes[:min(len(likes), 3)] {
		names = append(names, l.name)
	}
	return names
}

// resemblance ranks how a name may be meant by another, 0 the best; -1 if it may not.
func resemblance(name, p string) int {
	if name == p {
		return -1 // it is in another catalog
	}
	short, long := name, p
	if len(short) > len(long) {
		short, long = long, short
	}
	rest, prefix := strings.CutPrefix(long, short)
	near := typo(name, p)
	switch {
	case near && len(short) > 2 && words.Distance(name, p, 2) < 2:
		return 0
	case prefix && len(short) > 2 && strings.ContainsAny(rest[:1], "-._"):
		return 1
	case prefix && len(short) > 3:
		return 2
	case near:
		return 3
	case len(short) > 3 && strings.Contains(long, short):
		return 4
	}
	return -1
}

// typo reports whether two names differ by few letters of the words that they do
// not share: gpu-operator and hspc-operator have different words.
func typo(a, b string) bool {
	x, y := strings.Split(a, "-"), strings.Split(b, "-")
	only := func(list, other []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(list), func(w string) bool { return slices.Contains(other, w) }), "-")
	}
	p, q := only(x, y), only(y, x)
	limit := min(len(p), len(q)) / 3
	return limit > 0 && words.Distance(p, q, limit+1) <= limit
}

// packageNames lists the packages of all visible catalogs, sorted, each once.
func (q *query) packageNames() []string { return packageNames(q.sources) }

func packageNames(sources []*source) []string {
	var names []string
	for _, s := range sources {
		for p := range s.Catalog.Packages() {
			names = append(names, p.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sharingWord returns the names that share a word of at least five letters with
// name, or have one that begins with the other's. Words that more than one in
// twenty names has, such as operator, are ignored.
func sharingWord(name string, all []string) []string {
	words := func(s string) []string {
		return slices.DeleteFunc(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '.' || r == '_' }),
			func(w string) bool { return len(w) < 5 })
	}
	var found []string
	for _, w := range words(name) {
		var sharing []string
		for _, p := range all {
			if slices.ContainsFunc(words(p), func(o string) bool { return strings.HasPrefix(o, w) || strings.HasPrefix(w, o) }) {
				sharing = append(sharing, p)
			}
		}
		if len(sharing)*20 <= len(all) {
			found = append(found, sharing...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
