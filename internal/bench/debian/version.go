package debian

import "strings"

// compare orders versions as deb-version(7) does: -1, 0 or 1.
func compare(a, b string) int {
	ea, a := epoch(a)
	eb, b := epoch(b)
	if c := CompareRuns(ea, eb); c != 0 {
		return c
	}
	ua, ra := revision(a)
	ub, rb := revision(b)
	if c := CompareRuns(ua, ub); c != 0 {
		return c
	}
	return CompareRuns(ra, rb)
}

func epoch(v string) (epoch, rest string) {
	if e, rest, ok := strings.Cut(v, ":"); ok {
		return e, rest
	}
	return "0", v
}

func revision(v string) (upstream, revision string) {
	if at := strings.LastIndexByte(v, '-'); at >= 0 {
		return v[:at], v[at+1:]
	}
	return v, "0"
}

// CompareRuns compares runs of text and of digits in turn, as for the parts of a
// Debian version, or for versions in opam: -1, 0 or 1.
func CompareRuns(a, b string) int {
	for a != "" || b != "" {
		for a != "" && !digit(a[0]) || b != "" && !digit(b[0]) {
			x, y := order(a), order(b)
			if x != y {
				return sign(x - y)
			}
			a, b = a[1:], b[1:] // equal and not digits: neither has ended
		}
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		i, j := run(a), run(b)
		if i != j {
			return sign(i - j)
		}
		if c := strings.Compare(a[:i], b[:j]); c != 0 {
			return c
		}
		a, b = a[i:], b[j:]
	}
	return 0
}

// order is the rank of the first character: a tilde before the end, letters
// before the rest.
func order(s string) int {
	switch {
	case s == "" || digit(s[0]):
		return 0
	case s[0] == '~':
		return -1
	case s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z':
		return int(s[0])
	}
	return int(s[0]) + 256
}

func run(s string) int {
	i := 0
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
