package args

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The exit statuses of programs.
const (
	StatusFine     = 0 // all is well
	StatusFindings = 1 // there are findings, which were printed
	StatusBad      = 2 // the arguments are wrong, or something cannot be read
)

// Program is a program with commands, as in "fbc validate".
type Program struct {
	Name     string     // how it is called
	About    string     // what it is for, a sentence
	Notes    string     // what else users should know
	Commands []*Command // in the order in which help lists them
}

// Command is one command of a program.
type Command struct {
	Name  string            // the first word
	Usage string            // arguments and flags
	About string            // what it does
	Help  string            // what its arguments and flags mean, lines for -h; may be empty
	Run   func(*Call) error // nil: all is well
}

// Call is a command with its arguments.
type Call struct {
	Usage   string          // of the command
	Context context.Context // ends when the user wants it to
	Flags   *flag.FlagSet   // for the command to declare its flags on
	Args    []string        // what stands behind the command's name; after Parse, what is no flag
	Stdout  io.Writer       // for results
	Stderr  io.Writer       // for everything else
}

// ErrFindings says that there are findings, which have been printed.
var ErrFindings = errors.New("findings")

// UsageError is a command line that makes no sense.
type UsageError struct {
	Text string // what is wrong with it
}

// Error returns what is wrong.
func (e *UsageError) Error() string { return e.Text }

// Run executes a command line, without the program's name, and returns the
// exit status.
func (p *Program) Run(ctx context.Context, words []string, stdout, stderr io.Writer) int {
	if len(words) == 0 {
		p.help(stderr)
		return StatusBad
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, words[0]) {
		p.help(stdout)
		return StatusFine
	}
	i := slices.IndexFunc(p.Commands, func(c *Command) bool { return c.Name == words[0] })
	if i < 0 {
		fmt.Fprintf(stderr, "%s: there is no command %q (%[1]s help lists them)\n", p.Name, words[0])
		return StatusBad
	}
	cmd := p.Commands[i]
	c := &Call{Usage: cmd.Usage, Context: ctx, Args: words[1:], Stdout: stdout, Stderr: stderr, Flags: flag.NewFlagSet(cmd.Name, flag.ContinueOnError)}
	c.Flags.SetOutput(io.Discard)
	err := cmd.Run(c)
	var usage *UsageError
	switch {
	case err == nil:
		return StatusFine
	case errors.Is(err, ErrFindings):
		return StatusFindings
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "usage: %s %s %s\n\n%s\n", p.Name, cmd.Name, cmd.Usage, cmd.About)
		if cmd.Help != "" {
			fmt.Fprintf(stdout, "\n%s\n", strings.TrimSpace(cmd.Help))
		}
		return StatusFine
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s %s: %v\nusage: %[1]s %[2]s %[4]s\n", p.Name, cmd.Name, err, cmd.Usage)
	default:
		fmt.Fprintf(stderr, "%s %s: %v\n", p.Name, cmd.Name, err)
	}
	return StatusBad
}

func (p *Program) help(w io.Writer) {
	fmt.Fprintf(w, "%s\n", p.About)
	for _, c := range p.Commands {
		fmt.Fprintf(w, "\n  %s %s %s\n        %s\n", p.Name, c.Name, c.Usage, c.About)
	}
	fmt.Fprintf(w, "\n%s\n", p.Notes)
}

// Parse reads the flags, which may stand anywhere, and checks that there are
// least to most other arguments.
func (c *Call) Parse(least, most int) error {
	words, err := Parse(c.Flags, c.Args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &UsageError{err.Error()}
	}
	c.Args = words
	switch {
	case len(words) < least:
		if names := strings.Fields(c.Usage); len(words) < len(names) {
			return &UsageError{"the argument " + names[len(words)] + " is missing"}
		}
		return &UsageError{"an argument is missing"}
	case len(words) > most:
		return &UsageError{"the argument " + words[most] + " is one too many"}
	}
	return nil
}

// Arg returns an argument, "" if it was not given.
func (c *Call) Arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Choice declares a flag with a few values, of which the first is the default.
func (c *Call) Choice(name string, values ...string) *string {
	value := values[0]
	c.Flags.Func(name, "", func(s string) error {
		if !slices.Contains(values, s) {
			return fmt.Errorf("it is one of %s", strings.Join(values, ", "))
		}
		value = s
		return nil
	})
	return &value
}

// Words declares a flag that may be given several times.
func (c *Call) Words(name string) *[]string {
	var list []string
	c.Flags.Func(name, "", func(s string) error {
		list = append(list, s)
		return nil
	})
	return &list
}
