package group

import (
	"fmt"
	"slices"
	"strings"
)

// InstallModeType is a way to select the namespaces that an operator watches.
type InstallModeType string

// The install modes, in the order in which errors list them.
const (
	ModeOwnNamespace    InstallModeType = "OwnNamespace"    // a group that selects the operator's own namespace
	ModeSingleNamespace InstallModeType = "SingleNamespace" // a group that selects one other namespace
	ModeMultiNamespace  InstallModeType = "MultiNamespace"  // a group that selects several namespaces
	ModeAllNamespaces   InstallModeType = "AllNamespaces"   // a group that selects all namespaces
)

var modeAdvice = []struct {
	mode InstallModeType
	does string
}{
	{ModeOwnNamespace, "the operator's own namespace"},
	{ModeSingleNamespace, "one other namespace"},
	{ModeMultiNamespace, "several namespaces"},
	{ModeAllNamespaces, "all namespaces"},
}

// InstallMode says whether an operator supports one mode.
type InstallMode struct {
	Type      InstallModeType `json:"type"`      // the mode
	Supported bool            `json:"supported"` // whether it works
}

// InstallModes are the modes that a CSV states. One that is absent is not
// supported.
type InstallModes []InstallMode

// ModeError says why operators with given modes cannot belong to a group.
type ModeError struct {
	// Mode is the one that is missing, or "" if no mode could help.
	Mode InstallModeType
	// Namespace is the operator's, and Targets are what its group selects.
	Namespace string
	Targets   []string // see Namespace
	// Modes are those the operator states.
	Modes InstallModes
	// Problem says what is wrong.
	Problem string
}

// Error implements error. The text ends with the selections that would work.
func (e *ModeError) Error() string {
	var ways []string
	for _, a := range modeAdvice {
		if e.Modes.has(a.mode) {
			ways = append(ways, a.does)
		}
	}
	if len(ways) == 0 {
		return e.Problem + "; the operator supports no install mode at all: it needs a version that does"
	}
	return e.Problem + "; make the group select " + strings.Join(ways, ", or ")
}

func (m InstallModes) has(mode InstallModeType) bool {
	return slices.Contains(m, InstallMode{Type: mode, Supported: true})
}

// Check returns an error if a mode is stated twice, and nil otherwise.
func (m InstallModes) Check() error {
	for i, mode := range m {
		if slices.ContainsFunc(m[:i], func(o InstallMode) bool { return o.Type == mode.Type }) {
			return fmt.Errorf("install mode %s is stated twice; state each mode once", mode.Type)
		}
	}
	return nil
}

// Supports returns nil if an operator with these modes, installed in a
// namespace, can watch the targets, and a *ModeError if not:
//
//  1. No targets: never.
//  2. One: the operator's own namespace requires OwnNamespace, "" requires
//     AllNamespaces, any other SingleNamespace.
//  3. Several require MultiNamespace; the own namespace among them also requires
//     OwnNamespace; "" among them never works.
func (m InstallModes) Supports(namespace string, targets []string) error {
	fail := func(mode InstallModeType, format string, args ...any) error {
		return &ModeError{Mode: mode, Namespace: namespace, Targets: targets, Modes: m, Problem: fmt.Sprintf(format, args...)}
	}
	need := func(mode InstallModeType, format string, args ...any) error {
		if m.has(mode) {
			return nil
		}
		return fail(mode, "install mode %s is not supported, and the group selects %s", mode, fmt.Sprintf(format, args...))
	}
	switch {
	case len(targets) == 0:
		return fail("", "the group selects no namespaces")
	case len(targets) == 1 && targets[0] == namespace:
		return need(ModeOwnNamespace, "the operator's own namespace %s", namespace)
	case len(targets) == 1 && targets[0] == AllNamespaces:
		return need(ModeAllNamespaces, "all namespaces")
	case len(targets) == 1:
		return need(ModeSingleNamespace, "one other namespace, %s", targets[0])
	}
	if err := need(ModeMultiNamespace, "%d namespaces", len(targets)); err != nil {
		return err
	}
	for _, t := range targets {
		if t == AllNamespaces {
			return fail("", "the group selects all namespaces and others with them")
		}
		if t == namespace {
			if err := need(ModeOwnNamespace, "the operator's own namespace %s among others", namespace); err != nil {
				return err
			}
		}
	}
	return nil
}
