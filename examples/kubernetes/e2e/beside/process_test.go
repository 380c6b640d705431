package beside_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// start runs a program until stop is called, at the latest until the end of the
// test, and returns once it accepts connections.
func start(t *testing.T, address string, program string, args ...string) (stop func()) {
	t.Helper()
	var log strings.Builder
	var mu sync.Mutex
	cmd := exec.Command(program, args...)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr, cmd.Env = in, in, append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := out.Read(buffer)
			mu.Lock()
			log.Write(buffer[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	t.Cleanup(stop)
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return stop
		}
		select {
		case <-ended:
			mu.Lock()
			t.Fatalf("%s has ended:\n%s", program, log.String())
		default:
		}
		if time.Since(begin) > 2*time.Minute {
			mu.Lock()
			t.Fatalf("%s takes no connections:\n%s", program, log.String())
		}
	}
}

// wire forwards connections to an address, and interrupts those that have
// returned more than a number of bytes, if there is such a limit.
type wire struct {
	address string
	most    atomic.Int64 // 0 means no limit
	cut     atomic.Int64 // interrupted connections
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); l.Close() })
	w := &wire{address: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(ctx, conn, to)
		}
	}()
	return w
}

func (w *wire) carry(ctx context.Context, conn net.Conn, to string) {
	defer conn.Close()
	back, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer back.Close()
	go func() { _, _ = io.Copy(back, conn) }()
	carried, buffer := int64(0), make([]byte, 1024)
	for {
		n, err := back.Read(buffer)
		if most := w.most.Load(); most > 0 && carried+int64(n) > most {
			w.cut.Add(1)
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
		carried += int64(n)
		if err != nil {
			return
		}
	}
}
