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

// Store contains signatures. It must be safe for concurrent use.
type Store interface {
	// Name identifies the store in messages.
	Name() string
	// Signatures yields the signatures for a valid digest, each with its name.
	// An error takes the place of a signature that could not be read; then it
	// continues with the next one, if there may be one. It must return soon
	// after ctx ends.
	Signatures(ctx context.Context, digest string) iter.Seq2[Signature, error]
}

// Signature is one signature of a store.
type Signature struct {
	Name    string // in the store
	Message []byte // an OpenPGP message; nil if it could not be read
}

// lastNumber is the number of the last signature that a numbered store may have
// for one digest.
const lastNumber = 9

// numbered is a store whose signatures are numbered from 1.
type numbered struct {
	name string
	// get returns the signature at a path below the store, or errNone.
	get     func(ctx context.Context, path string) ([]byte, error)
	timeout time.Duration // for all signatures of a digest
}

// errNone reports that a numbered store has no signature with a number.
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

// HTTPOptions configures a store on a web server. Nil means the zero value.
type HTTPOptions struct {
	// CA contains the trusted certificate authorities, in PEM format; empty
	// means those of the system.
	CA []byte
	// Timeout limits the time for one digest, for all its signatures
	// together; default 30 seconds.
	Timeout time.Duration
	// Transport makes the requests; nil means a default one. CA must be empty if
	// it is set.
	Transport http.RoundTripper
}

// Open returns the store at an address: http, https, or file for a directory,
// which may be relative, as in file://signatures. The error reports an invalid
// address or invalid options.
func Open(address string, opts *HTTPOptions) (Store, error) {
	if opts == nil {
		opts = &HTTPOptions{}
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // the rest is the address, which may contain a password
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
		return nil, fmt.Errorf("the address of a signature store is %q: write it with http, https or file, and its location, as in https://mirror.example/signatures", u.Redacted())
	}
	return s, nil
}

// readFile reads a signature from a file. Only regular files are opened,
// because opening others, such as pipes, may block forever.
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

// readMessage reads a signature, up to the size limit.
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
			return nil, errors.New("the options have a CA and a Transport, which determines what is trusted: leave out one of them")
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
			return nil, errors.New("its certificate authorities contain no certificate in PEM format")
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	client.Transport = transport
	return client, nil
}

// redirect allows a few redirects, but none from https to http.
func redirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 5:
		return errors.New("it redirects more than 5 times")
	case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("it redirects from https to %s", req.URL.Redacted())
	}
	req.Header.Del("Referer") // others need not know where releases come from
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
		return nil, wrapped.Err // the address is already in the message
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
