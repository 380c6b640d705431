package args

import (
	"context"
	"os"
	"os/signal"
)

// Main is a process around a program, which gets the words of the command line
// without its own name and returns the exit status. Its context ends when the
// user interrupts it.
func Main(run Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
