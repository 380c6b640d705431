package diff

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/cause"
	"github.com/fairlead/fairlead/internal/words"
)

// Group is stranded bundles of one channel that have a cause in common.
type Group struct {
	Channel string          // that users follow
	Bundles []string        // that they have
	Rules   []catalog.Rules // by which they are stranded
	Why     string          // what is true of all; of several, each is "it"
}

// Groups sums up stranded bundles by channel, rules, and what stands nearest in the
// way of each, in the order of the first of each group.
func Groups(stranded []Stranded) []Group {
	users := make([]cause.User, len(stranded))
	for i, s := range stranded {
		users[i] = cause.User{Among: fmt.Sprint(s.Channel, s.Rules), Bundle: s.Bundle, Version: s.version, Why: s.Why}
	}
	var groups []Group
	for _, g := range cause.Groups(users) {
		first := stranded[g.Users[0]]
		next := Group{Channel: first.Channel, Rules: first.Rules, Why: g.Why}
		for _, i := range g.Users {
			next.Bundles = append(next.Bundles, stranded[i].Bundle)
		}
		groups = append(groups, next)
	}
	return groups
}

// Who names the bundles of a group, of many the first three.
func (g *Group) Who() string { return words.List(g.Bundles, "and", 3) }
