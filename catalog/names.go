package catalog

import (
	"fmt"
	"strings"
)

const (
	maxLabelLength     = 63
	maxSubdomainLength = 253
	maxReleaseLength   = 20
)

// isLabelText reports whether s has the characters of a DNS-1123 label: lower
// case letters, digits and, inside, dashes. The length is judged apart.
func isLabelText(s string) bool {
	return s != "" && s[0] != '-' && s[len(s)-1] != '-' && onlyBytes(s, func(b byte) bool { return lowerAlnumByte(b) || b == '-' })
}

// isSubdomainText reports whether s is labels parted by dots.
func isSubdomainText(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isLabelText(label) {
			return false
		}
	}
	return true
}

// labelProblem says why s is no DNS-1123 label, and what would mend it. Both
// are empty if it is one.
func labelProblem(s string) (why, hint string) {
	switch {
	case len(s) > maxLabelLength:
		return fmt.Sprintf("it has %d characters and at most %d are allowed", len(s), maxLabelLength), "shorten the name"
	case isLabelText(s):
		return "", ""
	case isSubdomainText(s):
		return "it has dots", "write " + strings.ReplaceAll(s, ".", "-")
	}
	return "only lower-case letters, digits and inner dashes are allowed", "rename the package" + labelSuggestion(s)
}

// labelSuggestion proposes the nearest label, or nothing if none is near.
func labelSuggestion(s string) string {
	near := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && lowerAlnumByte(byte(r)):
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

// identifierByte reports whether b may stand in a pre-release identifier.
func identifierByte(b byte) bool { return alnumByte(b) || b == '-' }

// releaseProblem says why s is no release: at most 20 characters, identifiers
// as in a SemVer pre-release, parted by dots. It is empty for a good one.
func releaseProblem(s string) (why, hint string) {
	if len(s) > maxReleaseLength {
		return fmt.Sprintf("it has %d characters and at most %d are allowed", len(s), maxReleaseLength), "shorten it"
	}
	for id := range strings.SplitSeq(s, ".") {
		switch {
		case id == "":
			return "an identifier between dots is empty", "remove the surplus dot"
		case !onlyBytes(id, identifierByte):
			return fmt.Sprintf("the identifier %q has a character other than letters, digits and dashes", id), "leave those out"
		case onlyBytes(id, digitByte) && len(id) > 1 && id[0] == '0':
			return fmt.Sprintf("the number %s has leading zeroes", id), "write " + strings.TrimLeft(id[:len(id)-1], "0") + id[len(id)-1:]
		case onlyBytes(id, digitByte) && opmUintError(id) != "":
			return fmt.Sprintf("the number %s does not fit into 64 bits", id), "write a smaller one"
		}
	}
	return "", ""
}
