package payload

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// FileName is what the name of a manifest file says about its place in the
// order: 0000_<runlevel>_<component>_<rest>. The zero FileName is that of a name
// that does not follow this grammar.
type FileName struct {
	Runlevel  string `json:"runlevel,omitempty"`  // digits, compared as text: "10" and "010" are two runlevels
	Component string `json:"component,omitempty"` // letters and digits, in parts joined by single dashes
}

// IsZero reports whether the name does not follow the grammar.
func (n FileName) IsZero() bool { return n == FileName{} }

// NameError says why the name of a file does not follow the grammar.
type NameError struct {
	Name   string // the name without its directory
	Reason string // what is wrong with it
}

// Error says what is wrong, and what a name looks like.
func (e *NameError) Error() string {
	return "file name " + quote(e.Name) + ": " + e.Reason + "; name it 0000_<runlevel>_<component>_<name>.yaml"
}

// namePrefix begins the name of every manifest that is ordered by its name.
const namePrefix = "0000_"

// ParseFileName reads the name of a file, without its directory. Any text may
// follow the component. The error is a [*NameError].
func ParseFileName(base string) (FileName, error) {
	n, reason := parseFileName(base)
	if reason != "" {
		return FileName{}, &NameError{Name: base, Reason: reason}
	}
	return n, nil
}

// parseFileName returns the reason why base does not follow the grammar, or "".
func parseFileName(base string) (n FileName, reason string) {
	rest, ok := strings.CutPrefix(base, namePrefix)
	if !ok {
		return n, "it does not begin with 0000_"
	}
	end := 0
	for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
		end++
	}
	if end == 0 || end == len(rest) || rest[end] != '_' {
		return n, "0000_ is not followed by a runlevel, digits between two underscores"
	}
	n.Runlevel, rest = rest[:end], rest[end+1:]
	end, ok = componentEnd(rest)
	switch {
	case end == len(rest):
		return FileName{}, "no underscore ends the component"
	case rest[end] != '_' && rest[end] != '-':
		c, _ := utf8.DecodeRuneInString(rest[end:])
		return FileName{}, strconv.QuoteRune(c) + " is where an underscore should end the component, which consists of ASCII letters and digits, joined by single dashes"
	case !ok:
		return FileName{}, "the component has an empty part: it must consist of letters and digits, joined by single dashes"
	}
	n.Component = rest[:end]
	return n, ""
}

// componentEnd returns how far letters, digits and single dashes between them
// reach, and false if there is nothing before or after a dash.
func componentEnd(s string) (end int, ok bool) {
	for {
		part := end
		for end < len(s) && (s[end]|0x20-'a' < 26 || s[end]-'0' < 10) { // bytes below a range wrap around; the bit turns letters into lower case
			end++
		}
		if end == part || end == len(s) || s[end] != '-' {
			return end, end > part
		}
		end++
	}
}
