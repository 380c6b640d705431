package rule

import (
	"fmt"
	"slices"
)

// Default limits, for fields of [Options] that are 0.
const (
	DefaultCostLimit     = 1_000_000 // of one evaluation, in CEL's units
	DefaultMaxSource     = 64 << 10  // bytes of a rule
	DefaultMaxConstraint = 128 << 10 // bytes of an olm.constraint
)

// MaxDepth is the maximum nesting depth of the constraints of a compound.
const MaxDepth = 1000

// Options configures how rules are compiled and evaluated. The zero Options, or
// nil, behaves like a cluster, with limits added.
type Options struct {
	// CostLimit bounds the work of one evaluation, in CEL's units: about one
	// for each step. 0 means DefaultCostLimit.
	CostLimit uint64
	// MaxSource bounds the length of a rule in bytes. 0 means
	// DefaultMaxSource.
	MaxSource int
	// MaxConstraint bounds the length of an olm.constraint in bytes. 0 means
	// DefaultMaxConstraint.
	MaxConstraint int
	// Variables are the names of variables that rules may use in addition to
	// properties. Their types are dynamic, and their values are passed with the
	// properties, by [Properties.With].
	Variables []string
}

// withDefaults checks the options and fills in the defaults.
func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.CostLimit == 0 {
		opts.CostLimit = DefaultCostLimit
	}
	if opts.MaxSource == 0 {
		opts.MaxSource = DefaultMaxSource
	}
	if opts.MaxConstraint == 0 {
		opts.MaxConstraint = DefaultMaxConstraint
	}
	opts.Variables = slices.Clone(opts.Variables)
	for i, name := range opts.Variables {
		if reason := checkVariable(name); reason != "" {
			return Options{}, &VariableError{Name: name, Reason: reason}
		}
		if slices.Contains(opts.Variables[:i], name) {
			return Options{}, &VariableError{Name: name, Reason: "is declared twice"}
		}
	}
	return opts, nil
}

// propertiesVariable is the variable that every rule has.
const propertiesVariable = "properties"

// reserved are the words of the language that cannot name a variable.
var reserved = [...]string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in",
	"let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while",
}

func checkVariable(name string) string {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "is not an identifier: letters, digits and underscores, the first no digit"
		}
	}
	switch {
	case name == "":
		return "is empty"
	case name == propertiesVariable:
		return "is there already"
	case slices.Contains(reserved[:], name):
		return "is a word of the language"
	}
	return ""
}

// VariableError reports that a name cannot be that of a variable, or that a
// value cannot be its value.
type VariableError struct {
	Name   string // of the variable
	Reason string // what is wrong, worded to follow the name
}

// Error returns the message on one line.
func (e *VariableError) Error() string {
	return fmt.Sprintf("variable %q %s", e.Name, e.Reason)
}
