package registry

import (
	"io"
	"net/http"
	"strings"

	"github.com/fairlead/fairlead"
)

// small is a transport that limits all answers except blobs, whose size is in
// the manifest: neither a manifest nor a token is large.
type small struct{ http.RoundTripper }

func (s small) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(r)
	if err == nil && !strings.Contains(r.URL.Path, "/blobs/") {
		answer.Body = &bounded{answer.Body, maxDocument}
	}
	return answer, err
}

// bounded is a body with a size limit.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &fairlead.InputLimitError{What: "size in bytes of an answer from the registry", Max: maxDocument}
	}
	return n, err
}
