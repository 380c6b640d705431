package args

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// The exit statuses of programs.
const (
	StatusFine     = 0 // all is well
	StatusFindings = 1 // there are findings, which were printed
	StatusBad      = 2 // the arguments are wrong, or something cannot be read
)

// Command is a program, a verb of one, or a verb of a verb. It has commands of
// its own, or does something.
type Command struct {
	Name     string            // the word that calls it
	Usage    string            // arguments and flags
	About    string            // what it does
	Help     string            // what its arguments and flags mean, lines for -h; may be empty
	Examples string            // lines to copy, for -h; may be empty
	Commands []*Command        // in the order in which help lists them
	Run      func(*Call) error // nil: all is well; not called where there are commands
	// Complete returns what may stand as the next argument, for the completion of
	// shells, where that is no file. It may be nil.
	Complete func(*Call) []string
	// Configured are the flags that the Settings of the program give, too.
	Configured []string
	// Settings are those of the program, for it and all commands below; nil for none.
	Settings *Settings
}

// Call is a command with its arguments.
type Call struct {
	Name    string          // the words that called the command, as in "fairlead catalog list"
	Usage   string          // of the command
	Context context.Context // ends when the user wants it to
	Flags   *flag.FlagSet   // for the command to declare its flags on
	Args    []string        // what stands behind the command's name; after Parse, what is not a flag
	Stdin   io.Reader       // what is read when an argument is "-"
	Stdout  io.Writer       // for results
	Stderr  io.Writer       // for everything else

	choices    map[string][]string // the values of flags that have few
	settings   *Settings           // of the program; nil for none
	configured []string            // the flags that they give
	given      map[string]bool     // the flags that the command line gives
	progress   *progress           // what is said on a terminal; nil where nobody looks
	declare    bool                // Parse is to end the call: only the flags are asked for
	json       *bytes.Buffer       // what is printed as JSON and becomes YAML; nil where nothing does
	out        io.Writer           // where that goes
	warned     atomic.Bool         // Warn was called
}

// Warn prints a warning, which is a finding: the command ends with StatusFindings
// where nothing worse comes of it. It may be called from several goroutines.
func (c *Call) Warn(format string, values ...any) {
	c.warned.Store(true)
	fmt.Fprintf(c.Stderr, "warning: "+format+"\n", values...)
}

// Unused notes which values of a flag name nothing that there is, and what they may mean. That
// is not a finding: what a script names may be gone.
func (c *Call) Unused(flag string, values, there []string) {
	for _, v := range values {
		if slices.Contains(there, v) {
			continue
		}
		text := fmt.Sprintf("-%s %s: there is nothing of that name here", flag, v)
		if nearest := words.Nearest(v, there); nearest != "" {
			text += "; did you mean " + nearest + "?"
		}
		fmt.Fprintln(c.Stderr, "note: "+text)
	}
}

// ErrFindings says that there are findings, which have been printed.
var ErrFindings = errors.New("findings")

// UsageError is a command line that makes no sense.
type UsageError struct {
	Text string // what is wrong with it
}

// Error returns what is wrong.
func (e *UsageError) Error() string { return e.Text }

// Program is a program but for the process around it: it gets the words of the
// command line without its own name, and returns the exit status.
type Program func(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int

// Program makes a command a program, which is called by a name that may have
// several words, such as "fairlead catalog".
func (c *Command) Program(name string) Program {
	return func(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return c.run(&Call{Name: name, Context: ctx, Args: words, Stdin: stdin, Stdout: stdout, Stderr: stderr})
	}
}

// asksForHelp are the words that do.
var asksForHelp = []string{"help", "-h", "-help", "--help"}

// run executes a call of the command and returns the exit status.
func (c *Command) run(call *Call) int {
	call.Usage, call.configured = c.Usage, c.Configured
	if c.Settings != nil {
		call.settings = c.Settings
	}
	if len(c.Commands) > 0 {
		return c.dispatch(call)
	}
	call.Flags = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	call.Flags.SetOutput(io.Discard)
	end := call.watched()
	err := c.Run(call)
	if call.json != nil && (err == nil || errors.Is(err, ErrFindings)) {
		if failed := call.yaml(); failed != nil {
			err = failed
		}
	}
	end()
	var usage *UsageError
	switch {
	case err == nil && !call.warned.Load():
		return StatusFine
	case err == nil, errors.Is(err, ErrFindings):
		return StatusFindings
	case errors.Is(err, flag.ErrHelp):
		c.help(call.Stdout, call.Name)
		return StatusFine
	case errors.As(err, &usage):
		fmt.Fprintf(call.Stderr, "%s: %v; see %[1]s -h\n", call.Name, err)
	default:
		fmt.Fprintf(call.Stderr, "%s: %v%s\n", call.Name, err, pathHint(err))
	}
	return StatusBad
}

// pathHint says what to do about a path that cannot be read, or "".
func pathHint(err error) string {
	var path *fs.PathError
	switch {
	case !errors.As(err, &path) || !strings.HasSuffix(err.Error(), path.Error()): // whoever wraps it says more
		return ""
	case errors.Is(err, syscall.EISDIR):
		return "; name a file in it"
	case !errors.Is(err, fs.ErrNotExist):
		return ""
	}
	var names []string
	dir, name := filepath.Split(path.Path)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // an unreadable directory has no names to offer
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if nearest := words.Nearest(name, names); nearest != "" {
		return "; did you mean " + dir + nearest + "?"
	}
	return "; check the path, and the directory that it is relative to"
}

// dispatch hands a call to the command that its first word names.
func (c *Command) dispatch(call *Call) int {
	if len(call.Args) == 0 {
		c.help(call.Stderr, call.Name)
		return StatusBad
	}
	first, rest := call.Args[0], call.Args[1:]
	if slices.Contains(asksForHelp, first) {
		if len(rest) == 0 || first != "help" {
			c.help(call.Stdout, call.Name)
			return StatusFine
		}
		first, rest = rest[0], append(slices.Clip(rest[1:]), "-h")
	}
	next := c.command(first)
	if next == nil {
		text := ""
		if best := closest(first, c.Commands); best != "" {
			text = fmt.Sprintf("; did you mean %s?", best)
		}
		fmt.Fprintf(call.Stderr, "%s: unknown command %q%s (%[1]s help lists them)\n", call.Name, first, text)
		return StatusBad
	}
	call.Name += " " + first
	call.Args = rest
	return next.run(call)
}

// command returns the command of that name, or nil.
func (c *Command) command(name string) *Command {
	i := slices.IndexFunc(c.Commands, func(c *Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return c.Commands[i]
}

// closest returns the command whose name differs from a word by one letter or
// two, or "".
func closest(word string, commands []*Command) string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.Name
	}
	return words.Nearest(word, names)
}

// help tells how a command is called.
func (c *Command) help(w io.Writer, name string) {
	if len(c.Commands) == 0 {
		fmt.Fprintf(w, "usage: %s %s\n\n%s\n", name, c.Usage, c.About)
	} else {
		fmt.Fprintf(w, "%s: %s\n", name, c.About)
		width := 0
		for _, sub := range c.Commands {
			width = max(width, len(sub.Name))
		}
		fmt.Fprintln(w)
		for _, sub := range c.Commands {
			page.Fold(w, fmt.Sprintf("  %-*s  ", width, sub.Name), sub.About)
		}
		fmt.Fprintf(w, "\nRun %s help COMMAND for details.\n", name)
	}
	if c.Help != "" {
		fmt.Fprintf(w, "\n%s\n", strings.Trim(c.Help, "\n"))
	}
	if len(c.Configured) > 0 {
		var list []string
		for _, flag := range c.Configured {
			list = append(list, variable(flag)+" sets -"+flag)
		}
		program, _, _ := strings.Cut(name, " ")
		fmt.Fprintf(w, "\n%s by default; so can a file: see %s help config\n", words.List(list, "and", len(list)), program)
	}
	if c.Examples != "" {
		fmt.Fprintf(w, "\nexamples:\n")
		for line := range strings.Lines(strings.TrimSpace(c.Examples)) {
			fmt.Fprintf(w, "  %s\n", strings.TrimSpace(line))
		}
	}
}

// Parse reads the flags, which may stand anywhere, and checks that there are
// least to most other arguments.
func (c *Call) Parse(least, most int) error {
	if c.declare {
		return errDeclared
	}
	rest, err := Parse(c.Flags, c.Args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &UsageError{err.Error()}
	}
	c.Args = rest
	if err := c.configure(); err != nil {
		return err
	}
	switch {
	case len(rest) < least:
		if names := strings.Fields(c.Usage); len(rest) < len(names) {
			return &UsageError{"missing argument " + names[len(rest)]}
		}
		return &UsageError{"missing argument"}
	case len(rest) > most:
		text := "unexpected argument " + rest[most]
		if _, err := os.Stat(rest[most]); err == nil && strings.Contains(c.Usage, "DIR") {
			text += ": give one file, or the directory that holds them all"
		}
		return &UsageError{text}
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

// Choice declares a flag with a few values, of which the first is the default. Whatever
// can be printed as JSON (-o json) can be printed as YAML, too.
func (c *Call) Choice(name string, values ...string) *string {
	value := values[0]
	if c.choices == nil {
		c.choices = map[string][]string{}
	}
	convert := name == "o" && slices.Contains(values, "json") && !slices.Contains(values, "yaml")
	if convert {
		i := slices.Index(values, "json") + 1
		values = slices.Insert(slices.Clone(values), i, "yaml")
	}
	c.choices[name] = values
	c.Flags.Func(name, "", func(s string) error {
		if !slices.Contains(values, s) {
			return fmt.Errorf("choose one of %s", strings.Join(values, ", "))
		}
		if value = s; convert && s == "yaml" {
			value, c.json = "json", &bytes.Buffer{}
			c.out, c.Stdout = c.Stdout, c.json
		}
		return nil
	})
	return &value
}

// yaml prints what was printed as JSON, each document as one of YAML.
func (c *Call) yaml() error {
	d := json.NewDecoder(c.json)
	for n := 0; ; n++ {
		var document json.RawMessage
		if err := d.Decode(&document); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		text, err := catalog.YAML(document)
		if err != nil {
			return err
		}
		if n > 0 {
			fmt.Fprintln(c.out, "---")
		}
		if _, err := c.out.Write(text); err != nil {
			return err
		}
	}
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

// Open opens the file of a name, or standard input for "-".
func (c *Call) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	return os.Open(name)
}

// JSON prints a value as indented JSON.
func (c *Call) JSON(v any) error {
	e := json.NewEncoder(c.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
