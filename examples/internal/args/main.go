package args

import (
	"context"
	"os"
	"os/signal"
)

// Main runs a program as a process: it passes the words of the command line without
// the program's name and exits with the status that the program returns. The context
// ends when the user interrupts the process.
func Main(run Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
