package cluster

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A process is a started server.
type process struct {
	name string
	log  string // the file with its output
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended and was waited for
	err  error         // its error; valid after done
}

// announced runs a command, but first tells the watchdog on descriptor 3 the
// process ID that the command will have, and then closes the descriptor.
const announced = `echo "started $$" >&3; exec 3>&-; exec "$@"`

// start runs a server program in its own process group, with its output
// appended to a log.
func (c *Cluster) start(name string, args []string) (*process, error) {
	p := &process{name: name, log: c.file(name + ".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer log.Close()

	p.cmd = exec.Command("sh", append([]string{"-c", announced, "sh", filepath.Join(c.servers, name)}, args...)...)
	p.cmd.Dir = c.dir
	// Servers read settings from the environment (ETCD_*, proxies), so they do
	// not get that of the test. Files that they leave in TMPDIR are removed
	// with the rest.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + c.dir}
	p.cmd.Stdout = log
	p.cmd.Stderr = log
	p.cmd.ExtraFiles = []*os.File{c.watchdog.pipe}
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		c.watchdog.ended(p.cmd.Process.Pid)
		close(p.done)
	}()
	return p, nil
}

// kill kills the process and everything that it started, and waits until it is
// gone. A process that has already ended is left alone.
func (p *process) kill() {
	select {
	case <-p.done:
	default:
		killGroup(p.cmd.Process.Pid)
		<-p.done
	}
}

// failed describes what went wrong with the process, and quotes its log.
func (p *process) failed(err error) error {
	return fmt.Errorf("%s: %w; the end of its log:\n%s", p.name, err, p.tail())
}

// ended returns the error of a process that ended unexpectedly.
func (p *process) ended() error {
	if p.err == nil {
		return p.failed(fmt.Errorf("ended by itself"))
	}
	return p.failed(fmt.Errorf("ended by itself: %w", p.err))
}

// The part of a log that errors quote.
const (
	tailLines = 30
	tailBytes = 16 << 10
)

// tail returns the last lines of the log, indented.
func (p *process) tail() string {
	file, err := os.Open(p.log)
	if err != nil {
		return "\t(" + err.Error() + ")"
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, err = file.Seek(max(0, size-tailBytes), io.SeekStart)
		if err != nil {
			return "\t(" + err.Error() + ")"
		}
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return "\t(" + err.Error() + ")"
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "\t(it is empty)"
	}
	lines := strings.Split(string(text), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "\t" + strings.Join(lines, "\n\t")
}
