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
	"time"

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

// Command is a program, a verb of a program, or a verb of a verb. It either has its
// own commands or does something.
type Command struct {
	Name     string            // the word on the command line
	Usage    string            // arguments and flags
	About    string            // what it does
	Help     string            // what its arguments and flags mean, lines for -h; may be empty
	Examples string            // lines to copy, for -h; may be empty
	Commands []*Command        // in the order in which help lists them
	Run      func(*Call) error // nil: all is well; not called where there are commands
	// Complete returns the possible next arguments for shell completion, if they are
	// not files. It may be nil.
	Complete func(*Call) []string
	// Configured are the flags that the Settings of the program can also set.
	Configured []string
	// Settings are those of the program and all its commands; nil for none.
	Settings *Settings
}

// Call is a command with its arguments.
type Call struct {
	Name    string          // the words that called the command, as in "fairlead catalog list"
	Program string          // those that called the program, as in "fairlead" or "kubectl fairlead"
	Usage   string          // of the command
	Context context.Context // ends when the user interrupts the program
	Flags   *flag.FlagSet   // for the command to declare its flags on
	Args    []string        // what follows the command's name; after Parse, without flags
	Stdin   io.Reader       // what is read when an argument is "-"
	Stdout  io.Writer       // for results: text, see Document; control characters are shown, not sent
	Stderr  io.Writer       // for everything else, likewise
	Shared  string          // help on flags that several commands have, lines for -h

	choices    map[string][]string             // the values of flags that have few
	offers     map[string]func(*Call) []string // values of flags, for shell completion
	settings   *Settings                       // of the program; nil for none
	configured []string                        // the flags that they can set
	given      map[string]bool                 // the flags set on the command line
	progress   *progress                       // what is shown on a terminal; nil if there is none
	declare    bool                            // Parse must end the call after the flags are declared
	json       *bytes.Buffer                   // JSON output that will be converted to YAML; nil if none will
	out        io.Writer                       // where that is written
	beside     map[string]any                  // members of JSON output: see Beside
	warned     atomic.Bool                     // Warn was called
}

// Warn prints a warning, which is a finding: the command ends with StatusFindings
// unless something worse happens. It may be called from several goroutines.
func (c *Call) Warn(format string, values ...any) {
	c.warned.Store(true)
	words.Fprintf(c.Stderr, "warning: "+format+"\n", values...)
}

// Unused prints a note about each value of a flag that names nothing that exists, with a
// suggestion. That is not a finding: what a script names may have been deleted.
func (c *Call) Unused(flag string, values, there []string) {
	for _, v := range values {
		if slices.Contains(there, v) {
			continue
		}
		text := fmt.Sprintf("-%s %s: nothing here has that name", flag, v)
		if nearest := words.Nearest(v, there); nearest != "" {
			text += "; did you mean " + nearest + "?"
		}
		words.Fprintf(c.Stderr, "note: %s\n", text)
	}
}

// ErrFindings reports that there are findings, which have been printed.
var ErrFindings = errors.New("findings")

// UsageError reports an invalid command line.
type UsageError struct {
	Text string // what is wrong with it
}

// Error returns Text.
func (e *UsageError) Error() string { return e.Text }

// Program is a program without the process around it: it gets the words of the
// command line without its own name and returns the exit status.
type Program func(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int

// Program makes a command a program with a name, which may have several words,
// such as "fairlead catalog".
func (c *Command) Program(name string) Program {
	return func(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int {
		out, errs := &boundary{to: stdout}, &boundary{to: stderr}
		status := c.run(&Call{Name: name, Program: name, Context: ctx, Args: words, Stdin: stdin, Stdout: out, Stderr: errs})
		if errors.Join(out.flush(), errs.flush()) != nil && status == StatusFine {
			return StatusBad // the end of the last line is missing
		}
		return status
	}
}

// asksForHelp are the words that request help.
var asksForHelp = []string{"help", "-h", "-help", "--help"}

// run executes a call of the command and returns the exit status.
func (c *Command) run(call *Call) int {
	call.Usage, call.configured = c.Usage, c.Configured
	if c.Settings != nil {
		call.settings = c.Settings
		if out, ok := call.Stdout.(*boundary); ok && c.Settings.Getenv != nil {
			out.columns = c.Settings.Getenv("COLUMNS")
		}
	}
	if len(c.Commands) > 0 {
		return c.dispatch(call)
	}
	call.Flags = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	call.Flags.SetOutput(io.Discard)
	end := call.watched()
	call.Painted(unpainted)
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
		c.help(call.Stdout, call)
		if call.Shared != "" {
			words.Fprintf(call.Stdout, "\n%s\n", words.Text(call.Shared))
		}
		return StatusFine
	case errors.As(err, &usage):
		words.Fprintf(call.Stderr, "%s: %v; see %[1]s -h\n", call.Name, err)
	default:
		words.Fprintf(call.Stderr, "%s: %v%s\n", call.Name, err, pathHint(err))
	}
	return StatusBad
}

// pathHint returns what to do about a path that cannot be read, or "".
func pathHint(err error) string {
	var path *fs.PathError
	switch {
	case !errors.As(err, &path) || !strings.HasSuffix(err.Error(), path.Error()): // an error that wraps it says more
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

// dispatch passes a call to the command that its first word names.
func (c *Command) dispatch(call *Call) int {
	if len(call.Args) == 0 {
		c.help(call.Stderr, call)
		return StatusBad
	}
	first, rest := call.Args[0], call.Args[1:]
	if slices.Contains(asksForHelp, first) {
		if len(rest) == 0 || first != "help" {
			c.help(call.Stdout, call)
			return StatusFine
		}
		first, rest = rest[0], append(slices.Clip(rest[1:]), "-h")
	}
	if first == "--version" && c.command("version") != nil {
		first = "version"
	}
	next := c.command(first)
	if next == nil {
		text := ""
		if best := closest(first, c.Commands); best != "" {
			text = fmt.Sprintf("; did you mean %s?", best)
		}
		words.Fprintf(call.Stderr, "%s: unknown command %q%s (%[1]s help lists them)\n", call.Name, first, text)
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

// synonyms are verbs of other tools, with the commands that do the same, the best
// one first.
var synonyms = map[string][]string{
	"check":     {"validate", "lint"},
	"delete":    {"remove"},
	"draw":      {"graph"},
	"lint":      {"validate"},
	"ls":        {"list"},
	"mermaid":   {"graph"},
	"rm":        {"remove"},
	"show":      {"list", "graph"},
	"verify":    {"validate"},
	"visualize": {"graph"},
}

// closest returns the command that a word probably means: one that does the same as
// the verb of another tool, or else the one with the nearest name; "" if there is
// none.
func closest(word string, commands []*Command) string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.Name
	}
	for _, name := range synonyms[word] {
		if slices.Contains(names, name) {
			return name
		}
	}
	return words.Nearest(word, names)
}

// help prints how a command is called.
func (c *Command) help(w io.Writer, call *Call) {
	name := call.Name
	if len(c.Commands) == 0 {
		words.Fprintf(w, "usage: %s %s\n\n%s\n", name, c.Usage, words.Text(c.About))
	} else {
		words.Fprintf(w, "%s: %s\n", name, words.Text(c.About))
		width := 0
		for _, sub := range c.Commands {
			width = max(width, len(sub.Name))
		}
		fmt.Fprintln(w)
		for _, sub := range c.Commands {
			page.Fold(w, fmt.Sprintf("  %-*s  ", width, sub.Name), sub.About)
		}
		words.Fprintf(w, "\nRun %s help COMMAND for details.\n", name)
	}
	if c.Help != "" {
		words.Fprintf(w, "\n%s\n", words.Text(strings.Trim(c.Help, "\n")))
	}
	if len(c.Configured) > 0 {
		var list []string
		for _, flag := range c.Configured {
			list = append(list, variable(flag)+" sets -"+flag)
		}
		words.Fprintf(w, "\n%s by default; so can a file: see %s help config\n", words.List(list, "and", len(list)), call.Program)
	}
	if c.Examples != "" {
		fmt.Fprintf(w, "\nexamples:\n")
		for line := range strings.Lines(strings.TrimSpace(c.Examples)) {
			words.Fprintf(w, "  %s\n", strings.TrimSpace(line))
		}
	}
}

// Parse reads the flags, which may appear anywhere, and checks that there are
// least to most other arguments.
func (c *Call) Parse(least, most int) error {
	if c.declare {
		return errDeclared
	}
	rest, err := Parse(c.Flags, c.Args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &UsageError{c.flagError(err)}
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
			text += ": give one file, or a directory that contains them all"
		}
		return &UsageError{text}
	}
	return nil
}

// flagError returns an error of package flag with what was probably meant, if the flag is
// unknown: an argument of the command, such as FROM for -from, or a flag of nearly that name.
func (c *Call) flagError(err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return c.valueError(err.Error())
	}
	text := "unknown flag -" + name
	if argument := strings.ToUpper(name); slices.Contains(strings.Fields(c.Usage), argument) {
		return fmt.Sprintf("%s: %s is an argument, not a flag: %s %s", text, argument, c.Name, c.Usage)
	}
	var names []string
	c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if nearest := words.Nearest(name, names); len(nearest) > 2 { // any two letters are near
		text += "; did you mean -" + nearest + "?"
	}
	return text
}

// valueError says how a value is written that package flag cannot parse.
func (c *Call) valueError(text string) string {
	start, bad := strings.CutSuffix(text, ": parse error")
	f := c.Flags.Lookup(start[strings.LastIndex(start, " -")+len(" -"):])
	if !bad || f == nil {
		return text
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return text
	}
	switch g.Get().(type) {
	case time.Duration:
		return start + ": write a time with its unit, such as 30s, 5m or 2h"
	case int, int64, uint, uint64:
		return start + ": write a whole number"
	}
	return text
}

// Arg returns an argument, or "" if it is missing.
func (c *Call) Arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Choice declares a flag with a few values, of which the first is the default. A
// command that can print JSON (-o json) can also print YAML. The output is a Document if the
// value of -o is not text for people. As in kubectl, -o wide is text with what -v adds.
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
	form := func(s string) {
		if b, ok := c.Stdout.(*boundary); ok && name == "o" {
			b.document = !slices.Contains(textFormats, s)
		}
	}
	form(value)
	c.Flags.Func(name, "", func(s string) error {
		if name == "o" && s == "wide" && slices.Contains(values, "text") && !slices.Contains(values, s) {
			s = "text"
			if v := c.Flags.Lookup("v"); v != nil && isBool(v) {
				_ = v.Value.Set("true") // a bool takes it
			}
		}
		if !slices.Contains(values, s) {
			return fmt.Errorf("choose one of %s", strings.Join(values, ", "))
		}
		form(s)
		if value = s; convert && s == "yaml" {
			value, c.json = "json", &bytes.Buffer{}
			c.out, c.Stdout = c.Stdout, c.json
		}
		return nil
	})
	return &value
}

// yaml converts the JSON output to YAML, each document to one document.
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

// Offer says what shell completion offers as the value of a flag; Args has the arguments.
func (c *Call) Offer(name string, values func(*Call) []string) {
	if c.offers == nil {
		c.offers = map[string]func(*Call) []string{}
	}
	c.offers[name] = values
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

// Open opens the named file, or standard input for "-".
func (c *Call) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	return os.Open(name)
}
