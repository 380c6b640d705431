package fairlead

import (
	"fmt"
	"slices"
	"strings"
)

// FieldError is an invalid value and its place.
type FieldError struct {
	Path    string `json:"path"`    // as in spec.rules[0].order
	Problem string `json:"problem"` // what is wrong with it, and what to write instead
}

// Error returns path and problem.
func (e *FieldError) Error() string { return e.Path + ": " + e.Problem }

// FieldErrors are all errors of an input, in the order of its fields.
type FieldErrors []*FieldError

// Error lists them, one a line.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each of them.
func (e FieldErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, f := range e {
		all[i] = f
	}
	return all
}

// Add notes a problem of the field at a path; format and args are those of
// [fmt.Sprintf].
func (e *FieldErrors) Add(path, format string, args ...any) {
	*e = append(*e, &FieldError{Path: path, Problem: fmt.Sprintf(format, args...)})
}

// Err returns the list as an error, nil if it is empty.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return slices.Clip(e)
}
