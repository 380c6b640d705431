package catalog

import (
	"strings"
	"unicode/utf8"
)

// matchPath reports whether the segments of a path match those of a pattern,
// of which "**" stands for any number of segments; as the last one, for at
// least one.
func matchPath(pattern, path []string) bool {
	// reach[i] says that the path so far matches the first i segments.
	reach := make([]bool, len(pattern)+1)
	next := make([]bool, len(pattern)+1)
	reach[0] = true
	spread(pattern, reach)
	for _, segment := range path {
		clear(next)
		for i, p := range pattern {
			if !reach[i] {
				continue
			}
			if p == "**" {
				next[i] = true
				next[i+1] = next[i+1] || i+1 == len(pattern)
			} else if matchSegment(p, segment) {
				next[i+1] = true
			}
		}
		spread(pattern, next)
		reach, next = next, reach
	}
	return reach[len(pattern)]
}

// spread marks what is reached by matching "**" with nothing.
func spread(pattern []string, reach []bool) {
	for i, p := range pattern {
		if p == "**" && reach[i] && i+1 < len(pattern) {
			reach[i+1] = true
		}
	}
}

// matchSegment matches one segment: "*" stands for any text, "?" for one
// character, "[a-z]" for one of a set, a backslash escapes the next character.
// A malformed pattern matches nothing. The time is at most the product of the
// lengths: only the last star seen needs to be tried again.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			starP, starN = p, n
			p++
			continue
		}
		if width, size, ok := matchOne(pattern[p:], name[n:]); ok {
			p += width
			n += size
			continue
		}
		if starP < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[starN:])
		starN += size
		p, n = starP+1, starN
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches the first character of name against the first element of
// pattern, which is no star, and returns their widths.
func matchOne(pattern, name string) (width, size int, ok bool) {
	r, size := utf8.DecodeRuneInString(name)
	if pattern == "" {
		return 0, 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, size, true
	case '[':
		in, width := matchSet(pattern, r)
		return width, size, in && width > 0
	case '\\':
		if len(pattern) == 1 {
			return 0, 0, false
		}
		c, w := utf8.DecodeRuneInString(pattern[1:])
		return 1 + w, size, c == r
	}
	c, w := utf8.DecodeRuneInString(pattern)
	return w, size, c == r && (c != utf8.RuneError || pattern[:w] == name[:size])
}

// matchSet matches r against the set that pattern starts with, and returns the
// set's width, or 0 if it is malformed.
func matchSet(pattern string, r rune) (in bool, width int) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		if i >= len(pattern) {
			return false, 0
		}
		if pattern[i] == ']' && !first {
			return in != negated, i + 1
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			end := strings.Index(pattern[i:], ":]")
			class, known := classes[pattern[i+2:i+max(end, 2)]]
			if end < 0 || !known {
				return false, 0
			}
			in = in || class(r)
			i += end + 2
			continue
		}
		lo, next := setRune(pattern, i)
		hi := lo
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			hi, next = setRune(pattern, next+1)
		}
		if next == 0 {
			return false, 0
		}
		in = in || lo <= r && r <= hi
		i = next
	}
}

// setRune reads one character of a set and returns the offset after it, or 0
// at the end of the pattern.
func setRune(pattern string, i int) (rune, int) {
	if pattern[i] == '\\' {
		i++
	}
	if i >= len(pattern) {
		return 0, 0
	}
	r, w := utf8.DecodeRuneInString(pattern[i:])
	return r, i + w
}

// classes are the named sets of characters, which are ASCII.
var classes = map[string]func(rune) bool{
	"alnum":  func(r rune) bool { return isLetter(r) || isDigit(r) },
	"alpha":  isLetter,
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"cntrl":  func(r rune) bool { return r < ' ' || r == 0x7f },
	"digit":  isDigit,
	"graph":  func(r rune) bool { return r > ' ' && r < 0x7f },
	"lower":  func(r rune) bool { return 'a' <= r && r <= 'z' },
	"print":  func(r rune) bool { return r >= ' ' && r < 0x7f },
	"punct":  func(r rune) bool { return r > ' ' && r < 0x7f && !isLetter(r) && !isDigit(r) },
	"space":  func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' },
	"upper":  func(r rune) bool { return 'A' <= r && r <= 'Z' },
	"xdigit": func(r rune) bool { return isDigit(r) || 'a' <= r|0x20 && r|0x20 <= 'f' },
}

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isLetter(r rune) bool { return r < 0x80 && 'a' <= r|0x20 && r|0x20 <= 'z' }
