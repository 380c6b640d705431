package kube

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Direct returns a client that reads from the server and not from the manager's
// cache: for stores, for writes, and for conclusions that must not be based on
// stale data. It shares the manager's connections.
func Direct(mgr ctrl.Manager) (client.WithWatch, error) {
	c, err := client.NewWithWatch(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("kube.Direct: %w", err)
	}
	return c, nil
}
