package operators

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authorityField is the field of a Secret with the trusted authorities, newest
// first.
const authorityField = corev1.ServiceAccountRootCAKey // ca.crt

// issued reads the issued certificates of the namespace.
func (o *observation) issued() error {
	found, err := latest.List(o.ctx, o.client, secrets, &corev1.SecretList{}, client.InNamespace(o.w.Namespace), client.MatchingLabels{NamespaceLabel: o.w.Namespace})
	if err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	all := slices.SortedFunc(slices.Values(found.Items), func(x, y corev1.Secret) int { return cmp.Compare(x.Name, y.Name) })
	for i := range all {
		if s := &all[i]; issuedFor(s, o.w.Namespace) {
			o.w.Certificates = append(o.w.Certificates, certificateOf(s))
		}
	}
	return nil
}

// issuedFor reports whether a Secret contains a certificate issued for the
// operators of a namespace.
func issuedFor(o metav1.Object, namespace string) bool {
	return o.GetLabels()[NamespaceLabel] == namespace && o.GetAnnotations()[OwnerAnnotation] == "namespace/"+namespace
}

// certificateOf decodes a Secret. If it was modified and is no longer valid,
// the certificate has no host, and so is issued again.
func certificateOf(s *corev1.Secret) install.Certificate {
	c := install.Certificate{Name: s.Name, Mark: install.Mark{Revision: s.ResourceVersion}}
	pair, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return c
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return c
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(s.Data[authorityField])
	_, err = leaf.Verify(x509.VerifyOptions{Roots: trusted, CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return c
	}
	c.Hosts, c.NotBefore, c.NotAfter = leaf.DNSNames, leaf.NotBefore.UTC(), leaf.NotAfter.UTC()
	c.Authority = string(s.Data[authorityField])
	return c
}

// issue creates a certificate and writes its Secret.
func (b *Backend) issue(ctx context.Context, namespace string, a install.IssueCertificate) error {
	ref := install.Ref{Kind: secrets.Kind, Namespace: namespace, Name: a.Name}
	data, err := newCertificate(a)
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	as, err := b.acting(namespace, a.As)
	if err != nil {
		return err
	}
	if a.Revision == "" {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.Name}, Type: corev1.SecretTypeTLS, Data: data}
		s.Labels, s.Annotations = map[string]string{NamespaceLabel: namespace}, map[string]string{OwnerAnnotation: "namespace/" + namespace}
		err := as.Client.Create(ctx, s, client.FieldOwner(FieldManager))
		if apierrors.IsAlreadyExists(err) {
			if found, failed := b.api.Head(ctx, secrets, namespace, a.Name); failed == nil && found != nil && !issuedFor(found, namespace) {
				return fmt.Errorf("%s: it exists, but was not issued here; delete it if nothing needs it", ref)
			}
		}
		return outcome(ref, err)
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": a.Revision}, "data": data})
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	return outcome(ref, as.Client.Patch(ctx, kube.Stub(secrets, namespace, a.Name), client.RawPatch(types.MergePatchType, text), client.FieldOwner(FieldManager)))
}

// newCertificate creates an authority, which signs one certificate and whose key
// is not kept, and returns the data of the Secret.
func newCertificate(a install.IssueCertificate) (map[string][]byte, error) {
	serial := func() (*big.Int, error) { return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) }
	number, err := serial()
	if err != nil {
		return nil, err
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := &x509.Certificate{
		SerialNumber: number, NotBefore: a.NotBefore, NotAfter: a.NotAfter,
		Subject: pkix.Name{CommonName: fmt.Sprintf("%s %x", a.Name, number.Bytes()[:min(4, len(number.Bytes()))])},
		IsCA:    true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: a.Hosts,
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, signer.Public(), signer)
	if err != nil {
		return nil, err
	}
	if authority, err = x509.ParseCertificate(root); err != nil { // with its key identifier
		return nil, err
	}
	if number, err = serial(); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	host := ""
	if len(a.Hosts) > 0 && len(a.Hosts[0]) <= 64 { // the limit of common names
		host = a.Hosts[0]
	}
	leaf, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: number, NotBefore: a.NotBefore, NotAfter: a.NotAfter, DNSNames: a.Hosts, Subject: pkix.Name{CommonName: host},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}, authority, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	trusted := strings.TrimSpace(string(pemOf("CERTIFICATE", root))+a.Trusted) + "\n"
	return map[string][]byte{
		corev1.TLSCertKey: pemOf("CERTIFICATE", leaf), corev1.TLSPrivateKeyKey: pemOf("PRIVATE KEY", private), authorityField: []byte(trusted),
	}, nil
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// convert makes the server call an operator to convert the objects of a CRD, or
// ends that.
func (b *Backend) convert(ctx context.Context, a install.SetConversion) error {
	ref := refOf(crds, "", a.CRD)
	conversion, note := map[string]any{"strategy": "None", "webhook": nil}, map[string]any{ConversionAnnotation: nil}
	if a.Service != "" {
		conversion = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": a.Versions,
			"clientConfig": map[string]any{
				"caBundle": []byte(a.Authority),
				"service":  map[string]any{"namespace": a.Namespace, "name": a.Service, "path": a.Path, "port": a.Port},
			},
		}}
		note[ConversionAnnotation] = a.Digest
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": a.Revision, "annotations": note}, "spec": map[string]any{"conversion": conversion},
	})
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	return outcome(ref, b.client.Patch(ctx, kube.Stub(crds, "", a.CRD), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager)))
}

// conversionOf returns the digest of the conversion of a CRD that was last set,
// unless it was removed by others.
func conversionOf(crd *unstructured.Unstructured) string {
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy != "Webhook" {
		return ""
	}
	return crd.GetAnnotations()[ConversionAnnotation]
}

// keepConversion makes applying a CRD keep the conversion that was set.
func (b *Backend) keepConversion(ctx context.Context, crd *unstructured.Unstructured) error {
	is := kube.Stub(crds, "", crd.GetName())
	if err := b.client.Get(ctx, client.ObjectKeyFromObject(is), is); err != nil {
		return client.IgnoreNotFound(err)
	}
	if conversion, _, _ := unstructured.NestedMap(is.Object, "spec", "conversion"); is.GetAnnotations()[ConversionAnnotation] != "" && conversion != nil {
		// If it were left out, fields that an earlier version of the bundle
		// also had would be removed.
		return unstructured.SetNestedMap(crd.Object, conversion, "spec", "conversion")
	}
	return nil
}
