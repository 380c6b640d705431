// Package promserver runs a real Prometheus for tests, on loopback, with metrics
// defined by the test.
package promserver

import (
	"context"
	"fmt"
	"io"
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

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// Server is a Prometheus that a test runs. It is not safe for concurrent use.
type Server struct {
	// URL is its address.
	URL string

	tb      testing.TB
	binary  string
	dir     string
	address string
	cmd     *exec.Cmd
	log     *os.File
}

// Start starts a Prometheus that scrapes a target of the test every 100
// milliseconds, and waits until it answers. It is stopped with the test. The
// binary is $FAIRLEAD_PROMETHEUS, or else found in $PATH; without one the test is
// skipped.
func Start(tb testing.TB, target string) *Server {
	tb.Helper()
	binary := find()
	if binary == "" {
		tb.Skip("no Prometheus server here: install Debian's package with apt-get install prometheus, or name the binary in FAIRLEAD_PROMETHEUS")
	}
	s := &Server{tb: tb, binary: binary, dir: tb.TempDir(), address: cluster.FreeAddresses(tb, 1)[0]}
	s.URL = "http://" + s.address
	config := fmt.Sprintf("global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs:\n- job_name: cluster\n  static_configs: [{targets: [%q]}]\n",
		strings.TrimPrefix(target, "http://"))
	err := os.WriteFile(filepath.Join(s.dir, "prometheus.yml"), []byte(config), 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Stop(); s.log.Close() })
	s.Start()
	return s
}

// find returns the binary, or an empty string.
func find() string {
	if binary := os.Getenv("FAIRLEAD_PROMETHEUS"); binary != "" {
		return binary
	}
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		return ""
	}
	return binary
}

// StartOr returns the address of a Prometheus as started by Start or, if there is
// none, of a server with its API that knows only the query max(NAME), for metrics
// without labels, and no alerts.
func StartOr(tb testing.TB, target string) string {
	tb.Helper()
	if find() != "" {
		return Start(tb, target).URL
	}
	tb.Log("no Prometheus server here: a server of the test takes its place")
	played := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/alerts") {
			fmt.Fprint(w, `{"status":"success","data":{"alerts":[]}}`)
			return
		}
		result := ""
		if resp, err := http.Get(target); err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			for line := range strings.Lines(string(text)) {
				if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && "max("+name+")" == r.FormValue("query") {
					result = fmt.Sprintf(`{"metric":{},"value":[%d,%q]}`, time.Now().Unix(), value)
				}
			}
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, result)
	}))
	tb.Cleanup(played.Close)
	return played.URL
}

// Start runs the server after Stop, and waits until it answers.
func (s *Server) Start() {
	s.tb.Helper()
	s.cmd = exec.Command(s.binary,
		"--config.file="+filepath.Join(s.dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(s.dir, "tsdb"),
		"--web.listen-address="+s.address,
		"--query.max-samples=5000000",
	)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.tb.Fatalf("the Prometheus server %s does not start: %v", s.binary, err)
	}
	s.Until("it is ready", func() bool {
		resp, err := http.Get(s.URL + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Stop stops the server, gracefully at first; if it has already ended, there is
// nothing to do.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	kill.Stop()
	s.cmd = nil
}

// Until waits until a condition holds, and fails the test with the server's log if
// that takes too long.
func (s *Server) Until(what string, holds func() bool) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), 30*time.Second)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(s.log.Name())
			s.tb.Fatalf("not within half a minute: %s. The server's log:\n%s", what, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Target serves metrics that the test may change.
func Target(tb testing.TB, metrics string) (url string, set func(metrics string)) {
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
