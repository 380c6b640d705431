package failure

import (
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
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

// command fills in a command: each value is one word of a POSIX shell. A value that would be taken
// for a flag gives no command: no object has such a name.
func command(template string, known map[string]string) string {
	flag := false
	filled := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		value := known[p[1:len(p)-1]]
		flag = flag || strings.HasPrefix(value, "-")
		return shell.Quote(value)
	})
	if flag {
		return ""
	}
	return filled
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
