package bundle

import (
	"fmt"
	"regexp"
	"strings"
)

// The grammars of names in Kubernetes.
var (
	labelName  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	labelName1 = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
)

// subdomainFault says why name is not a DNS subdomain (RFC 1123), or returns "".
func subdomainFault(name string) string {
	if name == "" {
		return "it is empty"
	}
	if len(name) > 253 {
		return fmt.Sprintf("it has %d characters, and at most 253 are allowed", len(name))
	}
	for part := range strings.SplitSeq(name, ".") {
		if !labelName.MatchString(part) {
			return fmt.Sprintf("%q in it does not consist of lower-case letters, digits and inner hyphens", part)
		}
	}
	return ""
}

// labelFault says why name is not a DNS label: of RFC 1035 (starting with a
// letter) if letter is set, else of RFC 1123. It returns "" for a label.
func labelFault(name string, letter bool) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > 63:
		return fmt.Sprintf("it has %d characters, and at most 63 are allowed", len(name))
	case letter && !labelName1.MatchString(name):
		return "it must start with a lower-case letter and consist of lower-case letters, digits and inner hyphens"
	case !labelName.MatchString(name):
		return "it must consist of lower-case letters, digits and inner hyphens"
	}
	return ""
}

// labelValueFault says why name is not a label value, or returns "". The name of
// a CSV becomes one.
func labelValueFault(name string) string {
	if len(name) > 63 {
		return fmt.Sprintf("it has %d characters, and at most 63 are allowed", len(name))
	}
	if !labelValue.MatchString(name) {
		return "it must consist of letters, digits, dots, hyphens and underscores and start and end with a letter or digit"
	}
	return ""
}

// csvNameFault says why name cannot name a CSV, or returns "".
func csvNameFault(name string) string {
	if fault := subdomainFault(name); fault != "" {
		return fault
	}
	return labelValueFault(name)
}

// qualifiedFault says why name is not a qualified name, [domain/]name, as labels
// and annotations have, or returns "".
func qualifiedFault(name string) string {
	prefix, rest, ok := strings.Cut(name, "/")
	if !ok {
		prefix, rest = "", name
	}
	switch {
	case ok && prefix == "":
		return "the part before the slash is empty"
	case ok && subdomainFault(prefix) != "":
		return "the part before the slash is not a domain: " + subdomainFault(prefix)
	case rest == "":
		return "it is empty"
	}
	return labelValueFault(rest)
}
