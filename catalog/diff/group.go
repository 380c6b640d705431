package diff

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/cause"
	"github.com/fairlead/fairlead/internal/words"
)

// Group is a set of stranded bundles of one channel with a common cause.
type Group struct {
	Channel string          // that users follow; "" where the whole package is gone
	Bundles []string        // that they have
	Rules   []catalog.Rules // rules by which they are stranded
	Why     string          // the cause; for several bundles, "it" stands for each
}

// Groups groups stranded bundles by channel, rules, and the nearest obstacle of
// each, in the order of the first of each group.
func Groups(stranded []Stranded) []Group {
	users := make([]cause.User, len(stranded))
	for i, s := range stranded {
		users[i] = cause.User{Among: fmt.Sprint(followed(s), s.Rules), Bundle: s.Bundle, Version: s.version, Why: s.Why}
	}
	var groups []Group
	for _, g := range cause.Groups(users) {
		first := stranded[g.Users[0]]
		next := Group{Channel: followed(first), Rules: first.Rules, Why: g.Why}
		named := map[string]bool{} // one may be in several channels
		for _, i := range g.Users {
			if name := stranded[i].Bundle; !named[name] {
				named[name] = true
				next.Bundles = append(next.Bundles, name)
			}
		}
		groups = append(groups, next)
	}
	return groups
}

// followed is the channel that matters to a user.
func followed(s Stranded) string {
	if s.Why == packageGone {
		return ""
	}
	return s.Channel
}

// Where names the channel of a group: "channel stable", or "every channel".
func (g *Group) Where() string {
	if g.Channel == "" {
		return "every channel"
	}
	return "channel " + g.Channel
}

// Who names the bundles of a group; if there are many, the first three.
func (g *Group) Who() string { return words.List(g.Bundles, "and", 3) }
