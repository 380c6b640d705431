package names

import (
	"fmt"
	"strconv"
	"strings"
)

// The longest names, in characters.
const (
	MaxLabel   = 63 // of a DNS label
	MaxRelease = 20 // of a bundle's release
)

// IsLabel reports whether s has the characters of a DNS-1123 label:
// lower-case letters, digits and, inside, dashes. The length is checked
// separately.
func IsLabel(s string) bool {
	return s != "" && s[0] != '-' && s[len(s)-1] != '-' && Only(s, func(b byte) bool { return IsLowerAlnum(b) || b == '-' })
}

// IsSubdomain reports whether s is labels separated by dots.
func IsSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !IsLabel(label) {
			return false
		}
	}
	return true
}

// Label says why s is not a DNS-1123 label, and what would fix it. Both
// are empty if it is one.
func Label(s string) (why, hint string) {
	switch {
	case len(s) > MaxLabel:
		return fmt.Sprintf("it has %d characters and at most %d are allowed", len(s), MaxLabel), "shorten the name"
	case IsLabel(s):
		return "", ""
	case IsSubdomain(s):
		return "it has dots", "write " + strings.ReplaceAll(s, ".", "-")
	}
	return "only lower-case letters, digits and inner dashes are allowed", "rename the package" + labelSuggestion(s)
}

// labelSuggestion suggests the nearest label, or nothing if none is near.
func labelSuggestion(s string) string {
	near := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && IsLowerAlnum(byte(r)):
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		case strings.ContainsRune("-_./ ", r):
			return '-'
		}
		return -1
	}, s), "-")
	if near == "" {
		return ""
	}
	return ", for example " + near
}

// IsIdentifier reports whether b may stand in a pre-release identifier.
func IsIdentifier(b byte) bool { return IsAlnum(b) || b == '-' }

// Release says why s is not a release: at most 20 characters, identifiers
// as in a SemVer pre-release, separated by dots. It is empty for a good one.
func Release(s string) (why, hint string) {
	if len(s) > MaxRelease {
		return fmt.Sprintf("it has %d characters and at most %d are allowed", len(s), MaxRelease), "shorten it"
	}
	for id := range strings.SplitSeq(s, ".") {
		switch {
		case id == "":
			return "an identifier between dots is empty", "remove the extra dot"
		case !Only(id, IsIdentifier):
			return fmt.Sprintf("the identifier %q has a character other than letters, digits and dashes", id), "leave those out"
		case Only(id, IsDigit) && len(id) > 1 && id[0] == '0':
			return fmt.Sprintf("the number %s has leading zeroes", id), "write " + strings.TrimLeft(id[:len(id)-1], "0") + id[len(id)-1:]
		case Only(id, IsDigit) && !isUint64(id):
			return fmt.Sprintf("the number %s does not fit into 64 bits", id), "write a smaller one"
		}
	}
	return "", ""
}

func isUint64(digits string) bool {
	_, err := strconv.ParseUint(digits, 10, 64)
	return err == nil
}
