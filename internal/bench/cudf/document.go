package cudf

import "strconv"

// A Document is a universe of packages, some of which are installed, and a
// request to change which are.
type Document struct {
	// Packages are the package versions, in the order of the text.
	Packages []Package
	// Request is what must change.
	Request Request
}

// A Package is one version of a package.
type Package struct {
	// Name is the name of the package.
	Name string
	// Version is its version, at least 1.
	Version int
	// Depends are the clauses that must be met if the package is installed.
	Depends []Clause
	// Conflicts are what must not be installed alongside the package. What it
	// provides itself does not count.
	Conflicts []Relation
	// Provides are the features that the package provides: one version of a
	// feature with "=", all versions without a relation.
	Provides []Relation
	// Recommends are clauses that should be met.
	Recommends []Clause
	// Installed says that the package is installed at the beginning.
	Installed bool
	// Keep says what of an installed package must stay.
	Keep Keep
	// Numbers are the other properties whose values are integers, such as
	// "installedsize".
	Numbers map[string]int64
}

// A Request is what must change.
type Request struct {
	// Install is what must be installed at the end.
	Install []Relation
	// Remove is what must not be installed at the end.
	Remove []Relation
	// Upgrade is what must be installed at the end in exactly one version,
	// which is not older than any that was installed at the beginning.
	Upgrade []Relation
}

// A Clause is met if any of its relations is.
type Clause []Relation

// A Relation is a name, of a package or of a feature, and a condition on its
// version.
type Relation struct {
	// Name is the name.
	Name string
	// Op is "=", "!=", ">", ">=", "<" or "<="; it is empty if any version meets
	// the relation.
	Op string
	// Version is what the version is compared with.
	Version int
}

// String returns the relation as it is written in a document.
func (r Relation) String() string {
	if r.Op == "" {
		return r.Name
	}
	return r.Name + " " + r.Op + " " + strconv.Itoa(r.Version)
}

// met reports whether a version meets the condition.
func (r Relation) met(version int) bool {
	switch r.Op {
	case "=":
		return version == r.Version
	case "!=":
		return version != r.Version
	case ">":
		return version > r.Version
	case ">=":
		return version >= r.Version
	case "<":
		return version < r.Version
	case "<=":
		return version <= r.Version
	}
	return true
}

// some reports whether any version meets the condition: versions count from 1.
func (r Relation) some() bool { return r.Op != "<" || r.Version > 1 }

// Keep says what of an installed package must stay.
type Keep uint8

// What can be kept.
const (
	// KeepNone: nothing must stay.
	KeepNone Keep = iota
	// KeepVersion: that version of the package.
	KeepVersion
	// KeepPackage: some version of the package.
	KeepPackage
	// KeepFeature: all that the package provides.
	KeepFeature
)

var keeps = [...]string{"none", "version", "package", "feature"}

// String returns the word for k in a document.
func (k Keep) String() string {
	if int(k) < len(keeps) {
		return keeps[k]
	}
	return "Keep(" + strconv.Itoa(int(k)) + ")"
}
