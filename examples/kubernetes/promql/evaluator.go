package promql

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// Options configures an Evaluator. Nil means the zero value.
type Options struct {
	// TokenFile is the file with the bearer token to send; empty means none. It
	// is read for each query.
	TokenFile string
	// CAFile is the file with the trusted certificate authorities, in PEM
	// format; empty means those of the system. It is read for each query.
	CAFile string
	// Timeout limits the time of one query; default 30 seconds. The
	// cluster-version operator waits for 5 minutes.
	Timeout time.Duration
	// MaxAnswer limits the size of an answer in bytes, decompressed; default
	// 1 MiB. An answer that decides has a few hundred.
	MaxAnswer int64
	// ClusterID is inserted into queries: _id="" becomes _id="<ClusterID>". It
	// is for a server with the metrics of several clusters, as with hosted
	// control planes. Empty leaves queries as they are.
	ClusterID string
	// Transport makes the requests. Nil means a default one, which takes its
	// proxy from the environment. CAFile must be empty if it is set.
	Transport http.RoundTripper
}

// Evaluator evaluates rules by querying one server. It is safe for concurrent
// use.
type Evaluator struct {
	server string // for messages, without a password
	opts   Options
	api    v1.API
	trust  trust
}

var _ graph.Evaluator = (*Evaluator)(nil)

// New returns an evaluator for the server at address: http or https, with the
// path below which the API is served, if any. It does not connect yet. The
// error reports an invalid address or invalid options.
func New(address string, opts *Options) (*Evaluator, error) {
	if opts == nil {
		opts = &Options{}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address of the Prometheus server: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the address of the Prometheus server is %q: write it with http or https and the host, as in https://prometheus.example:9090", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the address of the Prometheus server is %q: leave out what follows the path", u.Redacted())
	case opts.CAFile != "" && opts.Transport != nil:
		return nil, fmt.Errorf("the options of the Prometheus server at %s have a CAFile and a Transport, which determines what is trusted: leave out one of them", u.Redacted())
	}
	e := &Evaluator{server: u.Redacted(), opts: *opts}
	e.opts.Timeout = cmp.Or(max(opts.Timeout, 0), 30*time.Second)
	e.opts.MaxAnswer = cmp.Or(max(opts.MaxAnswer, 0), 1<<20)
	client, err := api.NewClient(api.Config{Address: address, Client: &http.Client{Transport: (*carrier)(e), CheckRedirect: noRedirect}})
	if err != nil {
		return nil, fmt.Errorf("the address of the Prometheus server: %w", err)
	}
	e.api = v1.NewAPI(client)
	return e, nil
}

// Evaluate asks the server whether the rule matches. A rule of the type Always
// matches without a query. All errors are *Error, except that of a ctx that has
// ended, which is returned as it is.
func (e *Evaluator) Evaluate(ctx context.Context, rule graph.Rule) (bool, error) {
	switch {
	case !rule.Known():
		return false, e.fail(rule, Rule, fmt.Errorf("the rule is not understood: %s", rule.Other))
	case rule.Type == graph.RuleAlways:
		return true, nil
	case rule.Type != graph.RulePromQL:
		return false, e.fail(rule, Rule, fmt.Errorf("rules of type %q are not for Prometheus", rule.Type))
	case strings.TrimSpace(rule.Query) == "":
		return false, e.fail(rule, Rule, fmt.Errorf("the rule has no query"))
	}
	within, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	// The zero time means the present time of the server.
	value, warnings, err := e.api.Query(within, e.query(rule), time.Time{}, v1.WithTimeout(e.opts.Timeout))
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil && within.Err() != nil:
		return false, e.fail(rule, Timeout, fmt.Errorf("it did not answer within %s", e.opts.Timeout))
	case err != nil:
		reason, err := e.explain(err)
		return false, e.fail(rule, reason, err)
	case len(warnings) > 0:
		return false, e.fail(rule, Answer, fmt.Errorf("the answer has warnings, so it may be partial: %s", oneLine(strings.Join(warnings, "; "))))
	}
	match, err := judge(value)
	if err != nil {
		return false, e.fail(rule, Answer, err)
	}
	return match, nil
}

// query returns the query for a rule.
func (e *Evaluator) query(rule graph.Rule) string {
	if e.opts.ClusterID == "" {
		return rule.Query
	}
	return strings.ReplaceAll(rule.Query, `_id=""`, fmt.Sprintf("_id=%q", e.opts.ClusterID))
}

// trust is the transport for the last contents of the CA file.
type trust struct {
	mu   sync.Mutex
	pem  []byte
	with *http.Transport
}
