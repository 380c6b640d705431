package serve

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// Client reads a catalog service.
type Client struct {
	// URL is the address of one catalog, up to /api, such as
	// https://catalogd.example/catalogs/community.
	URL string
	// HTTP makes the requests. Default http.DefaultClient.
	HTTP *http.Client
	// Options are the limits of documents; nil is the default.
	Options *catalog.Options
}

// StatusError is an unexpected HTTP status.
type StatusError struct {
	URL    string // of the request
	Status string // such as "404 Not Found"
}

// Error names the URL and the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("catalog: %s answers %s: is it the address of a catalog, up to /api?", e.URL, e.Status)
}

// Metas returns the documents with a schema, package and name, where "" stands
// for any, as the service sends them: errors are those of [catalog.Decode], or a
// *StatusError.
func (c *Client) Metas(ctx context.Context, schema, pkg, name string) iter.Seq2[*catalog.Document, error] {
	values := url.Values{}
	for key, value := range map[string]string{"schema": schema, "package": pkg, "name": name} {
		if value != "" {
			values.Set(key, value)
		}
	}
	path := "/api/v1/metas"
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return c.stream(ctx, path, nil, "")
}

// Catalog reads the whole catalog into memory. Faults in documents are returned
// as [catalog.Diagnostics], together with the catalog of the documents without
// faults.
func (c *Client) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	read, _, err := c.Changed(ctx, "")
	return read, err
}

// Changed is like [Client.Catalog], but takes the ETag that an earlier call
// returned, or "". If the catalog has not changed since, it is not sent, and nil
// is returned.
func (c *Client) Changed(ctx context.Context, tag string) (changed *catalog.Catalog, next string, err error) {
	var documents []*catalog.Document
	var faults catalog.Diagnostics
	for d, err := range c.stream(ctx, "/api/v1/all", func(answer *http.Response) { next = answer.Header.Get("ETag") }, tag) {
		fault, ok := err.(*catalog.Diagnostic) //nolint:errorlint // Decode yields them as they are
		switch {
		case ok:
			faults = append(faults, fault)
		case err == errUnchanged:
			return nil, tag, nil
		case err != nil:
			return nil, "", err
		default:
			documents = append(documents, d)
		}
	}
	return catalog.New(documents), next, faults.Sorted().Err()
}

// unchanged means that the catalog is that of the ETag.
type unchanged struct{}

func (unchanged) Error() string { return "the catalog is unchanged" }

var errUnchanged error = unchanged{}

// stream yields the documents of a path, or errUnchanged if a tag is given and
// has not changed. begun is called with the response, unless it is nil.
func (c *Client) stream(ctx context.Context, path string, begun func(*http.Response), tag string) iter.Seq2[*catalog.Document, error] {
	return func(yield func(*catalog.Document, error) bool) {
		address := strings.TrimSuffix(c.URL, "/") + path
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		client := c.HTTP
		if client == nil {
			client = http.DefaultClient
		}
		answer, err := client.Do(request)
		if err != nil {
			yield(nil, err)
			return
		}
		defer answer.Body.Close()
		if tag != "" && answer.StatusCode == http.StatusNotModified {
			yield(nil, errUnchanged)
			return
		}
		if answer.StatusCode != http.StatusOK {
			yield(nil, &StatusError{address, answer.Status})
			return
		}
		if begun != nil {
			begun(answer)
		}
		for d, err := range catalog.Decode(answer.Body, c.Options) {
			if !yield(d, err) {
				return
			}
		}
	}
}
