package cluster

import (
	"fmt"
	"os"
	"os/exec"
)

// A watchdog is a process that outlives the test's: when the pipe that it reads
// from closes, whatever the cause, it kills the servers that are still there
// and removes their directory. The system closes the pipe when the test's
// process dies, so that neither a panic nor a timeout nor SIGKILL leaves
// anything behind.
//
// A server announces itself to the watchdog before it becomes the server, and
// holds the pipe open until then: there is no moment in which it runs unknown.
type watchdog struct {
	cmd  *exec.Cmd
	pipe *os.File // the writing end
}

// watch is what the watchdog runs, with the directory as its argument. It is
// alone in its process group, so that a signal from the terminal passes it by.
// It tries a while to remove the directory, as the servers may take a moment
// to die.
const watch = `
trap '' HUP INT TERM
pids=
while read -r word pid; do
	case $word in
	started) pids="$pids $pid" ;;
	ended)
		left=
		for p in $pids; do [ "$p" = "$pid" ] || left="$left $p"; done
		pids=$left
		;;
	esac
done
for p in $pids; do kill -s KILL -- "-$p"; done
for try in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf -- "$1" && exit 0
	sleep 1
done
exit 1
`

// newWatchdog starts the watchdog of the directory.
func newWatchdog(dir string) (*watchdog, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the watchdog: %w", err)
	}
	defer read.Close()
	cmd := exec.Command("sh", "-c", watch, "sh", dir)
	cmd.Dir = "/"
	cmd.Stdin = read
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("starting the watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: write}, nil
}

// ended tells that a process is no more: its id may come to mean another.
func (w *watchdog) ended(pid int) {
	// An error would mean that the watchdog was killed, and then there is
	// nobody to tell.
	_, _ = fmt.Fprintf(w.pipe, "ended %d\n", pid)
}

// release lets the watchdog do its work now and waits for it.
func (w *watchdog) release() error {
	w.pipe.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("the watchdog: %w", err)
	}
	return nil
}
