package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	engine "github.com/fairlead/fairlead/lifecycle/quorum"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
)

// quorumController protects the quorum of a control plane whose machines are
// replaced.
type quorumController struct {
	etcd          list
	ca, cert, key string
	voters        int
	policy        engine.Policy
	api           string
	machines      string
	pods, guards  string
}

func (*quorumController) name() string { return "quorum" }

func (c *quorumController) define(flags *flag.FlagSet) {
	flags.Var(&c.etcd, "quorum-etcd", "client URLs of etcd members, a `list` separated by commas; one that answers is enough")
	flags.StringVar(&c.ca, "quorum-etcd-ca", "", "`file` with the certificate authorities for etcd; empty means those of the system")
	flags.StringVar(&c.cert, "quorum-etcd-cert", "", "`file` with the client certificate for etcd; read for each connection")
	flags.StringVar(&c.key, "quorum-etcd-key", "", "`file` with the key of that certificate")
	flags.IntVar(&c.voters, "quorum-voters", 3, "desired number of etcd voters")
	flags.DurationVar(&c.policy.Resync, "quorum-resync", time.Minute, "how often the members are polled")
	flags.StringVar(&c.api, "quorum-api", machineAPI, "API of the machines: MachineAPI (machine.openshift.io/v1beta1) or ClusterAPI (cluster.x-k8s.io/v1beta2)")
	flags.StringVar(&c.machines, "quorum-machines", "", "`namespace/selector` of the machines of the control plane, as in openshift-machine-api/role=master; empty means that machines are not managed")
	flags.StringVar(&c.pods, "quorum-pods", "", "`namespace/selector` of the etcd pods: those that are running and not ready wait to be added")
	flags.StringVar(&c.guards, "quorum-guards", "", "`namespace/selector` of the etcd guard pods, which a disruption budget counts")
}

func (c *quorumController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	if len(c.etcd) == 0 {
		return errors.New("-quorum-etcd: name the client URLs of etcd, or leave the controller out of -controllers")
	}
	b := quorum.Backend{Desired: c.voters}
	var err error
	if b.Kind, err = machineKind("-quorum-api", c.api); err != nil {
		return err
	}
	if b.Namespace, b.Machines, err = selection("-quorum-machines", c.machines); err != nil {
		return err
	}
	if b.Pods.Namespace, b.Pods.Selector, err = selection("-quorum-pods", c.pods); err != nil {
		return err
	}
	if b.Guards.Namespace, b.Guards.Selector, err = selection("-quorum-guards", c.guards); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	b.Etcd = &quorum.Etcd{Endpoints: c.etcd, HTTP: client}
	store, err := s.store("quorum")
	if err != nil {
		return err
	}
	return quorum.SetupWithManager(mgr, quorum.Options{Backend: b, Policy: &c.policy, Store: store, Trace: s.metrics.Trace("quorum")})
}

// client returns a client for etcd with the certificates in the flags.
func (c *quorumController) client() (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.ca != "" {
		data, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("-quorum-etcd-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("-quorum-etcd-ca: %s has no certificate in PEM", c.ca)
		}
	}
	if (c.cert == "") != (c.key == "") {
		return nil, errors.New("-quorum-etcd-cert and -quorum-etcd-key: set both, or neither")
	}
	if c.cert != "" {
		pair := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.cert, c.key)
			return &pair, err
		}
		if _, err := pair(); err != nil {
			return nil, fmt.Errorf("-quorum-etcd-cert, -quorum-etcd-key: %w", err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair() }
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	return &http.Client{Transport: transport}, nil
}

// selection parses NAMESPACE/SELECTOR; an empty one results in a nil selector,
// which selects nothing.
func selection(flag, text string) (string, labels.Selector, error) {
	if text == "" {
		return "", nil, nil
	}
	namespace, rest, ok := strings.Cut(text, "/")
	if !ok || namespace == "" {
		return "", nil, fmt.Errorf("%s: %q: write NAMESPACE/SELECTOR, as in openshift-etcd/app=etcd", flag, text)
	}
	selector, err := labels.Parse(rest)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %q: %w", flag, text, err)
	}
	return namespace, selector, nil
}
