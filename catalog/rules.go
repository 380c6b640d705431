package catalog

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Rules decide which of the updates that entries state are offered. All agree that an
// entry updates the bundle that it replaces, those that it skips, and those whose version
// is in its skipRange; they differ in what may be installed.
type Rules uint8

// The rules.
const (
	// AsWritten counts every update that an entry of the channel states.
	AsWritten Rules = iota
	// OLMv0 are the rules of Operator Lifecycle Manager with subscriptions. It installs
	// only what is on the channel's chain: from its only head along replaces, through
	// entries that some entry skips but without them. It ignores entries without a bundle
	// in the catalog. A channel with no head, several heads, or a cycle offers nothing.
	OLMv0
	// OLMv1 are the rules of Operator Lifecycle Manager with ClusterExtensions that name
	// the channel. It installs any bundle that the channel lists, skipped or not, and any
	// channel of the package may state an update to it. (Without a requested version it
	// installs the highest at once.)
	OLMv1
)

// String returns v0, v1 or "as written".
func (r Rules) String() string {
	switch r {
	case OLMv0:
		return "v0"
	case OLMv1:
		return "v1"
	}
	return "as written"
}

// MarshalText returns what String does.
func (r Rules) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (r *Rules) UnmarshalText(text []byte) error {
	for _, known := range []Rules{AsWritten, OLMv0, OLMv1} {
		if known.String() == string(text) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("catalog: %q is not a set of rules for updates: write v0, v1 or %q", text, AsWritten)
}

// Installed is an installed bundle, whether the catalog still has it or not.
type Installed struct {
	Name    string // of the bundle
	Version string // its version; "" if it is not known
}

// IsVersion reports whether a text is a version as bundles have it: MAJOR.MINOR.PATCH, perhaps
// with a prerelease and build metadata.
func IsVersion(text string) bool {
	_, err := semverx.Parse(text)
	return err == nil
}

// installable returns which of the entries of a channel may be installed. The
// entries are distinct.
func (g *Graph) installable(entries []Entry) []bool {
	may := make([]bool, len(entries))
	present := make([]Entry, 0, len(entries))
	for i, e := range entries {
		if g.rules == AsWritten || g.channel.pkg.edition(e.Name) != nil {
			may[i] = g.rules != OLMv0
			present = append(present, e)
		}
	}
	if g.rules == OLMv0 {
		for _, name := range chainV0(present) {
			may[g.index[name]] = true
		}
	}
	return may
}

// chainV0 returns what OLM v0 may install from a channel, from the head; nothing if the
// entries have no single order.
func chainV0(present []Entry) []string {
	skipped := Skipped(present)
	heads := headsBeside(present, skipped)
	if len(heads) != 1 {
		return nil
	}
	at := make(map[string]int, len(present))
	for i, e := range present {
		at[e.Name] = i
	}
	passed := make(map[string]bool, len(present))
	var chain []string
	for name := heads[0]; ; {
		i, ok := at[name]
		switch {
		case !ok:
			return chain
		case passed[name]:
			return nil
		case !skipped[name]:
			chain = append(chain, name)
		}
		passed[name] = true
		name = present[i].Replaces
	}
}

// whyNotInstalled says why the rules do not install an entry, or returns "" if they do.
func (g *Graph) whyNotInstalled(name string) string {
	i, ok := g.index[name]
	if !ok || i >= g.entries || g.nodes[i].installable {
		return ""
	}
	if _, ok := g.channel.pkg.Bundle(name); !ok {
		return "the catalog has no bundle of that name"
	}
	var present []Entry
	for _, e := range g.channel.Entries() {
		if _, ok := g.channel.pkg.Bundle(e.Name); ok {
			present = append(present, e)
		}
	}
	for _, e := range present {
		if slices.Contains(e.Skips, name) {
			return e.Name + " skips it"
		}
	}
	if f := g.channel.HeadFault(g.rules); f != nil {
		return f.closes()
	}
	return "the chain of replaces from the head does not include it"
}
