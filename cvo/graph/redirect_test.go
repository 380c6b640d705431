package graph_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
)

// The identity of a cluster, which is in the query, does not get to another host, neither in a
// redirect nor in its Referer. Redirects within a host are followed, without a Referer.
func TestFetchRedirects(t *testing.T) {
	const cluster = "01234567-0123-0123-0123-0123456789ab"
	var asked []string
	var address string
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()+" "+r.Referer())
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, strings.Replace(address, "127.0.0.1", "localhost", 1)+"/graph?"+r.URL.RawQuery, http.StatusFound)
		case "/within":
			http.Redirect(w, r, "/graph?"+r.URL.RawQuery, http.StatusFound)
		default:
			_, _ = w.Write([]byte(`{"nodes":[{"version":"4.1.0"}],"edges":[]}`))
		}
	})
	s := httptest.NewServer(answer)
	defer s.Close()
	address = s.URL
	q := &graph.Query{Channel: "stable", Architecture: "amd64", Current: "amd64", Cluster: cluster, Version: "4.1.0"}

	q.Upstream = s.URL + "/away"
	if _, _, err := q.Fetch(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "redirects") || len(asked) != 1 {
		t.Errorf("another host: %v, asked %q", err, asked)
	}
	asked = nil
	q.Upstream = s.URL + "/within"
	if _, _, err := q.Fetch(t.Context(), nil, nil); err != nil || len(asked) != 2 || strings.Contains(asked[1], "/within") {
		t.Errorf("the same host: %v, asked %q", err, asked)
	}
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if _, _, err := q.Fetch(t.Context(), own, nil); err == nil {
		t.Error("the client's own rule does not count")
	}
}
