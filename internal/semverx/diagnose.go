package semverx

import (
	"fmt"
	"strings"
)

// versionError returns what is wrong with text, which is known not to be a
// version; written is what the user wrote for it.
func versionError(text, written string) error {
	e := &VersionError{Text: written}
	e.Reason, e.Hint, e.Err = diagnoseVersion(text)
	return e
}

func diagnoseVersion(s string) (reason, hint string, err error) {
	if s == "" {
		return "empty", "write MAJOR.MINOR.PATCH, such as 1.0.0", nil
	}
	if len(s) > MaxVersionLen {
		limit := tooLong("version", s, MaxVersionLen)
		return limit.Error(), "", limit
	}
	if rest := strings.TrimLeft(s, "vV"); rest != s && startsWithDigit(rest) {
		return "a leading " + s[:1] + " is not part of a version", "write " + rest, nil
	}
	core, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(core, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != 3 {
		return fmt.Sprintf("has %d of the three numbers MAJOR.MINOR.PATCH", len(numbers)), "", nil
	}
	for i, name := range []string{"major", "minor", "patch"} {
		if reason := diagnoseNumber(numbers[i]); reason != "" {
			return name + " " + reason, "", nil
		}
	}
	if hasPre {
		if reason := diagnoseIdentifiers(pre, true); reason != "" {
			return "prerelease " + reason, "", nil
		}
	}
	if hasBuild {
		if reason := diagnoseIdentifiers(build, false); reason != "" {
			return "build metadata " + reason, "", nil
		}
	}
	return "not MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]", "", nil
}

func diagnoseNumber(s string) string {
	switch {
	case s == "":
		return "is empty"
	case !isNumber(s):
		return quote(s) + " is not a number"
	case len(s) > 1 && s[0] == '0':
		return quote(s) + " has a leading zero"
	case !fits64(s):
		return quote(s) + " does not fit in 64 bits"
	}
	return ""
}

func diagnoseIdentifiers(s string, numbers bool) string {
	for id := range strings.SplitSeq(s, ".") {
		switch {
		case id == "":
			return quote(s) + " has an empty identifier"
		case strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") != "":
			return "identifier " + quote(id) + " has characters other than letters, digits and hyphens"
		case numbers && isNumber(id):
			if reason := diagnoseNumber(id); reason != "" {
				return "identifier " + reason
			}
		}
	}
	return ""
}

func startsWithDigit(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9'
}
