package signature

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Store is where signatures are. It is safe for concurrent use.
type Store interface {
	// Name tells the store from others, in messages.
	Name() string
	// Signatures yields what the store has for a digest that has the form of
	// one, each with its name. An error stands for a signature that it could not
	// get; then it goes on with the next one, if there may be one. It must
	// return soon after ctx ends.
	Signatures(ctx context.Context, digest string) iter.Seq2[Signature, error]
}

// Signature is one signature of a store.
type Signature struct {
	Name    string // in the store
	Message []byte // an OpenPGP message; nil when it could not be had
}

// lastNumber is the number of the last signature that a numbered store may have
// for one digest.
const lastNumber = 9

// numbered is a store whose signatures have numbers, from 1 on.
type numbered struct {
	name string
	// get returns the signature at a path below the store, or errNone.
	get     func(ctx context.Context, path string) ([]byte, error)
	timeout time.Duration // for all of a digest
}

// errNone says that a numbered store has no signature of a number.
var errNone = errors.New("there is no such signature")

func (s *numbered) Name() string { return s.name }

func (s *numbered) Signatures(ctx context.Context, digest string) iter.Seq2[Signature, error] {
	return func(yield func(Signature, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		algorithm, hash, _ := strings.Cut(digest, ":")
		for i := 1; i <= lastNumber; i++ {
			sig := Signature{Name: "signature-" + strconv.Itoa(i)}
			var err error
			sig.Message, err = s.get(ctx, algorithm+"="+hash+"/"+sig.Name)
			if err == errNone {
				return
			}
			if !yield(sig, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// HTTPOptions say how a store on a web server is asked. Nil is the zero value.
type HTTPOptions struct {
	// CA are the certificates, as PEM, that the server's one must go back to;
	// empty for those of the system.
	CA []byte
	// Timeout is the longest that the store may take for one digest, all its
	// signatures together; default 30 seconds.
	Timeout time.Duration
	// Transport carries the requests in place of one made here. CA must be empty
	// with it.
	Transport http.RoundTripper
}

// Open returns the store at an address: http, https, or file for a directory,
// which may be relative, as in file://signatures. The error says what is wrong
// with the address or the options.
func Open(address string, opts *HTTPOptions) (Store, error) {
	if opts == nil {
		opts = &HTTPOptions{}
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // the rest is the address, which may have a password
	}
	if err != nil {
		return nil, fmt.Errorf("the address of a signature store cannot be read: %w; write it as in https://mirror.example/signatures", err)
	}
	s := &numbered{name: u.Redacted(), timeout: opts.Timeout}
	if s.timeout <= 0 {
		s.timeout = 30 * time.Second
	}
	switch {
	case u.Scheme == "file" && u.Host+u.Path != "":
		dir := filepath.Join(u.Host, filepath.FromSlash(u.Path))
		s.get = func(_ context.Context, path string) ([]byte, error) {
			return readFile(filepath.Join(dir, filepath.FromSlash(path)))
		}
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		client, err := newClient(opts)
		if err != nil {
			return nil, fmt.Errorf("the signature store %s: %w", s.name, err)
		}
		s.get = func(ctx context.Context, path string) ([]byte, error) {
			return fetch(ctx, client, u.JoinPath(path).String())
		}
	default:
		return nil, fmt.Errorf("the address of a signature store is %q: write http, https or file, and where it is, as in https://mirror.example/signatures", u.Redacted())
	}
	return s, nil
}

// readFile reads a signature from a file. What is not a regular file, such as a
// pipe, is not opened, for that may take forever.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMessage(f)
}

// readMessage reads a signature, and no more than one may have.
func readMessage(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxMessage+1))
	if len(data) > maxMessage {
		return nil, failure(Limit, "it has more than %d bytes", maxMessage)
	}
	return data, err
}

// newClient returns the client for a store.
func newClient(opts *HTTPOptions) (*http.Client, error) {
	client := &http.Client{Transport: opts.Transport, CheckRedirect: redirect}
	if opts.Transport != nil {
		if len(opts.CA) > 0 {
			return nil, errors.New("the options have a CA and a Transport, which then decides what is trusted: leave out one")
		}
		return client, nil
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	if len(opts.CA) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(opts.CA) {
			return nil, errors.New("its certificate authorities hold no certificate as PEM")
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	client.Transport = transport
	return client, nil
}

// redirect allows a few, and none from https to http.
func redirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 5:
		return errors.New("it redirects more than 5 times")
	case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("it redirects from https to %s", req.URL.Redacted())
	}
	return nil
}

// fetch gets a signature from a web server.
func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return nil, wrapped.Err // the address is said already
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return readMessage(resp.Body)
	case http.StatusNotFound, http.StatusGone:
		return nil, errNone
	}
	return nil, fmt.Errorf("the server answers %s", resp.Status)
}
