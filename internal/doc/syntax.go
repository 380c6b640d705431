package doc

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// syntax gives an error of the parser its position: the line from which on the
// text cannot be read, which is where a person would look. The parser reports
// where it noticed the fault, or where the construct that it was reading began.
func (w *yamlWriter) syntax(raw []byte, err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	noticed := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		noticed, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	if strings.HasPrefix(text, "exceeded max depth") {
		return limitError(relative(w.start, noticed, 1), DepthLimit, w.limits.Depth)
	}
	lines := bytes.SplitAfter(raw, newline)
	line := firstBad(lines, noticed, text)
	column := 1
	if line <= len(lines) {
		l := lines[line-1]
		column += utf8.RuneCount(l) - utf8.RuneCount(bytes.TrimLeft(l, " \t"))
	}
	where := "at this line: "
	if noticed > line {
		where = "from this line on, as line " + strconv.Itoa(w.start.Line+noticed-1) + " shows: "
	}
	return &Error{
		Pos: relative(w.start, line, column), Kind: Syntax,
		Message: "the YAML text is malformed " + where + text,
		Hint:    "check indentation, colons and quotes",
	}
}

// Limits of firstBad: attempts, lines ahead, and bytes parsed.
const (
	maxTries = 200
	maxAhead = 10
	maxTried = 8 << 20
)

// firstBad returns the number of the first line after the longest prefix that
// can be read: an open quote or bracket makes everything after it unreadable,
// and so does a wrong indentation. The parser noticed the fault on a line near
// to it.
func firstBad(lines [][]byte, noticed int, text string) int {
	at := min(noticed+1, len(lines))
	size := 0
	for _, l := range lines[:at] {
		size += len(l)
	}
	spent := 0
	for tries := 0; at > 0 && tries < maxTries && spent < maxTried; tries++ {
		spent += size
		if readable(bytes.Join(lines[:at], nil)) {
			break
		}
		at--
		size -= len(lines[at])
	}
	if at == 0 || spent >= maxTried {
		at = max(min(noticed, len(lines))-1, 0)
		if spent < maxTried {
			at = 0
		}
	}
	// The parser may have reported where a construct began that continues
	// further.
	for ahead := at + 1; ahead <= min(at+maxAhead, len(lines)) && spent < maxTried; ahead++ {
		spent += size
		if readable(bytes.Join(lines[:ahead], nil)) {
			at = ahead
		}
	}
	// A word without a colon is read as text until the next line has one.
	if strings.HasPrefix(text, "mapping values are not allowed") {
		if before := lastLine(lines[:at]); before >= 0 && !bytes.Contains(lines[before], []byte(":")) {
			return before + 1
		}
	}
	for at < len(lines)-1 && blankLine(lines[at]) {
		at++
	}
	return at + 1
}

// readable reports whether text is empty, or is an object so far.
func readable(text []byte) bool {
	var node yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&node); err != nil {
		return err.Error() == "EOF"
	}
	return len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode
}

func blankLine(l []byte) bool {
	l = bytes.TrimSpace(l)
	return len(l) == 0 || l[0] == '#'
}

// lastLine returns the index of the last line that is not blank, or -1.
func lastLine(lines [][]byte) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if !blankLine(lines[i]) {
			return i
		}
	}
	return -1
}
