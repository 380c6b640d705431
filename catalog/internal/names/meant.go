package names

import (
	"slices"
	"strings"
)

// Meant returns the bundle that is meant by a name that none has, because it lacks the
// prefix of the package or the letter v before the version, or has too much of them; ""
// if there is none. has reports whether there is a bundle of that name.
func Meant(pkg, written string, has func(name string) bool) string {
	version := written
	for _, prefix := range []string{pkg, ".", "-", "v"} {
		version = strings.TrimPrefix(version, prefix)
	}
	if version == "" {
		return ""
	}
	for _, name := range []string{pkg + ".v" + version, pkg + "." + version, pkg + "-v" + version, pkg + "-" + version, pkg + "." + written, "v" + version, version} {
		if name != written && has(name) {
			return name
		}
	}
	return ""
}

// IsBackup reports whether a file is what an editor or a tool leaves of another one.
func IsBackup(file, of string) bool {
	rest, ok := strings.CutPrefix(file, of)
	return ok && slices.Contains([]string{".bak", ".backup", ".old", ".orig", ".rej", ".save", ".swp", ".tmp", "~"}, rest)
}
