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
// that does not exist, the closest first: names with a typo, names that contain
// the other or are contained in it, and otherwise names that share a word.
func (q *query) similarPackages(name string) string {
	var names []string
	for _, n := range q.similarNames(name) {
		names = append(names, "package "+n)
	}
	return listNames(names)
}

// similarNames returns the names of those packages.
func (q *query) similarNames(name string) []string {
	type like struct {
		name     string
		distance int
	}
	var likes []like
	all := q.packageNames()
	for _, p := range all {
		d, short := words.Distance(name, p, maxDistance), min(len(name), len(p))
		if d <= short/3 || short > 3 && (strings.Contains(p, name) || strings.Contains(name, p)) {
			likes = append(likes, like{p, d})
		}
	}
	if len(likes) == 0 {
		for _, p := range sharingWord(name, all) {
			likes = append(likes, like{p, words.Distance(name, p, maxDistance)})
		}
	}
	slices.SortFunc(likes, func(a, b like) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, l := range likes[:min(len(likes), 3)] {
		names = append(names, l.name)
	}
	return names
}

// packageNames lists the packages of all visible catalogs, sorted, each once.
func (q *query) packageNames() []string {
	var names []string
	for _, s := range q.sources {
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
