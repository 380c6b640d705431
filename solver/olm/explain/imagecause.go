package explain

import (
	"fmt"
	"regexp"

	"github.com/fairlead/fairlead/internal/shell"
)

// What registries and container libraries answer catalogd and operator-controller.
var (
	imageUntrusted = regexp.MustCompile(`x509: certificate signed by unknown authority`)
	imageHost      = regexp.MustCompile(`https?://([^/"\s]+)`)
	imageDenied    = regexp.MustCompile(`unauthorized|authentication required|access to the resource is denied|403 Forbidden|no basic auth credentials`)
	imageUnsigned  = regexp.MustCompile(`signature was required|no signature exists|invalid signature|rejected by policy`)
	imageUnknown   = regexp.MustCompile(`manifest unknown|name unknown|manifest for \S+ not found`)
	imageFar       = regexp.MustCompile(`no such host|i/o timeout|connection refused|context deadline exceeded|TLS handshake timeout`)
)

// imageCause reads why OLM v1 cannot read an image: of, in words, which is unpacked by the
// deployment of that name.
func imageCause(message, of, deployment string) (cause, bool) {
	show := shell.Command("kubectl get deployments -A --field-selector metadata.name=%s -o yaml", deployment)
	host := "its registry"
	if m := imageHost.FindStringSubmatch(message); m != nil {
		host = "registry " + m[1]
	}
	switch {
	case imageUntrusted.MatchString(message):
		return cause{owner: "whoever runs OLM",
			unblock:  fmt.Sprintf("the certificate of %s is signed by an authority that OLM does not trust: mount the authority's certificate into deployment %s, in the directory that its --pull-cas-dir names (OpenShift: additionalTrustedCA of image.config.openshift.io cluster)", host, deployment),
			commands: []string{show}}, true
	case imageDenied.MatchString(message):
		return cause{owner: "whoever runs OLM",
			unblock:  fmt.Sprintf("%s refuses OLM the image of %s: put credentials into the secret that --global-pull-secret of deployment %s names (OpenShift: pull-secret in openshift-config)", host, of, deployment),
			commands: []string{show}}, true
	case imageUnsigned.MatchString(message):
		return cause{owner: "whoever owns the cluster's image policy",
			unblock: fmt.Sprintf("the image policy of the cluster wants a signature that the image of %s lacks: mirror it with its signatures, or except its registry in policy.json of deployment %s (OpenShift: ClusterImagePolicy)", of, deployment), commands: []string{show}}, true
	case imageUnknown.MatchString(message):
		return cause{unblock: fmt.Sprintf("%s has no such image of %s: correct the reference, or mirror the image", host, of)}, true
	case imageFar.MatchString(message):
		return cause{owner: "whoever runs the network", unblock: fmt.Sprintf("OLM does not reach %s: see to DNS, proxy (HTTPS_PROXY of deployment %s) and network policies, or mirror the image", host, deployment), commands: []string{show}}, true
	}
	return cause{}, false
}
