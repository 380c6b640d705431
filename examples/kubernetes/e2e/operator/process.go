package operator

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// Process is a running operator.
type Process struct {
	t      testing.TB
	cmd    *exec.Cmd
	log    string
	health string
	// Metrics is the URL of its metrics.
	Metrics string
	done    chan struct{}
	err     error // its error, once done is closed
	mu      sync.Mutex
	over    bool // whether it was asked to end
}

// Start runs the operator with the flags, and with those for the cluster and the
// operator's endpoints. It is killed at the end of the test; if it ends by
// itself before, the test fails. [Install] must have been called.
func Start(t testing.TB, c *cluster.Cluster, flags ...string) *Process {
	t.Helper()
	return start(t, c, func(*exec.Cmd, string) {}, flags)
}

// StartConfined is [Start] for the operator as in its image: in a file system with
// nothing but the program and its kubeconfig, as a user that cannot write anywhere
// in it. The test is skipped if that is not possible.
func StartConfined(t testing.TB, c *cluster.Cluster, flags ...string) *Process {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root on Linux can give a program its own file system")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return start(t, c, func(cmd *exec.Cmd, kubeconfig string) {
		for from, to := range map[string]string{cmd.Path: "operator", kubeconfig: "kubeconfig"} {
			data, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(filepath.Join(root, to), data, 0o555)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		cmd.Path, cmd.Args[0], cmd.Args[2], cmd.Dir = "/operator", "/operator", "/kubeconfig", "/"
		confine(cmd, root)
	}, flags)
}

// start runs the operator. change is called with its command and the
// kubeconfig.
func start(t testing.TB, c *cluster.Cluster, change func(cmd *exec.Cmd, kubeconfig string), flags []string) *Process {
	t.Helper()
	program := build(t)
	config, err := c.ConfigForServiceAccount(t.Context(), Namespace, Account)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := cluster.WriteKubeconfig(config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, log: filepath.Join(dir, "log"), done: make(chan struct{})}
	addresses := cluster.FreeAddresses(t, 2)
	health, metrics := addresses[0], addresses[1]
	p.health, p.Metrics = "http://"+health, "http://"+metrics+"/metrics"
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p.cmd = exec.Command(program, append([]string{"-kubeconfig", kubeconfig, "-health-address", health, "-metrics-address", metrics}, flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	change(p.cmd, kubeconfig)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.wait()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the operator's log ends:\n%s", p.tail())
		}
	})
	return p
}

func (p *Process) wait() {
	p.err = p.cmd.Wait()
	p.mu.Lock()
	over := p.over
	p.mu.Unlock()
	if !over {
		p.t.Errorf("the operator has ended by itself: %v\n%s", p.err, p.tail())
	}
	close(p.done)
}

// Ready waits until its caches are filled.
func (p *Process) Ready() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.health+"/readyz", nil)
		if err != nil {
			p.t.Fatal(err)
		}
		if answer, err := http.DefaultClient.Do(req); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("the operator is not ready after a minute:\n%s", p.tail())
		case <-p.done:
			p.t.FailNow()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Kill kills it at once, with SIGKILL.
func (p *Process) Kill() { _ = p.end(syscall.SIGKILL) }

// Stop ends it with SIGTERM, and returns its error.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

func (p *Process) end(signal syscall.Signal) error {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(signal)
	select {
	case <-p.done:
		return p.err
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("the operator has not ended a minute after %v", signal)
	}
}

// Memory returns the memory of the process.
func (p *Process) Memory() cluster.Memory {
	p.t.Helper()
	m, err := cluster.MemoryOf(p.cmd.Process.Pid)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// tail returns the end of its log.
func (p *Process) tail() string {
	const most = 8 << 10
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-most):])
}

// Log returns its log.
func (p *Process) Log() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// Metric returns the value of a metric, named with its labels as at the
// endpoint; zero if it does not exist.
func (p *Process) Metric(name string) float64 {
	p.t.Helper()
	answer, err := http.Get(p.Metrics)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return value
		}
	}
	if err := lines.Err(); err != nil {
		p.t.Fatal(err)
	}
	return 0
}
