package promql_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// server is a Prometheus that the test runs on loopback.
type server struct {
	tb     testing.TB
	binary string
	dir    string
	port   int
	url    string
	cmd    *exec.Cmd
	log    *os.File
}

// startServer starts a Prometheus that scrapes a target of the test every 100
// milliseconds, and waits until it answers. It is stopped with the test. Where
// there is no Prometheus the test is skipped.
func startServer(tb testing.TB, target string) *server {
	tb.Helper()
	binary := os.Getenv("FAIRLEAD_PROMETHEUS")
	if binary == "" {
		var err error
		if binary, err = exec.LookPath("prometheus"); err != nil {
			tb.Skip("no Prometheus server here: install Debian's package with apt-get install prometheus, or name the binary in FAIRLEAD_PROMETHEUS")
		}
	}
	s := &server{tb: tb, binary: binary, dir: tb.TempDir(), port: freePort(tb)}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", s.port)
	config := fmt.Sprintf("global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs:\n- job_name: cluster\n  static_configs: [{targets: [%q]}]\n",
		strings.TrimPrefix(target, "http://"))
	write(tb, filepath.Join(s.dir, "prometheus.yml"), config)
	var err error
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.stop(); s.log.Close() })
	s.start()
	return s
}

// start runs the server, and waits until it answers.
func (s *server) start() {
	s.tb.Helper()
	s.cmd = exec.Command(s.binary,
		"--config.file="+filepath.Join(s.dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(s.dir, "tsdb"),
		fmt.Sprintf("--web.listen-address=127.0.0.1:%d", s.port),
		"--query.max-samples=5000000",
	)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.tb.Fatalf("the Prometheus server %s does not start: %v", s.binary, err)
	}
	s.until("it is ready", func() bool {
		resp, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// stop ends the server, gracefully first.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	kill.Stop()
	s.cmd = nil
}

// until waits until something holds, and fails with the server's log when it
// takes too long.
func (s *server) until(what string, holds func() bool) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), 30*time.Second)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(s.log.Name())
			s.tb.Fatalf("half a minute, and not: %s. The server's log:\n%s", what, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freePort returns a port that nobody listens at now.
func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// target serves metrics that the test may change.
func target(tb testing.TB, metrics string) (url string, set func(metrics string)) {
	tb.Helper()
	var now atomic.Pointer[string]
	now.Store(&metrics)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, *now.Load())
	}))
	tb.Cleanup(s.Close)
	return s.URL, func(metrics string) { now.Store(&metrics) }
}
