package served

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/serve"
)

// Options are what a [Client] works with. Nil is the zero value.
type Options struct {
	// MaxSize bounds the bytes that a service sends of one catalog, 1 GiB by
	// default, and MaxMessage those of one message of gRPC, 64 MiB by default.
	MaxSize    int64
	MaxMessage int // see MaxSize
	// Timeout is how long one catalog may take, five minutes by default.
	Timeout time.Duration
	// HTTP makes the requests to services that speak HTTP. Nil means
	// http.DefaultClient.
	HTTP *http.Client
	// TLS is how to speak with services by gRPC. Nil means without: so do those
	// of catalog pods.
	TLS *tls.Config
}

// Client reads catalogs of services. It may be used by several goroutines.
type Client struct{ options Options }

// New returns a Client. options may be nil.
func New(options *Options) *Client {
	c := &Client{}
	if options != nil {
		c.options = *options
	}
	c.options.MaxSize = cmp.Or(c.options.MaxSize, 1<<30)
	c.options.MaxMessage = cmp.Or(c.options.MaxMessage, 64<<20)
	c.options.Timeout = cmp.Or(c.options.Timeout, 5*time.Minute)
	return c
}

// Catalog reads the catalog at an address: HOST:PORT of a service that speaks
// gRPC, or the URL of one that speaks HTTP, up to /api. revision is what the call
// before has returned, "" for the first. While the service has the same catalog
// there is none, and the revision stays. A catalog with faults is an error.
func (c *Client) Catalog(ctx context.Context, address, revision string) (*catalog.Catalog, string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	read := c.grpc
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		read = c.http
	}
	found, now, err := read(ctx, address, revision)
	if err != nil {
		return nil, "", fmt.Errorf("catalog service %s: %w", address, err)
	}
	return found, now, nil
}

// http reads a catalog from catalogd.
func (c *Client) http(ctx context.Context, address, revision string) (*catalog.Catalog, string, error) {
	var with http.Client
	if c.options.HTTP != nil {
		with = *c.options.HTTP
	}
	left := bounded{with.Transport, c.options.MaxSize}
	with.Transport = left
	client := serve.Client{URL: address, HTTP: &with}
	found, now, err := client.Changed(ctx, revision)
	if err != nil {
		return nil, "", err
	}
	return found, now, nil
}

// bounded lets only so many bytes of an answer through.
type bounded struct {
	inner http.RoundTripper
	max   int64
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := b.inner
	if inner == nil {
		inner = http.DefaultTransport
	}
	answer, err := inner.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{answer.Body, b.max, b.max}
	}
	return answer, err
}

// limited is a body of which only so much may be read.
type limited struct {
	io.ReadCloser
	left, max int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.max)
	}
	return n, err
}

func tooLarge(most int64) error {
	return &fairlead.InputLimitError{What: "size of a served catalog in bytes", Max: most}
}

// errHalf says that what was read is not one catalog.
var errHalf = errors.New("its catalog has changed while it was read: read it again")
