package snapshot

import (
	"bufio"
	"bytes"
	"regexp"
)

// between leaves out what is not a document and yet in the files of people: what kubectl and oc say
// on the way, prompts of a shell, marks of a text around a quotation, and the logs in the output of
// kubectl cluster-info dump. Lines keep their numbers.
type between struct {
	src  *bufio.Reader
	said func(text string, line int) // hears what kubectl and oc say
	line int                         // its number
	in   bool                        // in a log
	part bool                        // in the middle of a line
	left []byte                      // of a line
}

var (
	logStart = []byte("==== START logs for container ")
	logEnd   = []byte("==== END logs for container ")
	fence    = []byte("```")

	// saying finds the lines that kubectl, oc, shells, script and curl -i write beside objects. None is indented.
	saying = regexp.MustCompile(`^(?:Script (?:started|done) on |HTTP/[\d.]+ \d{3}\b|(?i:audit-id|cache-control|content-length|content-type|x-kubernetes-[\w-]+): |(?i:date): [A-Z][a-z]{2}, |Warning: |[IWEF]\d{4} \d\d:|[Ee]rror: |Error from server|Unable to connect|The connection to the server |` +
		`No resources found|Defaulted container |Already on project |(?:Now using|Using) project |Flag --|[$%>] |` +
		`PS [A-Za-z]:\\|[A-Za-z]:\\[^>]*>|\[?[\w.~-]+@[\w.~-]+[^$#%]*[$#%]|(?:sudo )?(?:kubectl|oc) [a-z])`)
	// joined finds what a command left without a line feed before the output of the next.
	joined = regexp.MustCompile(`^[^\s{}"'\[\]#:=-][^{}":]*(?:\{|[^\s{}":-](apiVersion: [\w./]+))\r?\n$`)
)

// Read implements io.Reader.
func (b *between) Read(to []byte) (int, error) {
	for len(b.left) == 0 {
		line, err := b.src.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		begins := !b.part
		if begins {
			b.line++
		}
		b.part = line[len(line)-1] != '\n'
		b.left = b.filtered(line, begins)
	}
	n := copy(to, b.left)
	b.left = b.left[n:]
	return n, nil
}

// filtered returns what is left of a line.
func (b *between) filtered(line []byte, begins bool) []byte {
	switch {
	case b.in:
		b.in = !begins || !bytes.HasPrefix(line, logEnd)
		return newline(line)
	case !begins:
		return line
	}
	switch line[0] {
	case ' ', '{', '}', '"', ']', '\t', '-', '\n': // most lines of objects
		return line
	case '=':
		if b.in = bytes.HasPrefix(line, logStart); b.in {
			return newline(line)
		}
	case '`':
		if bytes.HasPrefix(line, fence) {
			return append([]byte("---"), newline(line)...)
		}
	}
	if len(line) > 4096 {
		return line
	}
	if saying.Match(line) {
		b.said(string(bytes.TrimSpace(line)), b.line)
		return newline(line)
	}
	if at := joined.FindSubmatchIndex(line); at != nil {
		if at[2] > 0 {
			return line[at[2]:]
		}
		line = bytes.Clone(line)
		for i := range line[:bytes.IndexByte(line, '{')] {
			line[i] = ' '
		}
	}
	return line
}

// newline returns the end of a line, so that lines keep their numbers.
func newline(line []byte) []byte {
	if len(line) > 0 && line[len(line)-1] == '\n' {
		return line[len(line)-1:]
	}
	return nil
}
