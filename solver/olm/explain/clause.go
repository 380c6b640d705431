package explain

import "strings"

// longest is the length, in bytes, up to which a message is shown whole; opening is
// how much of its beginning is kept of a longer one.
const (
	longest = 320
	opening = 120
)

// clause returns a message on one line. A long one, whose clauses are separated by
// colons, keeps its beginning, which names the subject, and its last clauses, which
// name the cause.
func clause(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if at := strings.Index(message, podSecurity); at >= 0 { // what follows lists fields of containers
		if end := strings.Index(message[at:], ": "); end >= 0 {
			message = message[:at+end]
		}
	}
	if len(message) <= longest {
		return message
	}
	rest := message
	head := ""
	for len(head)+len(rest) > longest {
		clause, after, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		if head == "" && len(clause) <= opening {
			head = clause + ": "
		}
		rest = after
	}
	if len(head)+len(rest) >= len(message) {
		return message
	}
	return head + "… " + rest
}

// podSecurity is how an API server begins to say that a pod breaks a Pod Security
// Standard.
const podSecurity = "violates PodSecurity "
