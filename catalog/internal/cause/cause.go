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

// Groups groups users whose first reason is the same, word for word or except for their bundle
// and its version, in the order of the first of each group.
func Groups(users []User) []Group {
	var groups []Group
	var common []reasons // by group
	known := map[[2]string]int{}
	for i, u := range users {
		r := reasonsOf(u)
		keys := [][2]string{{u.Among, r.asWritten[0]}, {u.Among, r.of[0]}}
		at, ok := known[keys[0]]
		if !ok {
			at, ok = known[keys[1]]
		}
		if !ok {
			at = len(groups)
			groups, common = append(groups, Group{Why: u.Why}), append(common, r)
		} else {
			common[at].keep(r)
			groups[at].Why = common[at].String()
		}
		groups[at].Users = append(groups[at].Users, i)
		for _, k := range keys {
			if _, ok := known[k]; !ok {
				known[k] = at
			}
		}
	}
	return groups
}

// reasons are those that users have in common: word for word, and with "it" for the bundle of
// each.
type reasons struct{ asWritten, of []string }

func reasonsOf(u User) reasons {
	r := reasons{asWritten: strings.Split(u.Why, "; ")}
	for _, text := range r.asWritten {
		r.of = append(r.of, replaceName(replaceName(text, u.Bundle, "it"), u.Version, "its version"))
	}
	return r
}

// keep leaves out what another user does not have.
func (r *reasons) keep(other reasons) {
	r.asWritten = slices.DeleteFunc(r.asWritten, func(text string) bool { return !slices.Contains(other.asWritten, text) })
	r.of = slices.DeleteFunc(r.of, func(text string) bool { return !slices.Contains(other.of, text) })
}

// String returns the reasons in the form that keeps more of them.
func (r *reasons) String() string {
	if len(r.asWritten) > len(r.of) {
		return strings.Join(r.asWritten, "; ")
	}
	return strings.Join(r.of, "; ")
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
