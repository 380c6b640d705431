package semverx

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// MaxConstraintLen is the maximum length of a constraint, in bytes. A longer
// one is a [*fairlead.InputLimitError].
const MaxConstraintLen = 4096

// Constraint is a condition on versions in the form in which users pin them: a
// version, ranges with ^ and ~, hyphens, wildcards, commas. It is not the
// language of [Range], which catalogs use: here, a prerelease matches only if
// the constraint names one.
type Constraint struct {
	text   string
	parsed *semver.Constraints
}

// ParseConstraint reads a constraint. An error is a [*ConstraintError].
func ParseConstraint(s string) (*Constraint, error) {
	if len(s) > MaxConstraintLen {
		return nil, &ConstraintError{Text: s[:64] + "...", Err: tooLong("version constraint", s, MaxConstraintLen)}
	}
	parsed, err := semver.NewConstraint(s)
	if err != nil {
		return nil, &ConstraintError{Text: s, Err: err}
	}
	return &Constraint{s, parsed}, nil
}

// Contains reports whether v meets the constraint. Build metadata is ignored.
// The zero Version meets no constraint.
func (c *Constraint) Contains(v Version) bool {
	return !v.IsZero() && c.parsed.Check(semver.New(v.major, v.minor, v.patch, v.pre, v.build))
}

// String returns the constraint as it was written.
func (c *Constraint) String() string { return c.text }

// ConstraintError reports that a text is not a constraint.
type ConstraintError struct {
	Text string // what was read
	Err  error  // what is wrong with it
}

// Error returns the message on one line.
func (e *ConstraintError) Error() string {
	return fmt.Sprintf("desired version range %s is invalid: %v; write a version such as 1.2.3, or a range such as >=1.2.0 <2.0.0 or ^1.2", quote(e.Text), e.Err)
}

// Unwrap returns what is wrong.
func (e *ConstraintError) Unwrap() error { return e.Err }
