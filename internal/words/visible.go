package words

import (
	"fmt"
	"strings"
)

// Hidden reports whether a character is invisible but changes how others are shown: marks
// that change the direction of text, joiners, and spaces without width. Line breaks and
// tabs are not among them.
func Hidden(r rune) bool {
	switch {
	case r == 0x061c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}

// Visible replaces hidden characters by their code points, as in ⟨U+202E⟩.
func Visible(s string) string {
	if !strings.ContainsFunc(s, Hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
