package rule

import (
	"fmt"
	"strings"
)

// SyntaxError reports why a text is not a rule: it does not parse, names
// something that does not exist, or does not yield a bool.
type SyntaxError struct {
	Source  string // the whole rule
	Line    int    // of the mistake, from 1
	Column  int    // of the mistake, in characters, from 1
	Message string // what is wrong there
	Hint    string // what to write instead, or ""
	More    int    // how many further mistakes were found after this one
}

// Error returns the message on one line; [SyntaxError.Caret] shows the place.
func (e *SyntaxError) Error() string {
	msg := fmt.Sprintf("rule at %d:%d: %s", e.Line, e.Column, e.Message)
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	if e.More > 0 {
		msg += fmt.Sprintf(" (and %d more)", e.More)
	}
	return msg
}

// Caret returns two lines: the line of the rule with the mistake, and a caret
// under the place. A long line is cut to the text around the place.
func (e *SyntaxError) Caret() string {
	line := ""
	if lines := strings.Split(e.Source, "\n"); e.Line <= len(lines) {
		line = lines[e.Line-1]
	}
	const around = 40 // characters kept on either side of the place
	text := []rune(strings.Map(printable, line))
	at := min(e.Column-1, len(text))
	from, to := max(0, at-around), min(len(text), at+around)
	before := string(text[from:at])
	if from > 0 {
		before = "..." + before
	}
	after := string(text[at:to])
	if to < len(text) {
		after += "..."
	}
	return before + after + "\n" + strings.Repeat(" ", len([]rune(before))) + "^"
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
