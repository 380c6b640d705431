package explain

import "strings"

// longest is the length, in bytes, up to which a message is shown whole.
const longest = 320

// clause returns a message on one line. Of a long one, whose clauses are separated
// by colons, the last ones are kept: they name the cause, the first ones only what
// was tried.
func clause(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) <= longest {
		return message
	}
	rest := message
	for len(rest) > longest {
		_, after, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		rest = after
	}
	if rest == message {
		return message
	}
	return "… " + rest
}
