package graph

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Prometheus is an [Evaluator] for rules of type PromQL: it asks a server with
// the API of Prometheus, such as the thanos-querier of a cluster. How long a
// query may take is for the context to say.
type Prometheus struct {
	// URL is that of the server. Queries go to api/v1/query below it.
	URL string
	// Client sends the queries, with what the server asks for of credentials. Nil
	// means [http.DefaultClient].
	Client *http.Client
}

// maxAnswer is how long the answer to a query of one sample may be, in bytes.
const maxAnswer = 1 << 20

// Evaluate implements [Evaluator].
func (p *Prometheus) Evaluate(ctx context.Context, rule Rule) (bool, error) {
	if rule.Type != RulePromQL {
		return false, fmt.Errorf("Prometheus evaluates no rules of type %q", rule.Type)
	}
	where := strings.TrimSuffix(p.URL, "/") + "/api/v1/query"
	form := url.Values{"query": {rule.Query}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := p.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return false, err
	}
	if resp.StatusCode != http.StatusOK && !strings.HasPrefix(string(text), "{") { // Prometheus tells its errors in JSON
		return false, fmt.Errorf("%s: unexpected HTTP status: %s", where, resp.Status)
	}
	return ReadPromQL(text)
}
