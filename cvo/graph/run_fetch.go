//go:build !nohttp

package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fairlead/fairlead/internal/doc"
)

// Fetch queries the update service. The findings are what is wrong with its
// graph; what is valid counts. A nil client is [http.DefaultClient], nil
// options mean the defaults. The error is a [*FetchError]; pass its Failure to
// [FetchState.Fetched]. ctx limits how long it may take. The query identifies the
// cluster, so redirects to other hosts are not followed, nor from https to http,
// and the client's CheckRedirect decides only about the others.
func (q *Query) Fetch(ctx context.Context, client *http.Client, opts *Options) (*Updates, Diagnostics, error) {
	where, err := q.URL()
	if err != nil {
		return nil, nil, err
	}
	if client == nil {
		client = http.DefaultClient
	}
	if opts == nil {
		opts = &Options{}
	}
	text, err := get(ctx, client, where, opts.size())
	if err != nil {
		return nil, nil, err
	}
	g, found := Parse(text, opts)
	if g == nil {
		err := found.Err()
		return nil, found, &FetchError{Failure: ResponseInvalid, Message: err.Error(), Err: err}
	}
	u, err := q.Updates(g)
	return u, found, err
}

// sameHost allows redirects within a host, without a Referer, if next does.
func sameHost(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		switch {
		case req.URL.Host != from.Host, from.Scheme == "https" && req.URL.Scheme != "https":
			return fmt.Errorf("it redirects to %s://%s, which would learn the identity of the cluster: set the upstream to the service itself", req.URL.Scheme, req.URL.Host)
		case next == nil && len(via) >= 10:
			return errors.New("it redirects 10 times")
		}
		req.Header.Del("Referer")
		if next != nil {
			return next(req, via)
		}
		return nil
	}
}

// get fetches a document.
func get(ctx context.Context, client *http.Client, where string, limit int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, &FetchError{Failure: InvalidURI, Message: err.Error(), Err: err}
	}
	req.Header.Set("Accept", "application/json")
	own := *client
	own.CheckRedirect = sameHost(client.CheckRedirect)
	resp, err := own.Do(req)
	if err != nil {
		return nil, &FetchError{Failure: RemoteFailed, Message: err.Error(), Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &FetchError{Failure: ResponseFailed, Message: fmt.Sprintf("unexpected HTTP status: %s", resp.Status)}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil {
		return nil, &FetchError{Failure: ResponseFailed, Message: err.Error(), Err: err}
	}
	if len(text) > limit {
		err := &LimitError{What: doc.SizeLimit, Max: int64(limit)}
		return nil, &FetchError{Failure: ResponseInvalid, Message: err.Error() + "; raise Options.Size", Err: err}
	}
	return text, nil
}
