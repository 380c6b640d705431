package graph_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/golden"
)

// service answers every request with one text, and notes what was asked.
type service struct {
	status string // such as "404 Not Found"; empty for success
	down   bool
	body   string
	asked  *http.Request
}

// RoundTrip implements http.RoundTripper.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = r
	if s.down {
		return nil, errors.New("no route to host")
	}
	resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(strings.NewReader(s.body)), Header: http.Header{}, Request: r}
	if s.status != "" {
		resp.Status = s.status
		_, _ = fmt.Sscan(s.status, &resp.StatusCode)
	}
	return resp, nil
}

// fetch asks a service that answers with the input:
//
//	fetch [version=V] [arch=A] [current=A] [channel=C] [id=UUID] [upstream=URL] [status=(CODE,TEXT)] [down] [size]
func fetch(w *golden.Words, c *golden.Command) string {
	or := func(key, otherwise string) string {
		if c.Has(key) {
			return c.Value(key)
		}
		return otherwise
	}
	q := &graph.Query{
		Upstream: or("upstream", "https://updates.example/graph"), Channel: or("channel", "test-channel"),
		Architecture: or("arch", "test-arch"), Current: or("current", or("arch", "test-arch")),
		Cluster: or("id", "01234567-0123-0123-0123-0123456789ab"), Version: or("version", "4.1.0"),
	}
	s := &service{status: strings.Join(c.Values("status"), " "), down: c.Has("down"), body: c.Input}
	opts := &graph.Options{}
	if c.Has("size") {
		opts.Size = 20
	}
	u, found, err := q.Fetch(context.Background(), &http.Client{Transport: s}, opts)
	var out strings.Builder
	if s.asked != nil {
		fmt.Fprintf(&out, "%s %s (%s)\n", s.asked.Method, s.asked.URL, s.asked.Header.Get("Accept"))
	}
	var failed *graph.FetchError
	if errors.As(err, &failed) {
		fmt.Fprintln(&out, string(failed.Failure)+w.Data(string(failed.Failure), failed.Message))
		return out.String()
	} else if err != nil {
		return "an error of another type: " + err.Error()
	}
	for _, d := range found {
		fmt.Fprintln(&out, diagnostic(w, d))
	}
	one := func(kind string, r graph.Release, risks []graph.Risk) {
		fmt.Fprintf(&out, "%s %s %s %s [%s]\n", kind, r.Version, r.Payload, r.URL(), strings.Join(r.Channels(), " "))
		for _, r := range risks {
			fmt.Fprintf(&out, "  %s %s %s\n", r.Name, r.URL, r.Message)
			for _, m := range r.MatchingRules {
				fmt.Fprintln(&out, strings.TrimRight("    "+m.Type+" "+m.Query+m.Other, " "))
			}
		}
	}
	one("current", u.Current, nil)
	for _, to := range u.Available {
		one("available", to.Release, nil)
	}
	for _, to := range u.Conditional {
		one("conditional", to.Release, to.Risks)
	}
	return out.String()
}
