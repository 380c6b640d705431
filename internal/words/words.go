// Package words builds parts of messages: numbers with their nouns, lists of
// names, truncated texts, and corrections of misspelt names.
package words

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Count returns "1 node" or "3 nodes". The noun may include a verb: "1 node
// waits", "3 nodes wait".
func Count(n int, one, many string) string { return fmt.Sprintf("%d %s", n, Plural(n, one, many)) }

// Plural returns the first text for one, and the second for any other number.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Clip returns at most most bytes of a text, cut between characters, with "..."
// after it if something was cut off.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(most, 0)], "") + "..."
}

// Shorten returns at most most characters of a text; if it was cut, the last
// one is "…".
func Shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// List returns "a, b and c" for the word and. If there are more than most+1
// names, it lists the first most, and how many more there are.
func List(names []string, and string, most int) string {
	switch n := len(names); {
	case n < 2:
		return strings.Join(names, "")
	case n <= most+1:
		return strings.Join(names[:n-1], ", ") + " " + and + " " + names[n-1]
	default:
		return fmt.Sprintf("%s %s %d more", strings.Join(names[:most], ", "), and, n-most)
	}
}

// First returns "a, b, c". If there are more than most names, it lists the
// first most, and how many more there are.
func First(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Field returns the path of a field within another one: "spec.replicas".
func Field(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
