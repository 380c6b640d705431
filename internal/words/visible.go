package words

import (
	"fmt"
	"strings"
	"unicode"
)

// Hidden reports whether a character is not seen but changes what is seen, or what a terminal
// does: control characters, marks that change the direction of text, joiners, spaces without
// width, tags, other line breaks than "\n". Line feeds and tabs are not among them.
func Hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
		return false
	case r == 0x2028, r == 0x2029, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xffa0:
		return true // line and paragraph separator, letters without a shape
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// Visible replaces hidden characters by their code points, as in ⟨U+202E⟩, and bytes that are no
// text by "�".
func Visible(s string) string { return visible(s, Hidden) }

// VisibleLine is Visible for text of one line: it also replaces line feeds and tabs.
func VisibleLine(s string) string {
	return visible(s, func(r rune) bool { return r == '\n' || r == '\t' || Hidden(r) })
}

func visible(s string, hidden func(rune) bool) string {
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether text consists of nothing but visible ASCII and spaces, as most does.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
