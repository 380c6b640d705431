// Package cause finds common causes of users getting no updates.
package cause

import (
	"slices"
	"strings"
)

// User is a user of a bundle who gets no updates.
type User struct {
	Among   string // only users with the same value can have a common cause
	Bundle  string // that the user has
	Version string // of the bundle; may be empty
	Why     string // the reasons, separated by "; ", the nearest obstacle first
}

// Group is a set of users with a common cause.
type Group struct {
	Users []int  // their indexes
	Why   string // the cause; for several users, "it" stands for each bundle
}

// Groups groups users whose first reason is the same except for their bundle and its
// version, in the order of the first of each group.
func Groups(users []User) []Group {
	var groups []Group
	var common [][]string // by group
	known := map[[2]string]int{}
	for i, u := range users {
		reasons := strings.Split(u.Why, "; ")
		for i, r := range reasons {
			reasons[i] = replaceName(replaceName(r, u.Bundle, "it"), u.Version, "its version")
		}
		key := [2]string{u.Among, reasons[0]}
		at, ok := known[key]
		if !ok {
			known[key] = len(groups)
			groups, common = append(groups, Group{[]int{i}, u.Why}), append(common, reasons)
			continue
		}
		g := &groups[at]
		g.Users = append(g.Users, i)
		common[at] = slices.DeleteFunc(common[at], func(r string) bool { return !slices.Contains(reasons, r) })
		g.Why = strings.Join(common[at], "; ")
	}
	return groups
}

// replaceName replaces a name where it is not part of another.
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
