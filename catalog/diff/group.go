package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
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
	var groups []Group
	var common [][]string // by group
	known := map[string]int{}
	for _, s := range stranded {
		reasons := strings.Split(s.Why, "; ")
		for i, r := range reasons {
			reasons[i] = replaceName(replaceName(r, s.Bundle, "it"), s.version, "its version")
		}
		key := fmt.Sprint(s.Channel, s.Rules, reasons[0])
		at, ok := known[key]
		if !ok {
			known[key] = len(groups)
			groups, common = append(groups, Group{s.Channel, []string{s.Bundle}, s.Rules, s.Why}), append(common, reasons)
			continue
		}
		g := &groups[at]
		g.Bundles = append(g.Bundles, s.Bundle)
		common[at] = slices.DeleteFunc(common[at], func(r string) bool { return !slices.Contains(reasons, r) })
		g.Why = strings.Join(common[at], "; ")
	}
	return groups
}

// Who names the bundles of a group, of many the first three.
func (g *Group) Who() string { return words.List(g.Bundles, "and", 3) }

// replaceName puts something in place of a name, where the name stands for itself and
// is not a part of another.
func replaceName(text, name, with string) string {
	var b strings.Builder
	for name != "" {
		at := strings.Index(text, name)
		if at < 0 {
			break
		}
		end := at + len(name)
		whole := (at == 0 || !inName(text[at-1])) && (end == len(text) || !inName(text[end]))
		b.WriteString(text[:at])
		if whole {
			b.WriteString(with)
		} else {
			b.WriteString(name)
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '+'
}
