package semverx

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fairlead/fairlead"
)

// MaxVersionLen is the maximum length of a version, in bytes. A longer one is a
// [*fairlead.InputLimitError].
const MaxVersionLen = 256

// Version is a semantic version. The zero Version is not a version:
// [Version.IsZero] reports it, and it differs from 0.0.0.
//
// Use [Version.Compare], not ==, to order versions: == also compares build
// metadata.
type Version struct {
	major, minor, patch uint64
	pre, build          string
	valid               bool
}

// Parse reads a version exactly as SemVer 2.0.0 writes it: three numbers, an
// optional prerelease, optional build metadata. Numbers, including those within
// a prerelease, must fit in 64 bits.
//
// An error is a [*VersionError]; if a limit is exceeded, it wraps a
// [*fairlead.InputLimitError].
func Parse(s string) (Version, error) { return parse(s, s) }

// parse reads text; errors quote written.
func parse(text, written string) (Version, error) {
	parsed, err := semver.StrictNewVersion(text)
	if err != nil {
		return Version{}, versionError(text, written)
	}
	v := Version{
		major: parsed.Major(),
		minor: parsed.Minor(),
		patch: parsed.Patch(),
		pre:   parsed.Prerelease(),
		build: parsed.Metadata(),
		valid: true,
	}
	for id := range strings.SplitSeq(v.pre, ".") {
		if isNumber(id) && !fits64(id) {
			return Version{}, versionError(text, written)
		}
	}
	return v, nil
}

// Tolerant is [ParseTolerant] for versions that are checked elsewhere: it
// returns the zero Version for a text that is not a version.
func Tolerant(s string) Version {
	v, err := ParseTolerant(s)
	if err != nil {
		return Version{}
	}
	return v
}

// ParseTolerant reads a version as people write it. White space around it, one
// leading v and leading zeros of the three numbers are dropped, and a missing
// minor or patch is 0. A version of fewer than three numbers can have neither
// prerelease nor build metadata. Errors are those of [Parse]; the length limit
// applies to s as given.
func ParseTolerant(s string) (Version, error) {
	if len(s) > MaxVersionLen {
		return Version{}, versionError(s, s)
	}
	text := strings.TrimPrefix(strings.TrimSpace(s), "v")
	parts := strings.SplitN(text, ".", 3)
	for i, part := range parts {
		parts[i] = dropLeadingZeros(part)
	}
	if last := parts[len(parts)-1]; len(parts) < 3 && strings.ContainsAny(last, "+-") {
		return Version{}, &VersionError{
			Text:   s,
			Reason: "a version of fewer than three numbers cannot have a prerelease or build metadata",
			Hint:   "write all of MAJOR.MINOR.PATCH",
		}
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return parse(strings.Join(parts, "."), s)
}

// dropLeadingZeros drops the zeros before the first other character of part. If
// no digit follows, it puts one zero there, even if there were none: 1.2.-rc is
// read as 1.2.0-rc.
func dropLeadingZeros(part string) string {
	if len(part) < 2 {
		return part
	}
	rest := strings.TrimLeft(part, "0")
	if !startsWithDigit(rest) {
		return "0" + rest
	}
	return rest
}

// IsZero reports whether v is the zero Version, which no text parses to.
func (v Version) IsZero() bool { return !v.valid }

// Major returns the first number.
func (v Version) Major() uint64 { return v.major }

// Minor returns the second number.
func (v Version) Minor() uint64 { return v.minor }

// Patch returns the third number.
func (v Version) Patch() uint64 { return v.patch }

// Prerelease returns the text after the hyphen, or "".
func (v Version) Prerelease() string { return v.pre }

// Build returns the metadata after the plus sign, or "".
func (v Version) Build() string { return v.build }

// String returns the version in canonical form; the zero Version is "".
func (v Version) String() string {
	if !v.valid {
		return ""
	}
	b := make([]byte, 0, 24)
	b = strconv.AppendUint(b, v.major, 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, v.minor, 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, v.patch, 10)
	if v.pre != "" {
		b = append(append(b, '-'), v.pre...)
	}
	if v.build != "" {
		b = append(append(b, '+'), v.build...)
	}
	return string(b)
}

// Compare returns -1, 0 or 1 if v precedes, equals or follows o in SemVer's
// order of precedence. Build metadata is ignored. The zero Version precedes all
// others. It allocates nothing.
func (v Version) Compare(o Version) int {
	if v.valid != o.valid {
		if o.valid {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(v.major, o.major); c != 0 {
		return c
	}
	if c := cmp.Compare(v.minor, o.minor); c != 0 {
		return c
	}
	if c := cmp.Compare(v.patch, o.patch); c != 0 {
		return c
	}
	return comparePrerelease(v.pre, o.pre)
}

// comparePrerelease orders two prereleases; none ("") is last.
func comparePrerelease(a, b string) int {
	if a == b {
		return 0
	}
	if a == "" {
		return 1
	}
	if b == "" {
		return -1
	}
	for {
		idA, restA, moreA := strings.Cut(a, ".")
		idB, restB, moreB := strings.Cut(b, ".")
		if c := compareIdentifier(idA, idB); c != 0 {
			return c
		}
		if !moreA || !moreB {
			return cmp.Compare(btoi(moreA), btoi(moreB))
		}
		a, b = restA, restB
	}
}

// compareIdentifier orders numbers by value before all other identifiers,
// which are ordered by their bytes. Numbers have no leading zeros, so the
// longer one is the greater.
func compareIdentifier(a, b string) int {
	numA, numB := isNumber(a), isNumber(b)
	switch {
	case numA && numB:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case numA:
		return -1
	case numB:
		return 1
	}
	return cmp.Compare(a, b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// next returns the version that follows v immediately in the order of
// precedence; false after the greatest of all.
func (v Version) next() (Version, bool) {
	n := Version{major: v.major, minor: v.minor, patch: v.patch, pre: "0", valid: true}
	switch {
	case v.pre != "":
		n.pre = v.pre + ".0"
	case v.patch < math.MaxUint64:
		n.patch++
	case v.minor < math.MaxUint64:
		n.minor, n.patch = v.minor+1, 0
	case v.major < math.MaxUint64:
		n.major, n.minor, n.patch = v.major+1, 0, 0
	default:
		return Version{}, false
	}
	return n, true
}

// isNumber reports whether s is made of decimal digits only.
func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func fits64(digits string) bool {
	_, err := strconv.ParseUint(digits, 10, 64)
	return err == nil
}

// VersionError reports why a text is not a version.
type VersionError struct {
	Text   string // the text as given
	Reason string // what is wrong with it
	Hint   string // what to write instead, or ""
	Err    error  // a *fairlead.InputLimitError if a limit is exceeded, or nil
}

// Error returns the message on one line.
func (e *VersionError) Error() string {
	msg := "version " + quote(e.Text) + ": " + e.Reason
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	return msg
}

// Unwrap returns the error that caused this one, or nil.
func (e *VersionError) Unwrap() error { return e.Err }

func tooLong(what, s string, limit int) error {
	return &fairlead.InputLimitError{What: "length of the " + what + " in bytes", Size: int64(len(s)), Max: int64(limit)}
}

// quote quotes s for a message, and cuts it if it is very long.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:most]) + "..."
}
