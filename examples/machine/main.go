// Machine plays the deletion of machines in virtual time, and tells what
// happens when.
//
//	go run ./examples/machine simulate examples/machine/scenarios/etcd-replacement.yaml
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage: machine simulate FILE [-o text|json|svg|mermaid]

  simulate  plays a scenario in virtual time: a YAML file with machines, nodes,
            pods and budgets, and a Scenario that says what happens when; see
            examples/machine/scenarios

FILE may be - for the standard input.

exit status: 0 done, 1 a deletion did not finish, 2 bad input
`

// Exit statuses.
const (
	statusDone  = 0
	statusStuck = 1
	statusBad   = 2
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return statusBad
	}
	command, known := map[string]func(context.Context, []string, io.Reader, io.Writer) (int, error){
		"simulate": simulate,
	}[args[0]]
	if !known {
		if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
			fmt.Fprint(stdout, usage)
			return statusDone
		}
		fmt.Fprintf(stderr, "machine: there is no command %q\n%s", args[0], usage)
		return statusBad
	}
	status, err := command(ctx, args[1:], stdin, stdout)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return statusDone
	}
	if err != nil {
		fmt.Fprintln(stderr, "machine:", err)
		return statusBad
	}
	return status
}

// open opens a file, or the standard input for "-".
func open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}
