package catalog

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/names"
)

// ImageRef is a parsed container image reference, as a bundle's image and
// relatedImages hold it: [domain/]path[:tag][@digest].
type ImageRef struct {
	Domain string // registry host with its port; docker.io where none is written
	Path   string // repository path below the domain; library/NAME for a bare NAME of docker.io
	Tag    string // empty where none is written
	Digest string // algorithm:hex, empty where none is written
}

// Pinned reports whether the reference names its content: it carries a digest, so
// its content cannot change.
func (r ImageRef) Pinned() bool { return r.Digest != "" }

// String returns the reference in full, with the domain and the path that a
// short form implies.
func (r ImageRef) String() string {
	s := r.Domain + "/" + r.Path
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// ImageRefError says why a string is not an image reference.
type ImageRefError struct {
	Ref    string // the string as given
	Reason string // which part is wrong, and why
	Hint   string // how to fix it
	OPM    string // the reason in the words of the library that opm uses
}

// Error returns the reference, the reason and the fix.
func (e *ImageRefError) Error() string {
	return fmt.Sprintf("image reference %q: %s: %s", e.Ref, e.Reason, e.Hint)
}

const (
	dockerDomain  = "docker.io"
	legacyDomain  = "index.docker.io"
	officialRepo  = "library/"
	maxRepoLength = 255
	maxTagLength  = 128
	minHexLength  = 32
)

// ParseImageRef parses an image reference by the rules that registries and
// container engines share:
//
//  1. the part before the first slash is the domain if it holds a dot or a
//     colon or is "localhost"; otherwise the domain is docker.io;
//  2. a path is lower-case components separated by slashes; within a component
//     letters and digits are separated by one dot, one or two underscores, or
//     dashes; domain and path together have at most 255 characters;
//  3. a tag is up to 128 word characters, dots and dashes, and does not begin
//     with a dot or a dash;
//  4. a digest is sha256, sha384 or sha512 and the lower-case hex digits of
//     exactly that length.
//
// Errors are *ImageRefError. Cost is linear in the length of s.
func ParseImageRef(s string) (ImageRef, error) {
	if len(s) == 64 && names.Only(s, names.IsLowerHex) {
		return ImageRef{}, refError(s, "64 hex digits are an image ID, not a reference", "write REGISTRY/REPOSITORY@sha256:"+s,
			"invalid repository name ("+s+"), cannot specify 64-byte hexadecimal strings")
	}
	domain, rest := splitDomain(s)
	if remote, _, _ := strings.Cut(rest, ":"); strings.ToLower(remote) != remote {
		return ImageRef{}, refError(s, fmt.Sprintf("the repository path %q has upper-case letters", remote),
			"write it as "+strings.ToLower(remote), "invalid reference format: repository name must be lowercase")
	}
	ref, err := parseFullRef(s, domain, rest)
	if err == nil {
		return ref, nil
	}
	// A reference that fails only because of upper-case letters is reported
	// separately, because the fix differs.
	if full := domain + "/" + rest; err.OPM == invalidFormat && strings.ToLower(full) != full {
		if _, lower := parseFullRef(s, strings.ToLower(domain), strings.ToLower(rest)); lower == nil || lower.OPM != invalidFormat {
			err.OPM = "repository name must be lowercase"
			err.Hint = "write " + strings.ToLower(s)
		}
	}
	return ImageRef{}, err
}

const invalidFormat = "invalid reference format"

func refError(s, reason, hint, compat string) *ImageRefError {
	return &ImageRefError{Ref: s, Reason: reason, Hint: hint, OPM: compat}
}

// splitDomain splits a reference into the domain, given or implied, and what
// follows it.
func splitDomain(s string) (domain, rest string) {
	first, after, ok := strings.Cut(s, "/")
	switch {
	case !ok, !strings.ContainsAny(first, ".:") && first != "localhost":
		domain, rest = dockerDomain, s
	case first == legacyDomain:
		domain, rest = dockerDomain, after
	default:
		domain, rest = first, after
	}
	if domain == dockerDomain && !strings.Contains(rest, "/") {
		rest = officialRepo + rest
	}
	return domain, rest
}

// parseFullRef parses a reference whose domain is already split off. Errors
// name s, the reference as it was given.
func parseFullRef(s, domain, rest string) (ImageRef, *ImageRefError) {
	invalid := func(reason, hint string) (ImageRef, *ImageRefError) {
		return ImageRef{}, refError(s, reason, hint, invalidFormat)
	}
	ref := ImageRef{Domain: domain}
	end := strings.IndexAny(rest, ":@")
	if end < 0 {
		end = len(rest)
	}
	ref.Path, rest = rest[:end], rest[end:]
	if !isDomain(domain) && !isPathComponent(domain) {
		return invalid(fmt.Sprintf("the registry %q is not a host name with an optional port", domain), "write HOST[:PORT]/PATH")
	}
	for c := range strings.SplitSeq(ref.Path, "/") {
		if c == "" {
			return invalid("an empty component in the repository path", "remove the extra slash or write the missing name")
		}
		if !isPathComponent(c) {
			return invalid(fmt.Sprintf("the repository path component %q is malformed", c),
				"use lower-case letters and digits, separated by one dot, one or two underscores, or dashes")
		}
	}
	if tag, ok := strings.CutPrefix(rest, ":"); ok {
		ref.Tag, _, _ = strings.Cut(tag, "@")
		if !isTag(ref.Tag) {
			return invalid(fmt.Sprintf("the tag %q is malformed", ref.Tag),
				"use 1 to 128 letters, digits, underscores, dots and dashes, not beginning with a dot or dash")
		}
		rest = tag[len(ref.Tag):]
	}
	digest, ok := strings.CutPrefix(rest, "@")
	if ok && !looksLikeDigest(digest) {
		return invalid(fmt.Sprintf("the digest %q is malformed", digest), "write @sha256: and 64 hex digits, or leave out the @")
	}
	if len(domain)+1+len(ref.Path) > maxRepoLength {
		return ImageRef{}, refError(s, fmt.Sprintf("registry and path have more than %d characters", maxRepoLength),
			"shorten the repository path", fmt.Sprintf("repository name must not be more than %d characters", maxRepoLength))
	}
	if ok {
		if err := checkDigest(s, digest); err != nil {
			return ImageRef{}, err
		}
		ref.Digest = digest
	}
	return ref, nil
}

// checkDigest checks a digest of the right outer form: a known algorithm, and its
// number of lower-case hex digits.
func checkDigest(s, digest string) *ImageRefError {
	algorithm, hex, _ := strings.Cut(digest, ":")
	var want int
	switch algorithm {
	case "sha256":
		want = 64
	case "sha384":
		want = 96
	case "sha512":
		want = 128
	default:
		compat := "unsupported digest algorithm"
		if strings.ToLower(algorithm) != algorithm {
			compat = "invalid checksum digest format"
		}
		return refError(s, fmt.Sprintf("unknown digest algorithm %q", algorithm), "use sha256", compat)
	}
	if len(hex) != want {
		return refError(s, fmt.Sprintf("the %s digest has %d hex digits instead of %d", algorithm, len(hex), want),
			"copy the whole digest", "invalid checksum digest length")
	}
	if !names.Only(hex, names.IsLowerHex) {
		return refError(s, "the digest has upper-case hex digits", "write it in lower case", "invalid checksum digest format")
	}
	return nil
}

func isDomain(s string) bool {
	if i := strings.IndexByte(s, ':'); i >= 0 {
		if port := s[i+1:]; port == "" || !names.Only(port, names.IsDigit) {
			return false
		}
		s = s[:i]
	}
	for c := range strings.SplitSeq(s, ".") {
		if c == "" || c[0] == '-' || c[len(c)-1] == '-' || !names.Only(c, func(b byte) bool { return names.IsAlnum(b) || b == '-' }) {
			return false
		}
	}
	return true
}

// isPathComponent reports whether s consists of runs of lower-case letters and
// digits with exactly one separator between two runs.
func isPathComponent(s string) bool {
	for i := 0; ; {
		run := i
		for i < len(s) && names.IsLowerAlnum(s[i]) {
			i++
		}
		if i == run {
			return false
		}
		if i == len(s) {
			return true
		}
		switch {
		case s[i] == '-':
			for i < len(s) && s[i] == '-' {
				i++
			}
		case strings.HasPrefix(s[i:], "__"):
			i += 2
		case s[i] == '.', s[i] == '_':
			i++
		default:
			return false
		}
	}
}

func isTag(s string) bool {
	if s == "" || len(s) > maxTagLength || s[0] == '.' || s[0] == '-' {
		return false
	}
	return names.Only(s, func(b byte) bool { return names.IsAlnum(b) || b == '_' || b == '.' || b == '-' })
}

// looksLikeDigest reports whether s is an algorithm, whose parts begin with a
// letter, a colon, and at least 32 hex digits.
func looksLikeDigest(s string) bool {
	algorithm, hex, ok := strings.Cut(s, ":")
	if !ok || len(hex) < minHexLength || !names.Only(hex, names.IsHex) {
		return false
	}
	partBegins := true
	for i := range len(algorithm) {
		switch c := algorithm[i]; {
		case partBegins && !names.IsLetter(c), !partBegins && !names.IsAlnum(c) && !strings.ContainsRune("-_+.", rune(c)):
			return false
		default:
			partBegins = !names.IsAlnum(c)
		}
	}
	return !partBegins
}
