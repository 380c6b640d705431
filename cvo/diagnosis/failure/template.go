package failure

import (
	"regexp"
	"strings"
)

var (
	optional    = regexp.MustCompile(`\[([^\]]*)\]`)
	placeholder = regexp.MustCompile(`\{[a-z]+\}`)
)

// sentence fills in a sentence. A part in brackets is left out if a placeholder in it is empty.
func sentence(template string, known map[string]string) string {
	template = optional.ReplaceAllStringFunc(template, func(part string) string {
		if part = part[1 : len(part)-1]; complete(part, known) {
			return part
		}
		return ""
	})
	return placeholder.ReplaceAllStringFunc(template, func(p string) string { return known[p[1:len(p)-1]] })
}

// command fills in a command: each value is one word of a POSIX shell.
func command(template string, known map[string]string) string {
	return placeholder.ReplaceAllStringFunc(template, func(p string) string { return shellWord(known[p[1:len(p)-1]]) })
}

// complete reports whether all placeholders of a template are known.
func complete(template string, known map[string]string) bool {
	for _, p := range placeholder.FindAllString(template, -1) {
		if known[p[1:len(p)-1]] == "" {
			return false
		}
	}
	return true
}

// shellWord quotes a value as one word of a POSIX shell.
func shellWord(s string) string {
	plain := s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+,=", r))
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
