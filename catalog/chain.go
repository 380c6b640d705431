package catalog

import (
	"maps"
	"slices"
)

// Heads returns the entries that no other entry replaces or skips, as they are
// written. A valid channel has exactly one. Version ranges do not count, and an
// entry that replaces itself is not a head.
func (ch *Channel) Heads() []string {
	ch.headed.Do(func() { ch.heads = Heads(ch.Entries()) })
	return slices.Clone(ch.heads)
}

// Heads returns the names of the entries of a channel, or of a part of one,
// that no other entry replaces or skips, in the order given and each once.
func Heads(entries []Entry) []string { return headsBeside(entries, Skipped(entries)) }

// headsBeside returns the heads of entries of which some are skipped.
func headsBeside(entries []Entry, skipped map[string]bool) []string {
	covered := maps.Clone(skipped)
	for _, e := range entries {
		if e.Replaces != "" {
			covered[e.Replaces] = true
		}
	}
	var heads []string
	for _, e := range entries {
		if !covered[e.Name] {
			covered[e.Name] = true
			heads = append(heads, e.Name)
		}
	}
	return heads
}

// Skipped returns the names that entries have in their skips.
func Skipped(entries []Entry) map[string]bool {
	skipped := map[string]bool{}
	for _, e := range entries {
		for _, s := range e.Skips {
			skipped[s] = true
		}
	}
	return skipped
}

// Chain follows replaces from a head, up to an entry whose replaces is skipped
// by some entry, empty, or not an entry; then that name, which may be empty, is
// the last of the chain unless it is skipped. If the walk reaches an entry for
// a second time, circle is the cycle from there back to it; otherwise it is
// nil. In a valid channel every entry is on the chain from the head or skipped.
func Chain(entries []Entry, head string) (chain, circle []string) {
	skipped := Skipped(entries)
	replaces := make(map[string]string, len(entries))
	for _, e := range entries {
		if _, ok := replaces[e.Name]; !ok {
			replaces[e.Name] = e.Replaces
		}
	}
	at := map[string]int{head: 0}
	chain = []string{head}
	for name := head; ; {
		next, ok := replaces[name]
		if !ok || skipped[next] {
			return chain, nil
		}
		if i, passed := at[next]; passed {
			return chain, append(append([]string{}, chain[i:]...), next)
		}
		at[next] = len(chain)
		chain = append(chain, next)
		name = next
	}
}
