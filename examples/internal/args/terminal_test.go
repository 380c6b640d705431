package args_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
)

// screen is a terminal or a plain file.
type screen struct {
	bytes.Buffer
	terminal bool
}

func (s *screen) IsTerminal() bool { return s.terminal }
func (s *screen) Columns() int     { return 72 }

// worker is a program that takes its time.
func worker(env map[string]string) args.Program {
	return (&args.Command{
		Name: "worker", Settings: &args.Settings{Getenv: func(name string) string { return env[name] }},
		Run: func(c *args.Call) error {
			if err := c.Parse(0, 0); err != nil {
				return err
			}
			c.Doing("waking")
			time.Sleep(500 * time.Millisecond)
			c.Doing("reading a\x1b[2Jb")
			time.Sleep(2200 * time.Millisecond)
			out := c.Painted(func(line []byte) (int, int, args.Colour) {
				if bytes.HasPrefix(line, []byte("bad: ")) {
					return 0, 3, args.Bad
				}
				return 0, 0, ""
			})
			if _, err := io.WriteString(out, "one\nbad: two\n"); err != nil {
				return err
			}
			time.Sleep(5 * time.Second) // nothing is said while the result is there
			c.Doing("cleaning up")
			time.Sleep(1500 * time.Millisecond)
			return nil
		},
	}).Program("worker")
}

// work runs the worker; its output to a terminal is in order.
func work(t *testing.T, env map[string]string, stdout, stderr bool) (out, errs string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o, e := &screen{terminal: stdout}, &screen{terminal: stderr}
		if status := worker(env)(context.Background(), nil, strings.NewReader(""), o, e); status != 0 {
			t.Errorf("exit status %d: %s", status, e)
		}
		out, errs = o.String(), e.String()
	})
	return out, errs
}

// Prose is as wide as a terminal, and of a fixed width elsewhere; COLUMNS wins on a terminal.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		columns  string
		widest   int
	}{{true, "", 72}, {true, "90", 90}, {true, "0", 72}, {true, "wide", 72}, {true, "10", 60}, {true, "9999", 200}, {false, "90", 100}} {
		out := &screen{terminal: c.terminal}
		status := (&args.Command{
			Name: "fold", Settings: &args.Settings{Getenv: func(name string) string { return map[string]string{"COLUMNS": c.columns}[name] }},
			Run: func(call *args.Call) error {
				page.Fold(call.Stdout, "note: ", strings.Repeat("x ", 300))
				return nil
			},
		}).Program("fold")(context.Background(), nil, strings.NewReader(""), out, io.Discard)
		line, _, _ := strings.Cut(out.String(), "\n")
		if got := len(line); status != 0 || got > c.widest || got < c.widest-1 {
			t.Errorf("terminal %t, COLUMNS=%q: status %d, %d columns, want %d", c.terminal, c.columns, status, got, c.widest)
		}
	}
}

// A call that takes more than a second is shown on a terminal, and erased; not in a pipe.
func TestProgress(t *testing.T) {
	const erase = "\r\x1b[K"
	said := erase + "reading a⟨U+001B⟩[2Jb (1s)" + erase + "reading a⟨U+001B⟩[2Jb (2s)"
	last := erase + "cleaning up (8s)" + erase + "cleaning up (9s)"
	for _, c := range []struct {
		stdout, stderr bool
		errs           string
	}{
		{false, false, ""},
		{true, false, ""},
		{true, true, said + erase + last + erase},
		{false, true, said + erase + last + erase},
	} {
		out, errs := work(t, map[string]string{"NO_COLOR": "1"}, c.stdout, c.stderr)
		if out != "one\nbad: two\n" || errs != c.errs {
			t.Errorf("standard output a terminal: %t, standard error: %t\n%q\n%q, want\n%q", c.stdout, c.stderr, out, errs, c.errs)
		}
	}
}

// Colour is used only on terminals, and only if it is not disabled.
func TestColour(t *testing.T) {
	plain, painted := "one\nbad: two\n", "one\n\x1b[31mbad\x1b[0m: two\n"
	for _, c := range []struct {
		env      string
		terminal bool
		want     string
	}{
		{"", true, painted},
		{"", false, plain},
		{"NO_COLOR=1", true, plain},
		{"NO_COLOR=", true, painted}, // as if it were not there, says no-color.org
		{"TERM=dumb", true, plain},
		{"TERM=xterm", true, painted},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		if out, _ := work(t, map[string]string{name: value}, c.terminal, false); out != c.want {
			t.Errorf("%s on a terminal %t: %q, want %q", c.env, c.terminal, out, c.want)
		}
	}
}

// What is wrong is coloured in the output of every verb.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		line, part string
		colour     args.Colour
	}{
		{"Cause: node a does not report", "Cause:", args.Bad},
		{"  and: another", "and:", args.Bad},
		{"drain of 1 node: 1 pod evicted in 1 round; 3 pods stuck", "3 pods stuck", args.Bad},
		{"drain of 1 node: 1 pod evicted in 1 round; 0 pods stuck", "", ""},
		{"not known: the pods", "not known:", args.Warning},
		{"nodes: 5, pods: 10; no findings", "", ""},
	} {
		if from, to, colour := args.Verdicts([]byte(c.line)); c.line[from:to] != c.part || colour != c.colour {
			t.Errorf("%s: %q is %q, want %q to be %q", c.line, c.line[from:to], colour, c.part, c.colour)
		}
	}
}

func TestLeading(t *testing.T) {
	paint := args.Leading(map[string]args.Colour{"State: ": args.Warning, "State: Broken": args.Bad, "ok": args.Good})
	for _, c := range []struct {
		line, part string
		colour     args.Colour
	}{
		{"State: Broken, since noon", "State: Broken", args.Bad},
		{"State: Slow", "State: ", args.Warning},
		{"   ok: all", "ok", args.Good},
		{"all is ok", "", ""},
		{"", "", ""},
	} {
		from, to, colour := paint([]byte(c.line))
		if part := c.line[from:to]; colour != c.colour || part != c.part {
			t.Errorf("%q: %q in %q, want %q in %q", c.line, part, colour, c.part, c.colour)
		}
	}
}
