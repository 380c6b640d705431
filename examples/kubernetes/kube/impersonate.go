package kube

import (
	"fmt"
	"sync"

	"github.com/fairlead/fairlead/solver/olm/scope"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Accounts makes clients that act as service accounts, by impersonation: the server
// refuses what an account may not do, and its audit log names the account. It needs the
// verb impersonate on service accounts. Its methods may be called from several goroutines.
type Accounts struct {
	Config  *rest.Config   // of the one who impersonates
	Options client.Options // of the clients; without HTTPClient

	mu    sync.Mutex
	known map[scope.Account]client.Client
}

// mostAccounts limits how many clients are kept.
const mostAccounts = 256

// As returns a client without a cache that acts as a service account.
func (a *Accounts) As(namespace, name string) (client.Client, error) {
	account := scope.Account{Namespace: namespace, Name: name}
	if namespace == "" || name == "" {
		return nil, fmt.Errorf("kube: service account %q of namespace %q cannot be impersonated", name, namespace)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.known[account]; c != nil {
		return c, nil
	}
	config := rest.CopyConfig(a.Config)
	// The groups of a service account follow from its name, so that no right to
	// impersonate groups is needed.
	config.Impersonate = rest.ImpersonationConfig{UserName: account.String()}
	c, err := client.New(config, a.Options)
	if err != nil {
		return nil, fmt.Errorf("kube: a client for service account %s/%s: %w", namespace, name, err)
	}
	if a.known == nil || len(a.known) >= mostAccounts {
		a.known = map[scope.Account]client.Client{}
	}
	a.known[account] = c
	return c, nil
}
