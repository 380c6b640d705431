package cluster

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// AdminUser is the name of the user of [Cluster.Config]: a member of
// system:masters, who may do everything.
const AdminUser = "e2e-admin"

// Config returns a new client configuration for [AdminUser], without
// client-side rate limits.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// ConfigForUser returns a client configuration for a user in these groups,
// with a certificate. RBAC determines what the user may do. Client-side rate
// limits are the defaults of client-go unless the caller sets others.
func (c *Cluster) ConfigForUser(user string, groups ...string) (*rest.Config, error) {
	cert, key, err := c.ca.client(user, groups)
	if err != nil {
		return nil, err
	}
	config := c.anonymous()
	config.CertData, config.KeyData = cert, key
	return config, nil
}

// ConfigForServiceAccount returns a client configuration for a service
// account, which must exist, with a token. In the audit log its user is
// system:serviceaccount:NAMESPACE:NAME. Client-side rate limits are the
// defaults of client-go unless the caller sets others.
func (c *Cluster) ConfigForServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return nil, err
	}
	seconds := int64(lifetime.Seconds())
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("getting a token of the service account %s/%s: %w", namespace, name, err)
	}
	config := c.anonymous()
	config.BearerToken = token.Status.Token
	return config, nil
}

// anonymous returns a client configuration without credentials.
func (c *Cluster) anonymous() *rest.Config {
	return &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", c.port.number),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.pem},
	}
}

// WriteKubeconfig writes a configuration of this package to a file, for
// programs (and for kubectl, while a test waits in a debugger). Only its owner
// can read the file.
func WriteKubeconfig(config *rest.Config, file string) error {
	const name = "e2e"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	return clientcmd.WriteToFile(*kubeconfig, file)
}
