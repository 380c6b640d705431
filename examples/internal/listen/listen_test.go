package listen_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/internal/listen"
)

// Connections end that are idle, that send slowly, or that take the answer slowly.
func TestConnectionsEnd(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Skip(err)
	}
	large := strings.Repeat("x", 64<<20)
	server := listen.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/large" {
			_, _ = io.WriteString(w, large)
		}
	}), listen.Limits{Header: 200 * time.Millisecond, Body: 300 * time.Millisecond, Answer: 400 * time.Millisecond, Idle: 200 * time.Millisecond})
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	for name, send := range map[string]string{
		"nothing":         "",
		"half a head":     "GET / HTTP/1.1\r\nHost: x\r\nX-",
		"half a body":     "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
		"then idle":       "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"takes no answer": "GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
		"a long head":     "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 200<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = io.WriteString(c, send) // the server may have gone
			if name == "takes no answer" {
				time.Sleep(2 * time.Second)
			}
			_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
			if n, err := io.Copy(io.Discard, c); isTimeout(err) || n >= int64(len(large)) {
				t.Errorf("the connection is open: %d bytes, %v", n, err)
			}
		})
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// Serve ends with the context.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := listen.Serve(ctx, "localhost:0", http.NotFoundHandler(), func(a net.Addr) {
		go func() {
			if r, err := http.Get("http://" + a.String()); err == nil {
				r.Body.Close()
			}
			cancel()
		}()
	})
	if err != nil {
		t.Error(err)
	}
	if err := listen.Serve(t.Context(), "localhost:nonsense", nil, nil); err == nil || !strings.Contains(err.Error(), "localhost:nonsense") {
		t.Error(err)
	}
}
