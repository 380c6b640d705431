package cluster

import (
	"fmt"
	"os"
	"os/exec"
)

// A watchdog is a process that outlives the test's: when the pipe that it reads
// from is closed, for whatever reason, it kills the remaining servers and
// removes their directory. The system closes the pipe when the test's process
// dies, so that neither a panic nor a timeout nor SIGKILL leaves anything
// behind.
//
// A process announces itself to the watchdog before it becomes the server, and
// keeps the pipe open until then, so no server ever runs without the watchdog
// knowing.
type watchdog struct {
	cmd  *exec.Cmd
	pipe *os.File // the write end
}

// watch is the script of the watchdog, with the directory as its argument. It
// is alone in its process group, so that it does not receive signals from the
// terminal. It retries removing the directory, because the servers may take a
// moment to die.
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

// newWatchdog starts the watchdog for a directory.
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

// ended reports that a process is gone, because its ID may be reused.
func (w *watchdog) ended(pid int) {
	// An error would mean that the watchdog was killed; then there is no one
	// to tell.
	_, _ = fmt.Fprintf(w.pipe, "ended %d\n", pid)
}

// release makes the watchdog do its work now, and waits for it.
func (w *watchdog) release() error {
	w.pipe.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("the watchdog: %w", err)
	}
	return nil
}
