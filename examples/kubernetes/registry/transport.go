package registry

import (
	"io"
	"net/http"
	"regexp"

	"github.com/fairlead/fairlead"
)

// small is a transport that limits answers by the kind of request: a blob may be as large as an
// image, whose manifest says more precisely how large; nothing else is large, be it a manifest, a
// token, or an error.
type small struct {
	http.RoundTripper
	blob int64 // the limit of a blob
}

// blobPath is the path of a blob, not of another document of a repository named like one.
var blobPath = regexp.MustCompile(`^/v2/.+/blobs/[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}$`)

func (s small) RoundTrip(r *http.Request) (*http.Response, error) {
	limit := int64(maxDocument)
	if isBlob(r) {
		limit = s.blob
	}
	answer, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &bounded{answer.Body, limit, limit}
	}
	return answer, err
}

// isBlob reports whether a request is for a blob, or a redirect of one. A registry chooses where
// tokens are requested, but such a request has a query.
func isBlob(r *http.Request) bool {
	for r.Response != nil && r.Response.Request != nil {
		r = r.Response.Request
	}
	return r.Method == http.MethodGet && r.URL.RawQuery == "" && blobPath.MatchString(r.URL.Path)
}

// bounded is a body with a size limit.
type bounded struct {
	io.ReadCloser
	left, max int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &fairlead.InputLimitError{What: "size in bytes of an answer from the registry", Max: b.max}
	}
	return n, err
}
