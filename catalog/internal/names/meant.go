package names

import (
	"path"
	"regexp"
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

// IsBackup reports whether a file is what a person, an editor or a tool leaves of another one in
// the same directory, by its name: of.bak, of~, #of#, and for catalog.yaml also catalog.old.yaml,
// catalog-backup.yaml, catalog (1).yaml, catalog copy.yaml and Copy of catalog.yaml.
func IsBackup(file, of string) bool {
	dir, name := path.Split(file)
	if wanted, original := path.Split(of); dir == wanted {
		return isBackup(strings.ToLower(name), strings.ToLower(original))
	}
	return false
}

func isBackup(name, of string) bool {
	if rest, ok := strings.CutPrefix(name, of); ok && marksBackup(rest) || name == "#"+of+"#" || name == "copy of "+of {
		return true
	}
	ext := path.Ext(of)
	stem, ok := strings.CutSuffix(name, ext)
	if !ok || ext == "" {
		return false
	}
	rest, ok := strings.CutPrefix(stem, strings.TrimSuffix(of, ext))
	rest = strings.TrimPrefix(rest, ext) // catalog.yaml.bak.yaml
	return ok && marksBackup(rest)
}

// backupMark is what the name of a backup has after that of the original.
var backupMark = regexp.MustCompile(`^(~|[-._ ]*(bak|backup|old|orig|original|rej|save|saved|swp|tmp|copy|previous|prev)[-._ ]*\d*|[-._ ]*\(\d+\))$`)

func marksBackup(rest string) bool { return backupMark.MatchString(rest) }
