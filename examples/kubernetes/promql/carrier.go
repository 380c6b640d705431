package promql

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// carrier is the evaluator as a transport for its requests: it adds the
// token, and limits the answer.
type carrier Evaluator

// RoundTrip makes one request.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	transport, err := c.transport()
	if err != nil {
		return nil, fileError{err}
	}
	if c.opts.TokenFile != "" {
		token, err := readToken(c.opts.TokenFile)
		if err != nil {
			return nil, fileError{err}
		}
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limited{ReadCloser: resp.Body, limit: c.opts.MaxAnswer, left: c.opts.MaxAnswer}
	return resp, nil
}

// readToken returns the token in a file. The error never contains the token.
func readToken(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("the bearer token cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", fmt.Errorf("the bearer token file %s is empty", name)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("the bearer token file %s contains more than one word of ASCII", name)
	}
	return token, nil
}

// transport returns the transport for requests. After the certificates have
// changed it is a new one.
func (c *carrier) transport() (http.RoundTripper, error) {
	if c.opts.Transport != nil {
		return c.opts.Transport, nil
	}
	var pem []byte
	if c.opts.CAFile != "" {
		var err error
		if pem, err = os.ReadFile(c.opts.CAFile); err != nil {
			return nil, fmt.Errorf("the certificate authorities cannot be read: %w", err)
		}
	}
	c.trust.mu.Lock()
	defer c.trust.mu.Unlock()
	if c.trust.with != nil && bytes.Equal(pem, c.trust.pem) {
		return c.trust.with, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.opts.CAFile != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the certificate authority file %s contains no certificate in PEM format", c.opts.CAFile)
		}
	}
	if c.trust.with != nil {
		c.trust.with.CloseIdleConnections()
	}
	c.trust.pem, c.trust.with = pem, &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16, // the size of a burst of the graph
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return c.trust.with, nil
}

// noRedirect refuses to follow a redirect.
func noRedirect(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it redirects to %s, which is not followed: use that address instead, if it is the right server", req.URL.Redacted())
}

// limited is a body with a size limit.
type limited struct {
	io.ReadCloser
	limit, left int64
}

// Read returns a *LimitError beyond the limit.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, &LimitError{Limit: l.limit}
	}
	return n, err
}
