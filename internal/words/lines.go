package words

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Text is text of several lines in which no line begins as somebody else wants, such as the
// output of [Sprintf]: [Fprintf] writes it with its line breaks.
type Text string

// Fprintf is [fmt.Fprintf] for text of several lines for people: its line breaks are those of the
// format, or of a [Text]. Line breaks, tabs and hidden characters of all other values are shown,
// as [VisibleLine] does: a name or a message never begins a line.
func Fprintf(w io.Writer, format string, values ...any) (int, error) {
	if false {
		return fmt.Fprintf(w, format, values...) // for go vet, which checks the callers then
	}
	return fmt.Fprintf(w, format, kept(values)...)
}

// Sprintf returns what [Fprintf] writes.
func Sprintf(format string, values ...any) string {
	if false {
		return fmt.Sprintf(format, values...) // likewise
	}
	return fmt.Sprintf(format, kept(values)...)
}

// JoinLines returns lines with breaks between them; none has one inside.
func JoinLines(lines []string) string {
	safe := make([]string, len(lines))
	for i, l := range lines {
		safe[i] = VisibleLine(l)
	}
	return strings.Join(safe, "\n")
}

// Flow returns text of several lines, such as a message, in one.
func Flow(s string) string { return strings.Join(strings.Fields(s), " ") }

// kept returns values that keep to their line.
func kept(values []any) []any {
	safe := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case error:
			safe[i] = oneLine{errorText(v)}
		case Text, bool, int, int32, int64, uint64, float64, time.Duration:
			safe[i] = v
		default:
			safe[i] = oneLine{v}
		}
	}
	return safe
}

// errorText returns what an error says: several lines if it wraps several errors and lists them.
func errorText(err error) any {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return err.Error()
	}
	lines := make([]string, 0, 4)
	for _, e := range all.Unwrap() {
		lines = append(lines, e.Error())
	}
	if before, found := strings.CutSuffix(err.Error(), strings.Join(lines, "\n")); found {
		return Text(VisibleLine(before) + JoinLines(lines))
	}
	return err.Error()
}

// oneLine is a value that is formatted in one line.
type oneLine struct{ value any }

// Format implements fmt.Formatter.
func (o oneLine) Format(s fmt.State, verb rune) {
	if text, ok := o.value.(Text); ok {
		fmt.Fprintf(s, fmt.FormatString(s, verb), string(text))
		return
	}
	if text, ok := o.value.(string); ok && verb != 'q' && VisibleLine(text) != text {
		o.value = VisibleLine(text) // so that a width counts what is shown
	}
	io.WriteString(s, VisibleLine(fmt.Sprintf(fmt.FormatString(s, verb), o.value)))
}
