package names

import "strings"

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
