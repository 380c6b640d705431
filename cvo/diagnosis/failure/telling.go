package failure

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// telling are words of clauses that say what went wrong, the strongest first.
var telling = [][]string{
	{"x509:", "no such host", "connection refused", "no space left", "not found", "denied", "forbidden", "unauthorized", "exceeded", "expired", "cannot be verified", "no endpoints", "quota", "immutable"},
	{"timed out", "timeout", "unreachable", "invalid", "mismatch", "unable to", "cannot", "can't", "could not", "failed", "failure", "refused", "unsupported", "missing", "error"},
	{"not ready", "not available", "unavailable", "degraded", "waiting", "pending", "unhealthy", "crash"},
}

// preemption is what a scheduler says of preemption after it has said why a pod has no node.
var preemption = regexp.MustCompile(`(?i)\.? preemption: \d+/\d+ nodes are available: [^\n;]*`)

// Telling returns the clause of a message that says most about a failure, at most width
// characters long (at least 40). It is a whole clause, or the end of a chain of causes
// ("failed to a: failed to b: c") from one of its colons on; what is too long is cut at its
// end only, which then is "…".
func Telling(message string, width int) string {
	if len(message) > mostText {
		message = strings.ToValidUTF8(message[:mostText], "")
	}
	best, strength := "", len(telling)+1
	for _, c := range clauses(preemption.ReplaceAllLiteralString(message, "")) {
		if s := strong(c); s < strength && (best == "" || !strings.HasSuffix(c, ":")) || strings.HasSuffix(best, ":") {
			best, strength = c, s
		}
	}
	return shorter(best, max(width, 40))
}

// strong is how strong a clause is; lower is stronger.
func strong(clause string) int {
	lower := strings.ToLower(clause)
	for i, words := range telling {
		for _, w := range words {
			if strings.Contains(lower, w) {
				return i
			}
		}
	}
	return len(telling)
}

// shorter shortens a clause: from a colon on as far left as possible where it fits and is as
// strong as the whole, or else its head.
func shorter(clause string, width int) string {
	if utf8.RuneCountInString(clause) <= width {
		return clause
	}
	s := strong(clause)
	for at := 0; ; {
		k := colon(clause[at:])
		if k < 0 {
			break
		}
		at += k + 2
		if rest := clause[at:]; utf8.RuneCountInString(rest) <= width {
			if strong(rest) > s || len(rest) < 12 {
				break
			}
			return rest
		}
	}
	cut, n := clause, 0
	for i := range clause {
		if n++; n == width {
			cut = clause[:i]
			break
		}
	}
	if k := strings.LastIndexByte(cut, ' '); k > width/2 {
		cut = strings.TrimRight(cut[:k], " ,;:")
	}
	return cut + "…"
}

// colon returns where the first colon with a space after it is that stands outside quotes and
// brackets; -1 without one.
func colon(text string) int {
	for i := 0; i < len(text); i++ {
		if k := strings.IndexByte(`"([{`, text[i]); k >= 0 {
			if end := strings.IndexByte(text[i+1:], `")]}`[k]); end >= 0 {
				i += end + 1
			}
			continue
		}
		if text[i] == ':' && i+1 < len(text) && text[i+1] == ' ' {
			return i
		}
	}
	return -1
}

// clauses splits a message at line ends, semicolons and ends of sentences that stand outside
// quotes. Bullets are removed.
func clauses(message string) []string {
	var all []string
	for from := 0; from < len(message); {
		to := next(message, from)
		if c := trimmed(message[from:to]); c != "" {
			all = append(all, c)
		}
		from = to + 1
	}
	return all
}

// clause returns the clause around a part of a message; all of them, if it is part of several.
func clause(message string, from, to int) string {
	for start := 0; ; {
		end := next(message, start)
		if end > from || end >= len(message) {
			for end < to {
				end = next(message, end+1)
			}
			return trimmed(message[start:end])
		}
		start = end + 1
	}
}

// next returns where the clause that begins at from ends. Quotes and brackets are not split.
func next(message string, from int) int {
	for i := from; i < len(message); i++ {
		c := message[i]
		if k := strings.IndexByte(`"([`, c); k >= 0 { // to what closes it, if that is in the same line
			line, _, _ := strings.Cut(message[i+1:], "\n")
			if end := strings.IndexByte(line, `")]`[k]); end >= 0 {
				i += end + 1
			}
			continue
		}
		switch {
		case c == '\n':
			return i
		case c == ';' && i+1 < len(message) && message[i+1] == ' ':
			return i
		case c == '.' && i+2 < len(message) && message[i+1] == ' ' && ('A' <= message[i+2] && message[i+2] <= 'Z' || message[i+2] == '*'):
			return i
		}
	}
	return len(message)
}

func trimmed(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(strings.TrimLeft(s, "*•- \t"))
	return strings.TrimSpace(strings.TrimSuffix(s, "."))
}
