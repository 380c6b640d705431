// Package listen serves HTTP to clients that are not trusted.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Limits are how long a client may take. The zero Limits are the defaults.
type Limits struct {
	Header time.Duration // to send the head of a request; default 10 seconds
	Body   time.Duration // to send a request; default 30 seconds
	Answer time.Duration // to take the answer, from the head of the request on; default 5 minutes
	Idle   time.Duration // between requests; default 1 minute
}

// Server returns a server that ends connections of clients that take longer, and that send more
// than 64 KiB of headers.
func Server(handler http.Handler, l Limits) *http.Server {
	or := func(d, otherwise time.Duration) time.Duration {
		if d > 0 {
			return d
		}
		return otherwise
	}
	return &http.Server{
		Handler: handler, MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: or(l.Header, 10*time.Second), ReadTimeout: or(l.Body, 30*time.Second), WriteTimeout: or(l.Answer, 5*time.Minute), IdleTimeout: or(l.Idle, time.Minute),
	}
}

// Serve listens at an address and serves until the context ends; then requests that are being
// answered have five seconds. begun is called with the address once it listens.
func Serve(ctx context.Context, address string, handler http.Handler, begun func(net.Addr)) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	begun(l.Addr())
	server := Server(handler, Limits{})
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			server.Close() // what is left is cut off
		}
	})
	err = server.Serve(l)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
