//go:build unix

package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// programs creates a directory with shell scripts in place of the servers.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStartFails starts clusters that cannot run: the error must say why, and
// nothing may be left behind.
func TestStartFails(t *testing.T) {
	waits := "exec sleep 1000"
	all := func(etcd string) map[string]string {
		return map[string]string{"etcd": etcd, "kube-apiserver": waits, "kube-controller-manager": waits}
	}
	long := strings.Repeat("long", 25)
	for _, test := range []struct {
		name    string
		scripts map[string]string
		below   string // a directory below TMPDIR to use for it
		want    []string
	}{
		{"missing", map[string]string{"kube-apiserver": waits}, "", []string{"no etcd, kube-controller-manager in ", "e2e/run", "FAIRLEAD_SERVERS"}},
		{"ends", all("echo no room for me >&2; exit 3"), "", []string{"etcd: ended by itself: exit status 3", "\tno room for me"}},
		{"ends well", all("exit 0"), "", []string{"etcd: ended by itself; ", "(it is empty)"}},
		{"never ready", all("echo thinking; " + waits), "", []string{"etcd: not ready after 300ms; at last: ", "\tthinking"}},
		{"long name", all(waits), long, []string{long, "too long", "TMPDIR"}},
		{"no room", all(waits), "absent/dir", []string{"absent/dir"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := filepath.Join(t.TempDir(), test.below)
			if test.below == long {
				if err := os.Mkdir(temp, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			servers := programs(t, test.scripts)
			t.Setenv("TMPDIR", temp)
			c, err := cluster.Start(t.Context(), &cluster.Options{Servers: servers, Patience: 300 * time.Millisecond})
			if err == nil {
				t.Fatal("it started", c.Stop())
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q:\n%v", part, err)
				}
			}
			if left, err := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
			if left := naming(t, servers); left != nil {
				t.Errorf("processes left over: %q", left)
			}
		})
	}
}

// TestStartCancelled ends a start that would wait.
func TestStartCancelled(t *testing.T) {
	waits := "exec sleep 1000"
	servers := programs(t, map[string]string{"etcd": waits, "kube-apiserver": waits, "kube-controller-manager": waits})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if c, err := cluster.Start(ctx, &cluster.Options{Servers: servers}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v, %v", c, err)
	}
	if left := naming(t, servers); left != nil {
		t.Errorf("processes left over: %q", left)
	}
}

// TestServers looks for the programs with and without the environment variable.
func TestServers(t *testing.T) {
	dir := programs(t, map[string]string{"etcd": "", "kube-apiserver": "", "kube-controller-manager": ""})
	t.Setenv(cluster.ServersVariable, dir)
	if got, err := cluster.Servers(); got != dir || err != nil {
		t.Errorf("Servers() = %q, %v, want %q", got, err, dir)
	}
	if err := os.Chmod(filepath.Join(dir, "etcd"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Servers()
	missing := (*cluster.MissingServersError)(nil)
	if want := (&cluster.MissingServersError{Dir: dir, Names: []string{"etcd"}}); !errors.As(err, &missing) || !cmp.Equal(missing, want) {
		t.Errorf("with a file that cannot be run: %v", err)
	}

	t.Setenv(cluster.ServersVariable, "")
	root := t.TempDir()
	below := filepath.Join(root, "one", "two")
	if err := errors.Join(os.MkdirAll(below, 0o700), os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	_, err = cluster.Servers()
	if !errors.As(err, &missing) || missing.Dir != filepath.Join(root, ".cache", "servers") || len(missing.Names) != 3 {
		t.Errorf("below a module: %v", err)
	}
}

// childVariable makes this test program the child of TestKilled.
const childVariable = "FAIRLEAD_E2E_CHILD"

// TestKilled kills a test that has a cluster, and waits until the cluster is
// also gone.
func TestKilled(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		c := cluster.ForTest(t, nil)
		fmt.Println("child", c.Dir())
		for _, pid := range c.PIDs() {
			fmt.Println("child", pid)
		}
		fmt.Println("child up")
		select {}
	}
	if _, err := cluster.Servers(); err != nil {
		t.Skip(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), childVariable+"=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir, pids := "", []int{}
	for lines := bufio.NewScanner(output); lines.Scan() && lines.Text() != "child up"; {
		pid := 0
		if _, err := fmt.Sscanf(lines.Text(), "child %d", &pid); err == nil {
			pids = append(pids, pid)
		} else if path, ok := strings.CutPrefix(lines.Text(), "child "); ok {
			dir = path
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // it was killed
	if dir == "" || len(pids) != 3 {
		t.Fatalf("the child had %q, %v", dir, pids)
	}
	eventually(t.Context(), t, "the end of the killed test's cluster", func() error {
		for _, pid := range pids {
			if alive(pid) {
				return fmt.Errorf("process %d is still there", pid)
			}
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is still there: stat says %v", dir, err)
		}
		if left := naming(t, dir); left != nil {
			return fmt.Errorf("still there: %q", left)
		}
		return nil
	})
}

// The addresses of one call differ. A port that is closed may be chosen again.
func TestFreeAddresses(t *testing.T) {
	seen := map[string]bool{}
	for _, address := range cluster.FreeAddresses(t, 200) {
		if seen[address] {
			t.Errorf("%s twice", address)
		}
		seen[address] = true
	}
}
