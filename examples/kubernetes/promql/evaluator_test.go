package promql_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/kubernetes/promql"
)

// answering serves one body with one status to all requests.
func answering(tb testing.TB, status int, body string) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// vector returns the body of an answer with samples of these values.
func vector(values ...string) string {
	var list []string
	for i, v := range values {
		list = append(list, fmt.Sprintf(`{"metric":{"n":"%d"},"value":[1700000000,%q]}`, i, v))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(list, ",") + `]}}`
}

func evaluator(tb testing.TB, address string, opts *promql.Options) *promql.Evaluator {
	tb.Helper()
	e, err := promql.New(address, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

var risky = graph.Rule{Type: graph.RulePromQL, Query: "max(risky)"}

// Only a single sample of 1 or 0 decides; everything else is an error with a
// distinguishable reason and a message.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		match  bool
		reason promql.Reason
		says   string
	}{
		{name: "one", status: 200, body: vector("1"), match: true},
		{name: "one as a fraction", status: 200, body: vector("1.0"), match: true},
		{name: "zero", status: 200, body: vector("0"), match: false},
		{name: "minus zero", status: 200, body: vector("-0"), match: false},
		{name: "none", status: 200, body: vector(), reason: promql.Answer, says: "no samples"},
		{name: "null", status: 200, body: `{"status":"success","data":{"resultType":"vector","result":null}}`, reason: promql.Server, says: "cannot be read"},
		{name: "two", status: 200, body: vector("1", "1"), reason: promql.Answer, says: "2 samples"},
		{name: "NaN", status: 200, body: vector("NaN"), reason: promql.Answer, says: "NaN"},
		{name: "infinite", status: 200, body: vector("+Inf"), reason: promql.Answer, says: "+Inf"},
		{name: "two as a value", status: 200, body: vector("2"), reason: promql.Answer, says: "value: 2"},
		{name: "nearly one", status: 200, body: vector("0.9999999999999999"), reason: promql.Answer, says: "0.9999999999999999"},
		{name: "scalar", status: 200, body: `{"status":"success","data":{"resultType":"scalar","result":[1700000000,"1"]}}`, reason: promql.Answer, says: "a scalar"},
		{name: "string", status: 200, body: `{"status":"success","data":{"resultType":"string","result":[1700000000,"1"]}}`, reason: promql.Server, says: "string"},
		{name: "matrix", status: 200, body: `{"status":"success","data":{"resultType":"matrix","result":[]}}`, reason: promql.Answer, says: "a matrix"},
		{name: "histogram", status: 200, body: `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1700000000,{"count":"1","sum":"1","buckets":[]}]}]}}`, reason: promql.Answer, says: "a histogram"},
		{name: "warnings", status: 200, body: strings.Replace(vector("0"), `"data"`, `"warnings":["store\n  x is away"],"data"`, 1), reason: promql.Answer, says: "store x is away"},
		{name: "no data", status: 200, body: `{"status":"success"}`, reason: promql.Server, says: "cannot be read"},
		{name: "empty", status: 200, body: ``, reason: promql.Server, says: "not serve the Prometheus API"},
		{name: "a page", status: 200, body: `<html>sign in</html>`, reason: promql.Server, says: "not serve the Prometheus API"},
		{name: "cut short", status: 200, body: vector("1")[:40], reason: promql.Server, says: "not serve the Prometheus API"},
		{name: "no content", status: 204, body: ``, reason: promql.Server, says: "cannot be read"},
		{name: "bad query", status: 400, body: `{"status":"error","errorType":"bad_data","error":"parse error at 1:4"}`, reason: promql.Query, says: "parse error at 1:4"},
		{name: "bad execution", status: 422, body: `{"status":"error","errorType":"execution","error":"many-to-many"}`, reason: promql.Query, says: "many-to-many"},
		{name: "success that is none", status: 400, body: vector("0"), reason: promql.Server, says: "inconsistent"},
		{name: "no token", status: 401, body: `Unauthorized`, reason: promql.Access, says: "TokenFile"},
		{name: "no right", status: 403, body: `{"status":"error","errorType":"forbidden","error":"no"}`, reason: promql.Access, says: "TokenFile"},
		{name: "not there", status: 404, body: `404 page not found`, reason: promql.Server, says: "404"},
		{name: "gave up", status: 503, body: `{"status":"error","errorType":"timeout","error":"query timed out"}`, reason: promql.Timeout, says: "query timed out"},
		{name: "failed", status: 500, body: `oh`, reason: promql.Server, says: "500: oh"},
		{name: "behind a proxy", status: 502, body: strings.Repeat("<p>bad gateway</p>\n", 1000), reason: promql.Server, says: "502"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := answering(t, test.status, test.body)
			match, err := evaluator(t, server, nil).Evaluate(t.Context(), risky)
			if test.reason == "" {
				if err != nil || match != test.match {
					t.Fatalf("%v, %v; want %v", match, err, test.match)
				}
				return
			}
			var e *promql.Error
			if match || !errors.As(err, &e) || e.Reason != test.reason || e.Rule != risky || e.Server != server {
				t.Fatalf("%v, %+v; want an error of the kind %s", match, err, test.reason)
			}
			if s := err.Error(); !strings.Contains(s, test.says) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 600 {
				t.Errorf("the error says %q (%d bytes); want one line with %q", s, len(s), test.says)
			}
		})
	}
}

// Rules that are not for Prometheus are not sent to it, and Always needs no
// server.
func TestRules(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	defer server.Close()
	e := evaluator(t, server.URL, nil)
	if match, err := e.Evaluate(t.Context(), graph.Rule{Type: graph.RuleAlways}); !match || err != nil {
		t.Errorf("Always: %v, %v", match, err)
	}
	for _, rule := range []graph.Rule{
		{},
		{Type: graph.RuleCEL, Query: "true"},
		{Type: graph.RulePromQL},
		{Type: graph.RulePromQL, Query: " \n"},
		{Type: graph.RulePromQL, Other: `{"type":"PromQL"}`},
		{Type: graph.RuleAlways, Other: `{"type":"Always","promql":{}}`},
		{Type: "Sorcery", Other: `{"type":"Sorcery"}`},
	} {
		match, err := e.Evaluate(t.Context(), rule)
		var failed *promql.Error
		if match || !errors.As(err, &failed) || failed.Reason != promql.Rule {
			t.Errorf("%+v: %v, %v; want an error of the kind Rule", rule, match, err)
		}
	}
}

// The query is sent as it is, except for the cluster ID if one is given.
func TestQuerySent(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // for a server that accepts queries only by GET, the request is repeated
			http.Error(w, "", http.StatusMethodNotAllowed)
			return
		}
		got = r.URL.Path + " " + r.FormValue("query") + " " + r.FormValue("timeout") + r.FormValue("time")
		fmt.Fprint(w, vector("0"))
	}))
	defer server.Close()
	rule := graph.Rule{Type: graph.RulePromQL, Query: `up{_id="",x="_id"} + on (_id) y{_id=""}`}
	for id, want := range map[string]string{
		"":    `/at/api/v1/query up{_id="",x="_id"} + on (_id) y{_id=""} 2s`,
		"a-b": `/at/api/v1/query up{_id="a-b",x="_id"} + on (_id) y{_id="a-b"} 2s`,
	} {
		e := evaluator(t, server.URL+"/at/", &promql.Options{ClusterID: id, Timeout: 2 * time.Second})
		if _, err := e.Evaluate(t.Context(), rule); err != nil || got != want {
			t.Errorf("cluster %q: %v\ngot  %s\nwant %s", id, err, got, want)
		}
	}
}

// Addresses and options that cannot work are refused at once.
func TestNewRefuses(t *testing.T) {
	for _, address := range []string{"", "prometheus:9090", "ftp://host", "http://", "http://host?x=1", "http://host/#x", "http://a b", "://"} {
		if _, err := promql.New(address, nil); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	if _, err := promql.New("http://host", &promql.Options{CAFile: "x", Transport: http.DefaultTransport}); err == nil {
		t.Error("a CAFile is taken where the transport is given")
	}
	_, err := promql.New("gopher://me:secret@host", nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error contains the password: %v", err)
	}
}

// The token is sent, and a new one is used for the next query.
func TestTokenReadAnew(t *testing.T) {
	var want atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want.Load() {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, vector("1"))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	e := evaluator(t, server.URL, &promql.Options{TokenFile: file})
	fails := func(what string) {
		t.Helper()
		var failed *promql.Error
		if _, err := e.Evaluate(t.Context(), risky); !errors.As(err, &failed) || failed.Reason != promql.File {
			t.Errorf("with %s: %v; want an error of the kind File", what, err)
		} else if strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("the error contains the token: %v", err)
		}
	}
	fails("no file")
	want.Store("Bearer first")
	for token, what := range map[string]string{"": "an empty file", " \n": "blanks", "s3cr3t\ns3cr3t": "two lines", "s3cr3t\x00": "a zero byte"} {
		write(t, file, token)
		fails(what)
	}
	for _, token := range []string{"first", "second"} {
		want.Store("Bearer " + token)
		write(t, file, token+"\n")
		if match, err := e.Evaluate(t.Context(), risky); !match || err != nil {
			t.Errorf("with the %s token: %v, %v", token, match, err)
		}
	}
	want.Store("Bearer third")
	var failed *promql.Error
	if _, err := e.Evaluate(t.Context(), risky); !errors.As(err, &failed) || failed.Reason != promql.Access || !strings.Contains(err.Error(), file) {
		t.Errorf("with an old token: %v; want an error of the kind Access that names the file", err)
	}
}

func write(tb testing.TB, file, text string) {
	tb.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// Only the CA file makes the server trusted, and it is read again.
func TestCAReadAnew(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, vector("1")) }))
	server.Config.ErrorLog = quiet(t)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.crt")
	e := evaluator(t, server.URL, &promql.Options{CAFile: file})
	kind := func() promql.Reason {
		var failed *promql.Error
		if _, err := e.Evaluate(t.Context(), risky); errors.As(err, &failed) {
			return failed.Reason
		} else if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if got := kind(); got != promql.File {
		t.Errorf("without the file: %q", got)
	}
	write(t, file, "no PEM")
	if got := kind(); got != promql.File {
		t.Errorf("with a file that is none: %q", got)
	}
	write(t, file, otherCA)
	if got := kind(); got != promql.Connect {
		t.Errorf("with another authority: %q", got)
	}
	write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	if got := kind(); got != "" {
		t.Errorf("with the right authority: %q", got)
	}
	write(t, file, otherCA)
	if got := kind(); got != promql.Connect {
		t.Errorf("after the authority changed: %q", got)
	}
	if _, err := evaluator(t, server.URL, nil).Evaluate(t.Context(), risky); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("without a CA file: %v", err)
	}
}

// A slow server takes no longer than the time limit, and the end of the
// caller's context is returned as it is.
func TestTimeLimits(t *testing.T) {
	for _, late := range []string{"headers", "body"} {
		release, begun := make(chan struct{}), make(chan struct{}, 8)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if late == "body" {
				fmt.Fprint(w, `{"status":`)
				w.(http.Flusher).Flush()
			}
			begun <- struct{}{}
			<-release
		}))
		var failed *promql.Error
		_, err := evaluator(t, server.URL, &promql.Options{Timeout: 50 * time.Millisecond}).Evaluate(t.Context(), risky)
		if !errors.As(err, &failed) || failed.Reason != promql.Timeout || !strings.Contains(err.Error(), "50ms") {
			t.Errorf("late %s: %v; want an error of the kind Timeout", late, err)
		}
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		if _, err := evaluator(t, server.URL, &promql.Options{Timeout: time.Hour}).Evaluate(ctx, risky); err != context.Canceled {
			t.Errorf("late %s, cancelled: %v; want %v", late, err, context.Canceled)
		}
		close(release)
		server.Close()
	}
}

// A huge answer is not read completely.
func TestAnswerLimit(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := strings.Repeat(" ", 64<<10)
		for range 4096 {
			n, err := fmt.Fprint(w, chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	defer server.Close()
	var failed *promql.Error
	var limit *promql.LimitError
	_, err := evaluator(t, server.URL, nil).Evaluate(t.Context(), risky)
	if !errors.As(err, &failed) || failed.Reason != promql.Limit || !errors.As(err, &limit) || limit.Limit != 1<<20 {
		t.Fatalf("%v; want an error of the kind Limit", err)
	}
	server.Close()
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d bytes were sent of which 1 MiB is read", n)
	}
	exact := vector("1")
	for extra, want := range map[int]bool{0: true, -1: false} {
		_, err := evaluator(t, answering(t, 200, exact), &promql.Options{MaxAnswer: int64(len(exact) + extra)}).Evaluate(t.Context(), risky)
		if (err == nil) != want {
			t.Errorf("an answer of %d bytes, where %d are allowed: %v", len(exact), len(exact)+extra, err)
		}
	}
}

// A redirect is not followed: the token stays where it belongs.
func TestNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	write(t, file, "secret")
	_, err := evaluator(t, server.URL, &promql.Options{TokenFile: file}).Evaluate(t.Context(), risky)
	if err == nil || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("%v; want an error that names %s", err, other.URL)
	}
}

// A server that does not listen, and one that closes the connection: the error
// is the same each time, so that a condition that shows it does not change.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangs.Close()
	resets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}))
	defer resets.Close()
	for _, address := range []string{"http://" + l.Addr().String(), hangs.URL, resets.URL} {
		var texts []string
		for range 2 {
			var failed *promql.Error
			_, err := evaluator(t, address, nil).Evaluate(t.Context(), risky)
			if !errors.As(err, &failed) || failed.Reason != promql.Connect {
				t.Fatalf("%s: %v; want an error of the kind Connect", address, err)
			}
			texts = append(texts, err.Error())
		}
		if texts[0] != texts[1] {
			t.Errorf("the error changes:\n%s\n%s", texts[0], texts[1])
		}
	}
}

// updates returns two updates with one rule in common.
func updates(queries ...string) []graph.Update {
	var list []graph.Update
	for i, q := range queries {
		list = append(list, graph.Update{
			Release: graph.Release{Version: fmt.Sprintf("4.19.%d", i)},
			Risks: []graph.Risk{{
				Name: "SlowDisks", URL: "https://example.com/slow", Message: "Slow disks stop etcd.",
				MatchingRules: []graph.Rule{{Type: graph.RulePromQL, Query: q}},
			}},
		})
	}
	return list
}

// With the graph: equal rules are evaluated once, failures become Unknown
// with the reason EvaluationFailed, and nothing is evaluated again too early.
func TestWithGraph(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		q := r.FormValue("query")
		asked[q]++
		switch q {
		case "one":
			fmt.Fprint(w, vector("1"))
		case "zero":
			fmt.Fprint(w, vector("0"))
		default:
			http.Error(w, "down", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	e := evaluator(t, server.URL, nil)
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	list := updates("one", "zero", "broken", "one")
	known, wake := graph.Evaluations{}.Evaluate(t.Context(), e, list, clock, nil)
	want := []string{"False SlowDisks", "True NotExposedToRisks", "Unknown EvaluationFailed", "False SlowDisks"}
	for i, u := range list {
		r := known.Recommend(u, nil)
		if got := string(r.Status) + " " + r.Reason; got != want[i] {
			t.Errorf("%s: %s; want %s", u.Risks[0].MatchingRules[0].Query, got, want[i])
		}
		if i == 2 && !strings.Contains(r.Message, "Could not evaluate exposure to update risk SlowDisks (Prometheus at "+server.URL+": it failed: server error: 500: down)") {
			t.Errorf("the message is %q", r.Message)
		}
	}
	again, _ := known.Evaluate(t.Context(), e, list, clock, nil)
	if asked["one"] != 1 || asked["zero"] != 1 || asked["broken"] != 1 {
		t.Errorf("asked: %v; want each query once", asked)
	}
	clock.Advance(time.Minute) // when a failed rule is due
	_, _ = again.Evaluate(t.Context(), e, list, clock, nil)
	if asked["one"] != 1 || asked["broken"] != 2 {
		t.Errorf("asked: %v after a minute; want the broken one twice", asked)
	}
	if !wake.IsZero() && wake.Before(clock.Now().Add(-time.Minute)) {
		t.Errorf("wake is in the past: %s", wake)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if next, _ := (graph.Evaluations{}).Evaluate(ended, e, list, clock, nil); len(next.List) != 0 {
		t.Errorf("something was learnt after the end of the context: %+v", next)
	}
}
