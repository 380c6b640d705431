// Package opm has the messages with which opm, and the libraries behind it,
// report a bad name, version or range. Programs that read opm's output compare
// them.
package opm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/fairlead/fairlead/catalog/internal/names"
)

// VersionError returns opm's message about a version that is not strict SemVer
// 2, or "".
func VersionError(s string) string {
	if s == "" {
		return "Version string empty"
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 {
		return "No Major.Minor.Patch elements found"
	}
	if e := numberError("Major", parts[0]); e != "" {
		return e
	}
	if e := numberError("Minor", parts[1]); e != "" {
		return e
	}
	patch, build, hasBuild := strings.Cut(parts[2], "+")
	patch, pre, hasPre := strings.Cut(patch, "-")
	if e := numberError("Patch", patch); e != "" {
		return e
	}
	if hasPre {
		for id := range strings.SplitSeq(pre, ".") {
			if e := identifierError(id); e != "" {
				return e
			}
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			if id == "" {
				return "Build meta data is empty"
			}
			if !names.Only(id, names.IsIdentifier) {
				return fmt.Sprintf("Invalid character(s) found in build meta data %q", id)
			}
		}
	}
	return ""
}

func numberError(what, s string) string {
	if !names.Only(s, names.IsDigit) {
		return fmt.Sprintf("Invalid character(s) found in %s number %q", strings.ToLower(what), s)
	}
	if len(s) > 1 && s[0] == '0' {
		return fmt.Sprintf("%s number must not contain leading zeroes %q", what, s)
	}
	return uintError(s)
}

func uintError(s string) string {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return err.Error()
	}
	return ""
}

// identifierError checks one identifier of a pre-release or of a release.
func identifierError(s string) string {
	switch {
	case s == "":
		return "Prerelease is empty"
	case names.Only(s, names.IsDigit):
		if len(s) > 1 && s[0] == '0' {
			return fmt.Sprintf("Numeric PreRelease version must not contain leading zeroes %q", s)
		}
		return uintError(s)
	case !names.Only(s, names.IsIdentifier):
		return fmt.Sprintf("Invalid character(s) found in prerelease %q", s)
	}
	return ""
}

// ReleaseError returns opm's message about an invalid release of a bundle, or
// "".
func ReleaseError(s string) string {
	if len(s) > names.MaxRelease {
		return fmt.Sprintf("invalid release %q: exceeds maximum length of %d characters", s, names.MaxRelease)
	}
	var errs []error
	for i, id := range strings.Split(s, ".") {
		if e := identifierError(id); e != "" {
			errs = append(errs, fmt.Errorf("segment %d: %s", i, e))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Sprintf("invalid release %q: %v", s, err)
	}
	return ""
}

// RangeError returns opm's message about a skipRange that does not parse, or
// "".
func RangeError(s string) string {
	var groups [][]string
	last, parts := 0, rangeParts(s)
	for i, p := range parts {
		if p != "||" {
			continue
		}
		if i == 0 {
			return "First element in range is '||'"
		}
		groups = append(groups, parts[last:i])
		last = i + 1
	}
	if last == len(parts) {
		return "Last element in range is '||'"
	}
	groups = append(groups, parts[last:])
	var all []string
	for _, g := range groups {
		for _, p := range g {
			expanded, e := expand(p)
			if e != "" {
				return e
			}
			all = append(all, expanded...)
		}
	}
	for _, p := range all {
		if e := comparisonError(p); e != "" {
			return e
		}
	}
	return ""
}

// rangeParts splits a range at its spaces, except those that follow a
// comparator. A part of one character before a space is lost, as in opm.
func rangeParts(s string) []string {
	var parts []string
	last, lastByte := 0, byte(0)
	for i := range len(s) {
		switch {
		case s[i] != ' ':
			lastByte = s[i]
		case lastByte != '>' && lastByte != '<' && lastByte != '=':
			if last < i-1 {
				parts = append(parts, s[last:i])
			}
			last = i + 1
		}
	}
	if last < len(s)-1 {
		parts = append(parts, s[last:])
	}
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(p, " ", "")
	}
	return parts
}

// expand expands a comparison with an x in it.
func expand(part string) ([]string, string) {
	if !strings.Contains(part, "x") {
		return []string{part}, ""
	}
	op, version, e := splitComparison(part)
	if e != "" {
		return nil, e
	}
	fields := strings.Split(version, ".")
	kind := 0 // how many numbers the wildcard form has; 0 if it does not end in x
	if fields[len(fields)-1] == "x" {
		kind = len(fields)
	}
	flat := strings.Replace(strings.Replace(version, ".x.x", ".x", 1), ".x", ".0", 1)
	if strings.Count(flat, ".") == 1 {
		flat += ".0"
	}
	next := increment(flat, kind)
	switch op {
	case ">":
		return []string{">=" + next}, ""
	case ">=", "<":
		return []string{op + flat}, ""
	case "<=":
		return []string{"<" + next}, ""
	case "", "=", "==":
		return []string{">=" + flat, "<" + next}, ""
	case "!=", "!":
		return []string{"<" + flat, ">=" + next}, ""
	}
	return []string{flat}, ""
}

// increment returns the version one minor (kind 3) or one major (kind 2)
// above, or "" where there is none.
func increment(version string, kind int) string {
	if kind != 2 && kind != 3 {
		return ""
	}
	fields := strings.Split(version, ".")
	n, err := strconv.Atoi(fields[kind-2])
	if err != nil {
		return ""
	}
	fields[kind-2] = strconv.Itoa(n + 1)
	return strings.Join(fields, ".")
}

func splitComparison(s string) (op, version, e string) {
	i := strings.IndexFunc(s, unicode.IsDigit)
	if i < 0 {
		return "", "", fmt.Sprintf("Could not get version from string: %q", s)
	}
	return strings.TrimSpace(s[:i]), s[i:], ""
}

func comparisonError(part string) string {
	op, version, e := splitComparison(part)
	if e != "" {
		return e
	}
	switch op {
	case "", "=", "==", ">", ">=", "<", "<=", "!", "!=":
	default:
		return fmt.Sprintf("Could not parse Range %q: Could not parse comparator %q in %q", part, op, op+version)
	}
	if e := VersionError(version); e != "" {
		return fmt.Sprintf("Could not parse Range %q: Could not parse version %q in %q: %s", part, version, op+version, e)
	}
	return ""
}

// LabelErrors returns opm's messages about a package name that is not a
// DNS-1123 label.
func LabelErrors(s string) []string {
	const class = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	var errs []string
	if len(s) > names.MaxLabel {
		errs = append(errs, fmt.Sprintf("must be no more than %d characters", names.MaxLabel))
	}
	switch {
	case names.IsLabel(s):
	case names.IsSubdomain(s):
		errs = append(errs, "must not contain dots")
	default:
		errs = append(errs, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "+
			"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '"+class+"')")
	}
	return errs
}
