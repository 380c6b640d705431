// Package taint is the verb taints: it answers questions about the taints of nodes and the tolerations of pods,
// from what kubectl prints:
//
//	kubectl get nodes,pods,pdb -A -o json | fairlead taints explain -pod shop/web-0 -node n1
//
// Run it with -h for all commands and flags. The exit status is 0 if all is well, 1
// if a pod cannot be placed (explain) or something was found (lint), and 2 if the
// input is bad.
package taint

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/taints"
)

// The exit statuses.
const (
	statusGood     = 0
	statusFound    = 1
	statusBadInput = 2
)

const usage = `usage: fairlead taints explain [-f FILE] [-pod [NAMESPACE/]NAME] [-node NAME] [-redact]
       fairlead taints matrix  [-f FILE]
       fairlead taints lint    [-f FILE]
       fairlead taints whatif  [-f FILE] -event EVENT ... [-start TIME] [-horizon D]
                      [-replacement D] [-respect-budgets]
       fairlead taints parse   CHANGE ...
       fairlead taints parse   [-f FILE] -node NAME [-kubectl] [-overwrite] CHANGE ...

  explain  what the taints of a node mean for a pod, and what would change it;
           without -pod and -node each pod on its node, or, if it has none, on
           every node
  matrix   which pods can be placed on which nodes; those that are alike together
  lint     taints and tolerations that are likely not meant
  whatif   which pods would be evicted, and when, if something happened
  parse    reads what "kubectl taint" takes; with -node it shows the change

  -f FILE    what "kubectl get nodes,pods,pdb -A -o json" prints; but for parse the
             name alone will do; otherwise it is
             read from standard input
  -o FORMAT  text (the default) or json; whatif also draws svg
  -numbers   let tolerations compare numbers with Lt and Gt
  -redact    hide keys and values
  -kubectl   change as the command does: setting what is there, or removing what
             is not, is an error; -overwrite allows the first
  EVENT      words like nodes=n1,n2 zone=b taint=key=value:NoExecute taint=key:NoExecute-
             dark=12m after=5m; a taint that ends in "-" is taken off
  CHANGE     key=value:Effect, key:Effect, key:Effect- or key-

exit status: 0 good, 1 not placed (explain) or something found (lint), 2 bad input
`

// Run runs the verb with its words, and returns the exit status.
func Run(_ context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(words, time.Now(), stdin, stdout, stderr)
}

// run is Run at a time.
func run(words []string, now time.Time, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parse(words)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return statusGood
	}
	status := statusBadInput
	if err == nil {
		c.now, c.stdin, c.stdout, c.stderr = now, stdin, stdout, stderr
		status, err = c.run(c)
	}
	if err != nil {
		fmt.Fprintln(stderr, "fairlead taints:", err)
		return statusBadInput
	}
	return status
}

// command is the command line.
type command struct {
	run     func(*command) (status int, err error)
	file    string
	format  string
	numbers bool
	explain explainFlags
	edit    editFlags
	whatIf  whatIfFlags
	words   []string // what is no flag

	now    time.Time
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// parse reads the command line.
func parse(words []string) (*command, error) {
	if len(words) == 0 {
		return nil, errors.New("no command: it is explain, matrix, lint, whatif or parse (-h shows the usage)")
	}
	c := &command{}
	flags := flag.NewFlagSet("taints", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.file, "f", "-", "")
	flags.StringVar(&c.format, "o", "text", "")
	flags.BoolVar(&c.numbers, "numbers", false, "")
	formats, takesWords := " or json", false
	switch words[0] {
	case "explain":
		c.run = (*command).runExplain
		c.explain.add(flags)
	case "matrix":
		c.run = (*command).runMatrix
	case "lint":
		c.run = (*command).runLint
	case "whatif":
		c.run, formats = (*command).runWhatIf, ", json or svg"
		c.whatIf.add(flags)
	case "parse":
		c.run, takesWords = (*command).runParse, true
		c.edit.add(flags)
	case "-h", "-help", "--help", "help":
		return nil, flag.ErrHelp
	default:
		return nil, fmt.Errorf("there is no command %q: it is explain, matrix, lint, whatif or parse (-h shows the usage)", words[0])
	}
	rest, err := args.Parse(flags, words[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w (-h shows the usage)", words[0], err)
	}
	if len(rest) == 1 && !takesWords && c.file == "-" {
		c.file, rest = rest[0], nil // as other programs have it
	}
	if len(rest) > 0 && !takesWords {
		return nil, fmt.Errorf("%s: %q is no flag (-h shows the usage)", words[0], rest[0])
	}
	if c.format != "text" && c.format != "json" && (c.format != "svg" || words[0] != "whatif") {
		return nil, fmt.Errorf("%s: -o %s: it is text%s", words[0], c.format, formats)
	}
	c.words = rest
	return c, nil
}

func (c *command) options() *taints.Options {
	return &taints.Options{ComparisonOperators: c.numbers}
}

// cluster reads the input.
func (c *command) cluster() (*taints.Cluster, error) {
	if c.file == "-" {
		cluster, err := taints.ReadCluster(c.stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return cluster, nil
	}
	f, err := os.Open(c.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cluster, err := taints.ReadCluster(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	return cluster, nil
}

func (c *command) printJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
