package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// pollInterval is how often a server is asked whether it is ready, and
// pollTimeout limits the time of one answer.
const (
	pollInterval = 50 * time.Millisecond
	pollTimeout  = 5 * time.Second
)

// await returns when ready returns nil. It gives up when the process ends,
// after Options.Patience, or when ctx is done.
func (c *Cluster) await(ctx context.Context, p *process, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Patience, fmt.Errorf("not ready after %s", c.opts.Patience))
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, pollTimeout)
		err := ready(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return p.failed(fmt.Errorf("%w; at last: %w", context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}

// etcdReady asks etcd for its health.
func (c *Cluster) etcdReady(ctx context.Context) error {
	var dialer net.Dialer
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", c.etcdSocket())
		},
	}
	return get(ctx, &http.Client{Transport: transport}, "http://etcd/health")
}

// apiReady asks the API server whether it is ready.
func (c *Cluster) apiReady(ctx context.Context) error {
	return c.getAPI(ctx, "/readyz")
}

// managerReady checks for the first result of the controller manager in a new
// cluster, because the controller manager has no address of its own.
func (c *Cluster) managerReady(ctx context.Context) error {
	return c.getAPI(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
}

// getAPI gets a path of the API server as the administrator.
func (c *Cluster) getAPI(ctx context.Context, path string) error {
	client, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return err
	}
	return get(ctx, client, c.admin.Host+path)
}

// get returns nil if the answer is 200, otherwise an error with the answer's
// text.
func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, text)
	}
	return nil
}
