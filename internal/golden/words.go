package golden

import (
	"cmp"
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
	file  string
	lines map[string]string // by reason and shape
	names map[string]bool   // see Name
	said  map[string]string // the names of sentences, by shape; nil before the first, see Say
}

// NewWords returns the words of the engine that t tests. They are compared with
// the file when t and its subtests have passed, unless -run chose some of the
// subtests.
func NewWords(t *testing.T, file string) *Words {
	w := &Words{t: t, file: file, lines: map[string]string{}}
	t.Cleanup(func() { w.compare(file) })
	return w
}

// Say notes a sentence for which there is no reason, and returns a name for it, and its
// data. The table has the name, as a reason. A new sentence is named by its first words.
// To reword one, change its example in the table, and its name stays.
func (w *Words) Say(sentence string) string {
	if w == nil {
		return sentence
	}
	if w.said == nil {
		w.said = map[string]string{}
		text, _ := os.ReadFile(w.file) // there is none yet: compare says so
		for line := range strings.Lines(string(text)) {
			if name, example, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				shape, _ := w.split(example, nil)
				w.said[shape] = name
			}
		}
	}
	shape, data := w.split(sentence, nil)
	name := w.said[shape]
	if name == "" {
		name = w.slug(shape)
		w.said[shape] = name
	}
	w.note(name, shape, sentence)
	return strings.TrimSuffix(name+" ["+strings.Join(data, " ")+"]", " []")
}

// Tree says each line of a text, and keeps how it is indented.
func (w *Words) Tree(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		said := strings.TrimLeft(line, " \t│├└─")
		out.WriteString(strings.TrimSuffix(line, said))
		if rest := strings.TrimRight(said, "\n"); rest != "" {
			out.WriteString(w.Say(rest))
		}
		out.WriteString(strings.Repeat("\n", strings.Count(said, "\n")))
	}
	return out.String()
}

// slug names a shape by its first words, as none is named yet.
func (w *Words) slug(shape string) string {
	taken := func(name string) bool {
		for _, is := range w.said {
			if is == name {
				return true
			}
		}
		return false
	}
	var words []string
	for _, word := range strings.FieldsFunc(shape, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if words = append(words, strings.ToLower(word)); len(words) >= 4 && !taken(strings.Join(words, "-")) {
			break
		}
	}
	first := cmp.Or(strings.Join(words, "-"), "data")
	name := first
	for n := 2; taken(name); n++ {
		name = fmt.Sprint(first, "-", n)
	}
	return name
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
	shape, data := w.split(sentence, known)
	w.note(reason, shape, sentence)
	if len(data) == 0 {
		return ""
	}
	return " [" + strings.Join(data, " ") + "]"
}

// note notes the first example of a way in which a reason is worded.
func (w *Words) note(reason, shape, sentence string) {
	if key := reason + ": " + shape; w != nil && w.lines[key] == "" {
		w.lines[key] = reason + ": " + strings.Join(strings.Fields(sentence), " ")
	}
}

// split splits a sentence into its words and its data, without those that are known.
func (w *Words) split(sentence string, known []string) (string, []string) {
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
	return strings.Join(shape, " "), data
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

// Finding notes the words of a finding, and returns it without them: position, code,
// subject, and data.
func (w *Words) Finding(d *fairlead.Diagnostic) string {
	if w == nil {
		return string(d.Code) + " " + d.Error()
	}
	known := strings.Fields(strings.NewReplacer("\"", "", ",", "").Replace(d.Subject))
	message := d.Message
	if d.Also != (fairlead.Position{}) {
		message += ", at " + d.Also.String()
	}
	s := strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", d.Pos, d.Code, d.Subject), ": ") + w.Data(string(d.Code), message, known...)
	if d.Hint != "" {
		s += w.Data(string(d.Code), "to do: "+d.Hint, known...)
	}
	return s
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
