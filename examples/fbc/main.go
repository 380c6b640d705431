// Fbc works on file-based catalogs of operators: it judges, lists, draws,
// compares, filters, merges, converts and begins them. "fbc help" lists its
// commands.
//
// A catalog is a directory, a .tar.gz of one, an OCI image layout whose image
// holds a catalog, or one file of JSON or YAML documents, such as the JSON lines
// of a catalog service. Flags may stand before or after other arguments.
//
// The exit status is 0 if all is well, 1 if there are findings, and 2 if the
// arguments are wrong or something cannot be read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// The exit statuses.
const (
	statusFine     = 0
	statusFindings = 1
	statusBad      = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// command is one of the program's commands.
type command struct {
	name  string
	usage string // arguments and flags
	about string
	run   func(*call) error
}

// call is a command with its arguments.
type call struct {
	ctx    context.Context
	cmd    *command
	flags  *flag.FlagSet
	args   []string
	stdout io.Writer
	stderr io.Writer
	opened []io.Closer // to be closed when the command ends
}

// errFindings says that there are findings, which have been printed.
var errFindings = errors.New("findings")

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func commands() []*command {
	return []*command{
		{"validate", "PATH [-o text|json|sarif|opm] [-lint all|CODE,...]", "judge a catalog by the rules that all readers rely on", validate},
		{"list", "packages|channels|bundles PATH [PACKAGE]", "list what a catalog has", list},
		{"graph", "PATH PACKAGE [-o mermaid|dot|svg] [-channel NAME]...", "draw the updates of a package", graph},
		{"path", "PATH PACKAGE FROM TO [-channel NAME]", "find the updates from one bundle or version to another, or say why there are none", path},
		{"diff", "OLD NEW [-o text|json]", "compare two catalogs; findings are users whom the new one leaves without updates", diff},
		{"filter", "PATH -package NAME[/CHANNEL,...][@RANGE]... [-default NAME=CHANNEL]... [-no-dependencies] [-o json|yaml|jsonl] [-to DIR]", "take a part of a catalog, with what it requires; the range is like \">=1.0.0 <2.0.0\"", filter},
		{"merge", "PATH... [-prefer first|last] [-o json|yaml|jsonl] [-to DIR]", "join catalogs; findings are things of which they say different", merge},
		{"convert", "PATH [-o json|yaml|jsonl] [-csv-metadata] [-to DIR]", "write a catalog in another format, or with olm.csv.metadata instead of manifests", convert},
		{"render", "BUNDLEDIR [-image TEMPLATE] [-csv-metadata]", "make an olm.bundle document of a bundle directory; the image is a template over {{.Package}}, {{.Name}} and {{.Version}}", render},
		{"template", "semver|basic|substitutes FILE [-bundle REFERENCE=DIR]... [-image TEMPLATE] [-csv-metadata]", "expand a template; its bundles are directories, named by -bundle or seen from FILE", expand},
		{"init", "PACKAGE [-default-channel NAME] [-description FILE] [-icon FILE] [-o json|yaml]", "begin a package", initPackage},
		{"dockerfile", "DIR [-i IMAGE] [-b IMAGE]", "write DIR.Dockerfile, which makes an image that serves the catalog in DIR", dockerfile},
	}
}

// run is the program but for the process around it.
func run(ctx context.Context, words []string, stdout, stderr io.Writer) int {
	all := commands()
	if len(words) == 0 {
		printUsage(stderr, all)
		return statusBad
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, words[0]) {
		printUsage(stdout, all)
		return statusFine
	}
	i := slices.IndexFunc(all, func(c *command) bool { return c.name == words[0] })
	if i < 0 {
		fmt.Fprintf(stderr, "fbc: there is no command %q (fbc help lists them)\n", words[0])
		return statusBad
	}
	c := &call{ctx: ctx, cmd: all[i], args: words[1:], stdout: stdout, stderr: stderr}
	c.flags = flag.NewFlagSet(c.cmd.name, flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	err := c.cmd.run(c)
	for _, o := range c.opened {
		if failed := o.Close(); err == nil {
			err = failed
		}
	}
	var usage *usageError
	switch {
	case err == nil:
		return statusFine
	case errors.Is(err, errFindings):
		return statusFindings
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "usage: fbc %s %s\n\n%s\n", c.cmd.name, c.cmd.usage, c.cmd.about)
		return statusFine
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "fbc %s: %v\nusage: fbc %[1]s %[3]s\n", c.cmd.name, err, c.cmd.usage)
	default:
		fmt.Fprintf(stderr, "fbc %s: %v\n", c.cmd.name, err)
	}
	return statusBad
}

func printUsage(w io.Writer, all []*command) {
	fmt.Fprintln(w, "fbc works on file-based catalogs of operators.")
	for _, c := range all {
		fmt.Fprintf(w, "\n  fbc %s %s\n        %s\n", c.name, c.usage, c.about)
	}
	fmt.Fprintln(w, "\nPATH is a directory, a .tar.gz of one, an OCI image layout, or a file of JSON or YAML documents.")
	fmt.Fprintln(w, "The exit status is 0 if all is well, 1 for findings, 2 for bad arguments or input.")
}

// parse reads the flags, which may stand anywhere, and checks that there are
// least to most other arguments.
func (c *call) parse(least, most int) error {
	words, err := args.Parse(c.flags, c.args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &usageError{err.Error()}
	}
	c.args = words
	switch {
	case len(words) < least:
		return &usageError{"an argument is missing"}
	case len(words) > most:
		return &usageError{"the argument " + words[most] + " is one too many"}
	}
	return nil
}

// choice is a flag with a few values.
func (c *call) choice(name string, values ...string) *string {
	value := values[0]
	c.flags.Func(name, "", func(s string) error {
		if !slices.Contains(values, s) {
			return fmt.Errorf("it is one of %s", strings.Join(values, ", "))
		}
		value = s
		return nil
	})
	return &value
}

// words is a flag that may be given several times.
func (c *call) words(name string) *[]string {
	var list []string
	c.flags.Func(name, "", func(s string) error {
		list = append(list, s)
		return nil
	})
	return &list
}

// arg returns an argument, "" if it was not given.
func (c *call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}
