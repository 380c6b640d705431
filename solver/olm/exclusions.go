package olm

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/semverx"
)

// exclusions are the bundles that a question rules out. A nil *exclusions rules
// out nothing.
type exclusions struct {
	banned map[string]bool // names of bundles
	pins   map[string]pin  // by package
}

// pin restricts a package to the bundle of that name or, if there is no name,
// of that version.
type pin struct {
	name    string
	version semverx.Version
}

func (p pin) String() string {
	if p.name != "" {
		return p.name
	}
	return "version " + p.version.String()
}

func (p pin) allows(e *entry) bool {
	if p.name != "" {
		return e.name == p.name
	}
	v := e.facts().version
	return !v.IsZero() && v.Compare(p.version) == 0
}

// against returns why a question rules out an operator, as text to follow its
// name, or "". A ban does not apply to installed operators; a pin does.
func (b *exclusions) against(e *entry) string {
	if b == nil {
		return ""
	}
	if b.banned[e.name] && !e.isInstalled() {
		return "may not be chosen: the question bans it"
	}
	if p, ok := b.pins[e.pkg]; ok && !p.allows(e) {
		verb := "may not be chosen"
		if e.isInstalled() {
			verb = "may not stay"
		}
		return fmt.Sprintf("%s: the question pins package %s to %s", verb, e.pkg, p)
	}
	return ""
}
