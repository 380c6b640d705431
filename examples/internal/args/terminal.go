package args

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/fairlead/fairlead/internal/words"
)

// Terminal is a writer that knows whether somebody looks at it. A file is one
// without this method: a character device counts as a terminal.
type Terminal interface {
	io.Writer
	IsTerminal() bool // whether it is a terminal
}

// isTerminal reports whether somebody looks at what is written.
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

// What moves the cursor to the begin of its line and clears that.
const erase = "\r\x1b[K"

// patience is how long something may take before a terminal says what is done.
const patience = time.Second

// progress is the last line of a terminal, which says what a call is doing.
type progress struct {
	mu    sync.Mutex
	to    io.Writer
	doing string // "" while nothing is to be said
	shown bool
	begun bool          // the line is drawn each second, by a goroutine
	since time.Time     // of that
	stop  chan struct{} // ends that
	done  chan struct{} // it has ended
}

// Doing says what the call is doing now. Once it has taken more than a second, a line
// of standard error says so, with the seconds since the first call of Doing, until
// there is something to print; only on a terminal.
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
	// What cannot be shown is not needed for the answer.
	_, _ = io.WriteString(p.to, erase+plain(p.doing)+" ("+time.Since(p.since).Truncate(time.Second).String()+")")
	p.shown = true
}

// plain is text that fits a line and does nothing to a terminal.
func plain(text string) string {
	return words.Shorten(words.Visible(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)), 60)
}

// clear erases the line, and keeps it away until something else is done. The lock
// is held.
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

// beside writes what may appear where the line is: what reads a pipe may show it on
// the same terminal.
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

// watched makes a call say what it is doing, if somebody looks. The line is gone
// when end returns.
func (c *Call) watched() (end func()) {
	if !isTerminal(c.Stderr) {
		return func() {}
	}
	c.progress = &progress{to: c.Stderr, stop: make(chan struct{}), done: make(chan struct{})}
	c.Stdout, c.Stderr = beside{c.progress, c.Stdout}, beside{c.progress, c.Stderr}
	return c.progress.end
}

// Colour is how a part of a line looks on a terminal.
type Colour string

// The colours, by what they say.
const (
	Good    Colour = "\x1b[32m" // green
	Warning Colour = "\x1b[33m" // yellow
	Bad     Colour = "\x1b[31m" // red
)

// Painted returns standard output, on which the part of each line that from and to
// bound is coloured as paint says; "" leaves it as it is. It is standard output
// itself where that is not a terminal, or where the environment has NO_COLOR.
// Each write has to hold whole lines.
func (c *Call) Painted(paint func(line []byte) (from, to int, colour Colour)) io.Writer {
	if !isTerminal(c.Stdout) || c.settings == nil || c.settings.Getenv == nil || c.settings.Getenv("NO_COLOR") != "" || c.settings.Getenv("TERM") == "dumb" {
		return c.Stdout
	}
	return painter{c.Stdout, paint}
}

// Leading paints lines that begin, behind spaces, with one of these texts: that text,
// and of several the longest.
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

type painter struct {
	out   io.Writer
	paint func([]byte) (from, to int, colour Colour)
}

// Write paints each line.
func (p painter) Write(text []byte) (int, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		from, to, colour := p.paint(bytes.TrimSuffix(line, []byte("\n")))
		if colour != "" {
			line = slices.Concat(line[:from], []byte(colour), line[from:to], []byte("\x1b[0m"), line[to:])
		}
		b.Write(line)
	}
	if _, err := p.out.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}
