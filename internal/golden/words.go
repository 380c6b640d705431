package golden

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/fairlead/fairlead"
)

// Words collects the sentences of an engine while its scripts run, and compares
// them with a table. Scripts then print a reason with its data, so that rewording
// changes the table alone, and a change of behaviour can't hide in it. A table has
// a line for each way in which a reason is worded, with the first example of it:
//
//	REASON: sentence
//
// Sentences that differ in names and numbers alone are worded in the same way. A nil
// *Words notes nothing: the table of another package has the words.
type Words struct {
	t     *testing.T
	lines map[string]string // by reason and shape
	names map[string]bool   // see Name
}

// NewWords returns the words of the engine that t tests. They are compared with
// the file when t and its subtests have passed, unless -run chose some of the
// subtests.
func NewWords(t *testing.T, file string) *Words {
	w := &Words{t: t, lines: map[string]string{}}
	t.Cleanup(func() { w.compare(file) })
	return w
}

// Name makes words that look like any other, such as the names of operators, count as data.
func (w *Words) Name(names ...string) {
	if w != nil && w.names == nil {
		w.names = map[string]bool{}
	}
	for _, n := range names {
		if w != nil {
			w.names[n] = true
		}
	}
}

// Data notes a sentence and returns its data: the names and numbers in it, in
// brackets; empty if there are none. Words that are in known, such as the names
// of a subject, are left out.
func (w *Words) Data(reason, sentence string, known ...string) string {
	var data, shape []string
	for _, word := range strings.Fields(sentence) {
		bare := strings.TrimRight(strings.TrimLeft(word, "([{\""), ".,;:)}\"")
		if !isData(bare, len(shape) == 0) && (w == nil || !w.names[bare]) {
			shape = append(shape, word)
			continue
		}
		if n := len(shape); n == 0 || shape[n-1] != "" { // a list of any length is one word
			shape = append(shape, "")
		}
		if !slices.Contains(known, bare) {
			data = append(data, bare)
		}
	}
	if key := reason + ": " + strings.Join(shape, " "); w != nil && w.lines[key] == "" {
		w.lines[key] = reason + ": " + strings.Join(strings.Fields(sentence), " ")
	}
	if len(data) == 0 {
		return ""
	}
	return " [" + strings.Join(data, " ") + "]"
}

// isData reports whether a word names or counts something: it has a digit, a
// slash, an equals sign, an inner colon, or an upper-case letter that does not just
// begin the sentence.
func isData(word string, first bool) bool {
	for i, r := range word {
		if unicode.IsDigit(r) || strings.ContainsRune("/=:", r) || unicode.IsUpper(r) && !(first && i == 0) {
			return true
		}
	}
	return false
}

// Block notes the words of a block, and returns it without them: subject, reason,
// data, owner, and how long after start it began.
func (w *Words) Block(b fairlead.Block, start time.Time) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s", b.Subject, b.Reason)
	s.WriteString(w.Data(b.Reason, b.Message, append(strings.Fields(b.Subject), strings.Fields(b.Owner)...)...))
	w.Data(b.Reason, "to unblock: "+b.Unblock)
	if b.Owner != "" {
		s.WriteString(" owner " + b.Owner)
	}
	if !b.Since.IsZero() {
		fmt.Fprintf(&s, " since %v", b.Since.Sub(start))
	}
	return s.String()
}

// compare compares the words with the table, or writes it.
func (w *Words) compare(file string) {
	w.t.Helper()
	var lines []string
	for _, line := range w.lines {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if partial() || w.t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			w.t.Error(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Error(err)
		return
	}
	want := strings.ReplaceAll(string(text), "\r\n", "\n")
	if got != want {
		w.t.Errorf("%s: the words have changed\n%s\nrun with -update to accept, then read the diff", file, diff(want, got))
	}
}

// partial reports whether -run chose some of the subtests.
func partial() bool {
	f := flag.Lookup("test.run")
	return f != nil && strings.Contains(f.Value.String(), "/")
}
