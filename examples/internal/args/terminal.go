package args

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/words"
)

// Terminal is a writer that reports whether it is a terminal, and how wide. A file does not
// need these methods: a character device counts as a terminal, and the system knows its width.
type Terminal interface {
	io.Writer
	IsTerminal() bool // whether it is a terminal
	Columns() int     // its width; 0: unknown
}

// isTerminal reports whether a writer is a terminal.
func isTerminal(w io.Writer) bool {
	switch w := w.(type) {
	case Terminal:
		return w.IsTerminal()
	case *os.File:
		info, err := w.Stat()
		return err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return false
}

// width returns the columns of a terminal; 0 if w is none, or its width is unknown.
func width(w io.Writer) int {
	switch w := w.(type) {
	case Terminal:
		return w.Columns()
	case *os.File:
		if isTerminal(w) {
			return columns(w)
		}
	}
	return 0
}

// The sequence that moves the cursor to the beginning of its line and clears the line.
const erase = "\r\x1b[K"

// patience is how long a call may take before a terminal shows what it is doing.
const patience = time.Second

// progress is the last line of a terminal, which shows what a call is doing.
type progress struct {
	mu    sync.Mutex
	to    io.Writer
	doing string // "" while there is nothing to show
	shown bool
	begun bool          // the line is drawn each second, by a goroutine
	since time.Time     // of that
	stop  chan struct{} // ends that
	done  chan struct{} // it has ended
}

// Doing sets what the call is doing now. After more than a second, a line on standard
// error shows it, with the seconds since the first call of Doing, until there is
// something to print. It does so only on a terminal.
func (c *Call) Doing(what string) {
	p := c.progress
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = what
	if !p.begun {
		p.begun, p.since = true, time.Now()
		go p.watch()
	}
}

// watch draws the line each second.
func (p *progress) watch() {
	defer close(p.done)
	ticker := time.NewTicker(patience)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.draw()
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return
	}
	// The answer does not depend on the progress line, so errors are ignored.
	_, _ = io.WriteString(p.to, erase+plain(p.doing)+" ("+time.Since(p.since).Truncate(time.Second).String()+")")
	p.shown = true
}

// plain returns text that fits a line and does not control the terminal.
func plain(text string) string { return words.Shorten(words.VisibleLine(text), 60) }

// clear erases the line and hides it until Doing is called again. The caller holds the
// lock.
func (p *progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.to, erase)
	}
	p.doing, p.shown = "", false
}

// end erases the line for good.
func (p *progress) end() {
	p.mu.Lock()
	p.clear()
	begun := p.begun
	p.mu.Unlock()
	if begun {
		close(p.stop)
		<-p.done
	}
}

// beside writes output that may appear where the line is: the reader of a pipe may show
// it on the same terminal.
type beside struct {
	line *progress
	to   io.Writer
}

// Write erases the line first.
func (b beside) Write(text []byte) (int, error) {
	b.line.mu.Lock()
	defer b.line.mu.Unlock()
	b.line.clear()
	return b.to.Write(text)
}

// IsTerminal implements Terminal.
func (b beside) IsTerminal() bool { return isTerminal(b.to) }

// Columns implements Terminal.
func (b beside) Columns() int { return width(b.to) }

// watched makes a call show what it is doing if standard error is a terminal. The line
// is erased when end returns.
func (c *Call) watched() (end func()) {
	out, errs := c.Stdout.(*boundary), c.Stderr.(*boundary)
	if !isTerminal(errs) {
		return func() {}
	}
	c.progress = &progress{to: errs.to, stop: make(chan struct{}), done: make(chan struct{})}
	out.to, errs.to = beside{c.progress, out.to}, beside{c.progress, errs.to}
	return c.progress.end
}

// Colour is the colour of a part of a line on a terminal.
type Colour string

// The colours, by meaning.
const (
	Good    Colour = "\x1b[32m" // green
	Warning Colour = "\x1b[33m" // yellow
	Bad     Colour = "\x1b[31m" // red
)

// Painted returns standard output, on which the part of each line that from and to bound is
// coloured from now on as paint returns; "" leaves it unchanged. Nothing is coloured if that is
// not a terminal, or if the environment has NO_COLOR.
func (c *Call) Painted(paint func(line []byte) (from, to int, colour Colour)) io.Writer {
	if b, ok := c.Stdout.(*boundary); ok && isTerminal(b) && c.settings != nil && c.settings.Getenv != nil && c.settings.Getenv("NO_COLOR") == "" && c.settings.Getenv("TERM") != "dumb" {
		b.paint = func(line []byte) (int, int, Colour) {
			if from, to, colour := paint(line); colour != "" {
				return from, to, colour
			}
			return Verdicts(line)
		}
	}
	return c.Stdout
}

// unpainted leaves a line to Verdicts.
func unpainted([]byte) (from, to int, colour Colour) { return 0, 0, "" }

// counted matches what a line counts that does not go on.
var counted = regexp.MustCompile(`\b[1-9][0-9,]* (?:pods?|nodes?|machines?|drains?) (?:is |are )?(?:stuck|blocked)\b`)

// Verdicts paints what a line of any verb says of what is wrong, or not known.
func Verdicts(line []byte) (from, to int, colour Colour) {
	if from, to, colour = leading(line); colour != "" {
		return from, to, colour
	}
	if at := counted.FindIndex(line); at != nil {
		return at[0], at[1], Bad
	}
	return 0, 0, ""
}

// leading are the words with which all verbs begin what is wrong, or not known.
var leading = Leading(map[string]Colour{
	"Cause:": Bad, "and:": Bad, "no solution": Bad, "blocked:": Bad, "error:": Bad, "NOT KNOWN": Warning, "not known:": Warning, "warning:": Warning,
})

// Leading paints the text that a line begins with, after spaces, if it is one of these
// texts; the longest one if several match.
func Leading(colours map[string]Colour) func(line []byte) (from, to int, colour Colour) {
	return func(line []byte) (from, to int, colour Colour) {
		from = len(line) - len(bytes.TrimLeft(line, " "))
		to = from
		for text, own := range colours {
			if end := from + len(text); end > to && bytes.HasPrefix(line[from:], []byte(text)) {
				to, colour = end, own
			}
		}
		return from, to, colour
	}
}
