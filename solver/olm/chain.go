package olm

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// ChannelError reports that the entries of a channel have no single replacement
// order, so that nothing can be chosen from it.
type ChannelError struct {
	Source  SourceKey // the catalog
	Package string    // its package
	Channel string    // the channel of that package
	// Heads are the entries that no other replaces or skips, in the order in
	// which the channel lists them. There are none if every entry is replaced or
	// skipped.
	Heads []string
	// Chains describes the replacement chain below each head, as "first...last".
	Chains []string
	// Fault is what likely makes it have no head or several; nil if that is not known.
	Fault *catalog.HeadFault
	// Cycle is the head whose replacement chain runs into a cycle, or "".
	Cycle string
}

// Error names the channel, the problem with its edges, its cause, and the fix.
func (e *ChannelError) Error() string {
	where := fmt.Sprintf("channel %q of package %q in catalog %s", e.Channel, e.Package, e.Source)
	if e.Cycle != "" {
		return fmt.Sprintf("%s: a cycle exists in the chain of replacement that begins with %q; remove one of its replaces", where, e.Cycle)
	}
	what, fix := "no channel head: every entry is replaced or skipped", "remove one of the replaces or skips"
	if len(e.Heads) > 0 {
		what = fmt.Sprintf("a unique replacement chain is required to order the entries, but there are %d: %s", len(e.Heads), strings.Join(e.Chains, ", "))
		fix = "make one head replace or skip the others"
	}
	if e.Fault != nil && e.Fault.Why != "" {
		what, fix = what+"; "+e.Fault.Why, e.Fault.Hint
	}
	return where + ": " + what + "; " + fix
}

// sortChannel orders the entries of one channel from its head down the
// replacement chain:
//
//  1. The head is the one entry that no present entry replaces or skips.
//  2. From there, the replaces of each entry leads to the next; the chain ends
//     at an entry that replaces no present entry.
//  3. Entries that a present entry skips are followed, but left out.
//
// Versions are never compared. Entries that only skips lead to are not in the
// result. Of two entries of the same name, the later one counts.
func sortChannel(entries []*entry) ([]*entry, *ChannelError) {
	if len(entries) == 0 {
		return nil, nil
	}
	byName := make(map[string]*entry, len(entries))
	for _, e := range entries {
		byName[e.name] = e
	}
	covered := make(map[string]bool) // replaced or skipped by a present entry
	skipped := make(map[string]bool)
	for _, e := range entries {
		if e.replaces != "" {
			covered[e.replaces] = true
		}
		for _, s := range e.skips {
			covered[s], skipped[s] = true, true
		}
	}
	var chains [][]*entry
	fail := &ChannelError{Package: entries[0].pkg, Channel: entries[0].channelName()}
	for _, head := range entries {
		if covered[head.name] || byName[head.name] != head {
			continue
		}
		chain, ok := walkChain(head, byName, skipped)
		if !ok {
			fail.Cycle = head.name
			return nil, fail
		}
		chains = append(chains, chain)
		fail.Heads = append(fail.Heads, head.name)
		fail.Chains = append(fail.Chains, chainText(chain))
	}
	if len(chains) != 1 {
		return nil, fail
	}
	return chains[0], nil
}

// walkChain follows replaces from head; false means that it found a cycle.
func walkChain(head *entry, byName map[string]*entry, skipped map[string]bool) ([]*entry, bool) {
	var chain []*entry
	passed := make(map[*entry]bool)
	for e := head; ; {
		if passed[e] {
			return nil, false
		}
		passed[e] = true
		if !skipped[e.name] {
			chain = append(chain, e)
		}
		next, ok := byName[e.replaces]
		if e.replaces == "" || !ok {
			return chain, true
		}
		e = next
	}
}

func chainText(chain []*entry) string {
	switch len(chain) {
	case 0:
		return "(all skipped)"
	case 1:
		return chain[0].name
	}
	return chain[0].name + "..." + chain[len(chain)-1].name
}
