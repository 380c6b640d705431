package snapshot

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Scope is what was looked at of one kind. Absence is known only inside it.
type Scope struct {
	// All objects of the kind were looked at.
	All bool `json:"all"`
	// Assumed means that the input has objects of the kind and does not say whether there are
	// others, as the output of kubectl get does not say for which namespace it was called, nor with
	// which selector. They are taken as All, or, if they are of one namespace, as those of Namespaces.
	Assumed bool `json:"assumed,omitempty"`
	// Namespaces were looked at completely, sorted.
	Namespaces []string `json:"namespaces,omitempty"`
	// Names were looked at one by one, as namespace/name or name, sorted.
	Names []string `json:"names,omitempty"`
	// Gaps are what could not be looked at, in the order of the input.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is something that could not be looked at: a file that could not be read, a list that
// was cut off, a request that was refused.
type Gap struct {
	Namespace  string            `json:"namespace,omitempty"`  // empty for any
	Where      fairlead.Position `json:"where,omitzero"`       // the file, or the request as a file name
	Why        string            `json:"why"`                  // what went wrong
	Permission string            `json:"permission,omitempty"` // what would help, as in "list pods"; empty if it is not about permissions
}

// Looked reports whether anything of the kind was looked at.
func (s *Scope) Looked() bool { return s.All || len(s.Namespaces)+len(s.Names) > 0 }

// Whole reports whether every object of the kind is known.
func (s *Scope) Whole() bool { return s.All && len(s.Gaps) == 0 }

// Covers reports whether every object in a namespace is known.
func (s *Scope) Covers(namespace string) bool {
	if slices.ContainsFunc(s.Gaps, func(g Gap) bool { return g.Namespace == "" || g.Namespace == namespace }) {
		return false
	}
	_, in := slices.BinarySearch(s.Namespaces, namespace)
	return s.All || in
}

// Has reports whether it is known if an object exists.
func (s *Scope) Has(namespace, name string) bool {
	_, in := slices.BinarySearch(s.Names, key(namespace, name))
	return in || s.Covers(namespace)
}

// String says what was looked at, as in "all", "namespaces a and b", "nothing".
func (s *Scope) String() string {
	var parts []string
	switch {
	case s.All && s.Assumed:
		parts = append(parts, "all, as assumed")
	case s.All:
		parts = append(parts, "all")
	}
	if !s.All && len(s.Namespaces) > 0 {
		parts = append(parts, "namespaces "+strings.Join(s.Namespaces, ", "))
	}
	if !s.All && len(s.Names) > 0 {
		parts = append(parts, strings.Join(s.Names, ", "))
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	for _, g := range s.Gaps {
		where := g.Where.String()
		if g.Namespace != "" {
			where = "namespace " + g.Namespace + ", " + where
		}
		parts = append(parts, "except "+where+" ("+g.Why+")")
	}
	return strings.Join(parts, "; ")
}

// narrow takes back an assumption: a list does not say which namespace was asked for. Every cluster has
// pods of its own, so pods of a single namespace, and all else of such a namespace, are what one namespace
// has. So are other lists of a single namespace, if all of them, which single names, are of the same:
// nobody asks for each kind in another one. A list without objects is that of the one namespace of all else,
// or of one that nobody knows.
func (s *Snapshot) narrow(single map[table]bool) {
	pods := &s.Pods.Scope
	if in := spacesOf(s.Pods.Refs); pods.All && pods.Assumed && len(in) < 2 && !slices.Contains(in, "") {
		pods.All, pods.Namespaces = false, in
	}
	spaces, alike := pods.Namespaces, s.alike(single)
	if !pods.Assumed {
		spaces = s.spaces()
	}
	for i := range kinds {
		l := kinds[i].list(s)
		scope, in := l.scope(), spacesOf(l.refs())
		switch {
		case !kinds[i].namespaced || !scope.All || !scope.Assumed:
		case len(in) == 0 && !pods.All && (pods.Assumed || len(spaces) < 2):
			if scope.All = false; len(spaces) == 1 {
				scope.Namespaces = spaces
			}
		case len(in) == 1 && single[l] && alike, len(in) > 0 && !pods.All && pods.Assumed && !slices.ContainsFunc(in, func(n string) bool { return !slices.Contains(spaces, n) }):
			scope.All, scope.Namespaces = false, in
		}
	}
}

// alike reports whether the lists of a single namespace are all of the same.
func (s *Snapshot) alike(single map[table]bool) bool {
	var all []string
	for l := range single {
		if l.scope().All && l.scope().Assumed {
			all = append(all, spacesOf(l.refs())...)
		}
	}
	slices.Sort(all)
	return len(slices.Compact(all)) == 1
}

// spaces returns the namespaces that anything is in, sorted.
func (s *Snapshot) spaces() (all []string) {
	for i := range kinds {
		if kinds[i].namespaced {
			all = append(all, spacesOf(kinds[i].list(s).refs())...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spacesOf returns the namespaces of objects, sorted like them.
func spacesOf(refs []Ref) (all []string) {
	for i := range refs {
		if i == 0 || refs[i].Namespace != refs[i-1].Namespace {
			all = append(all, refs[i].Namespace)
		}
	}
	return all
}

func key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
