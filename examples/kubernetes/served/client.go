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
	"github.com/fairlead/fairlead/examples/kubernetes/outbound"
)

// Options configures a [Client]. Nil means the zero value.
type Options struct {
	// MaxSize limits the bytes that a service sends for one catalog, 1 GiB by
	// default, and MaxMessage those of one gRPC message, 64 MiB by default.
	MaxSize    int64
	MaxMessage int // see MaxSize
	// Timeout limits the time for one catalog, five minutes by default.
	Timeout time.Duration
	// HTTP makes the requests to services that speak HTTP. Nil means one that obeys
	// Rules. Redirects to other hosts are not followed.
	HTTP *http.Client
	// Rules say which addresses may be dialled: by default neither those of this machine
	// nor link-local ones.
	Rules outbound.Rules
	// TLS is the configuration for gRPC. Nil means without TLS, as used by
	// catalog pods.
	TLS *tls.Config
}

// Client reads catalogs of services. It may be used by several goroutines.
type Client struct {
	options   Options
	transport http.RoundTripper // of requests over HTTP
}

// New returns a Client. options may be nil.
func New(options *Options) *Client {
	c := &Client{}
	if options != nil {
		c.options = *options
	}
	c.options.MaxSize = cmp.Or(c.options.MaxSize, 1<<30)
	c.options.MaxMessage = cmp.Or(c.options.MaxMessage, 64<<20)
	c.options.Timeout = cmp.Or(c.options.Timeout, 5*time.Minute)
	c.transport = c.options.Rules.Transport()
	if h := c.options.HTTP; h != nil && h.Transport != nil {
		c.transport = h.Transport
	} else if h != nil {
		c.transport = http.DefaultTransport
	}
	return c
}

// Catalog reads the catalog at an address: HOST:PORT of a service that speaks
// gRPC, or the URL of one that speaks HTTP, up to /api. The argument revision is
// the result of the previous call, "" for the first one. If the service still has
// the same catalog, the result is nil, with the same revision. A catalog with
// faults is an error.
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
	with.Transport, with.CheckRedirect = bounded{c.transport, c.options.MaxSize}, outbound.SameHost
	client := serve.Client{URL: address, HTTP: &with}
	found, now, err := client.Changed(ctx, revision)
	if err != nil {
		return nil, "", err
	}
	return found, now, nil
}

// bounded is a transport that limits the bytes of an answer.
type bounded struct {
	inner http.RoundTripper
	max   int64
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.inner.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{answer.Body, b.max, b.max}
	}
	return answer, err
}

// limited is a body with a size limit.
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

// errHalf reports that the data read does not form one catalog.
var errHalf = errors.New("its catalog has changed while it was read: read it again")
