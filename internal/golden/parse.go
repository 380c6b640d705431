package golden

import (
	"fmt"
	"strings"
)

// block is a run of comments and blank lines (lead) and the command after it.
// The last block of a file may have no command.
type block struct {
	lead    string
	line    string // the command line as written
	command *Command
	want    string
}

// parse splits a script. Positions in errors are file:line.
func parse(file, text string) ([]block, error) {
	s := scanner{file: file, lines: strings.SplitAfter(text, "\n")}
	var blocks []block
	for {
		b, err := s.block()
		if err != nil {
			return nil, err
		}
		if b.command != nil || b.lead != "" {
			blocks = append(blocks, b)
		}
		if b.command == nil {
			return blocks, nil
		}
	}
}

type scanner struct {
	file  string
	lines []string
	next  int // index of the line to read
}

func (s *scanner) line() (string, bool) {
	if s.next >= len(s.lines) || s.lines[s.next] == "" {
		return "", false
	}
	s.next++
	return strings.TrimSuffix(s.lines[s.next-1], "\n"), true
}

func (s *scanner) peek(ahead int) string {
	if s.next+ahead >= len(s.lines) {
		return ""
	}
	return strings.TrimSuffix(s.lines[s.next+ahead], "\n")
}

func (s *scanner) block() (block, error) {
	var b block
	for {
		line, ok := s.line()
		if !ok {
			return b, nil
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			b.line = line
			break
		}
		b.lead += line + "\n"
	}
	pos := fmt.Sprintf("%s:%d", s.file, s.next)
	c, err := parseCommand(b.line)
	if err != nil {
		return b, fmt.Errorf("%s: %w", pos, err)
	}
	c.Pos = pos
	for {
		line, ok := s.line()
		if !ok {
			return b, fmt.Errorf("%s: command %q has no %q line: put one after its input", pos, c.Name, separator)
		}
		if line == separator {
			break
		}
		c.Input += line + "\n"
	}
	b.command = c
	b.want, err = s.expected(pos)
	return b, err
}

// expected reads the output part: to the next blank line, or between doubled
// separators.
func (s *scanner) expected(pos string) (string, error) {
	doubled := s.peek(0) == separator
	if doubled {
		s.next++
	}
	var want strings.Builder
	for {
		if doubled && s.peek(0) == separator && s.peek(1) == separator {
			s.next += 2
			return want.String(), nil
		}
		if !doubled && s.peek(0) == "" {
			return want.String(), nil
		}
		line, ok := s.line()
		if !ok {
			return "", fmt.Errorf("%s: output that begins with two %q lines must end with two", pos, separator)
		}
		want.WriteString(line + "\n")
	}
}

// parseCommand splits a command line at spaces outside parentheses.
func parseCommand(line string) (*Command, error) {
	var words []string
	depth, start := 0, -1
	for i, r := range line + " " {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
		space := r == ' ' && depth <= 0
		if !space && start < 0 {
			start = i
		}
		if space && start >= 0 {
			words = append(words, line[start:i])
			start = -1
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("unbalanced parentheses in %q", line)
	}
	c := &Command{Name: words[0]}
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		a := Arg{Key: key}
		switch {
		case !found:
		case strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")"):
			for v := range strings.SplitSeq(value[1:len(value)-1], ",") {
				a.Values = append(a.Values, strings.TrimSpace(v))
			}
		default:
			a.Values = []string{value}
		}
		c.Args = append(c.Args, a)
	}
	return c, nil
}
