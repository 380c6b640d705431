package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// CertificateProvider names the issuer of the certificates by which the API server
// trusts the webhooks of operators. The rendered objects request them from it.
type CertificateProvider string

// The providers.
const (
	NoCertificates CertificateProvider = ""             // none: bundles with webhooks are rejected
	CertManager    CertificateProvider = "cert-manager" // cert-manager, by an Issuer and a Certificate in the extension's namespace
	ServiceCA      CertificateProvider = "service-ca"   // OpenShift's service CA, by annotations
)

func certificateProviders() []CertificateProvider {
	return []CertificateProvider{NoCertificates, CertManager, ServiceCA}
}

// checkWebhooks says what is wrong with the webhooks of the CSV.
func (b *Bundle) checkWebhooks() []error {
	var errs []error
	if text := calls.Misdefined(&b.CSV, true); text != "" {
		errs = append(errs, errors.New(text))
	}
	seen, converted := make(map[string]bool), make(map[string]bool)
	for i := range b.CSV.Spec.WebhookDefinitions {
		w := &b.CSV.Spec.WebhookDefinitions[i]
		if key := w.Type + " " + configurationName(w); seen[key] {
			errs = append(errs, fmt.Errorf("the CSV has two webhooks of type %s named %s", w.Type, w.GenerateName))
		} else {
			seen[key] = true
		}
		for _, name := range w.ConversionCRDs {
			if w.Type == olm.WebhookConversion && converted[name] {
				errs = append(errs, fmt.Errorf("the CSV has two webhooks that convert %s", name))
			}
			converted[name] = true
		}
	}
	for _, c := range b.crds {
		if unknown, _ := c.Child("spec")["preserveUnknownFields"].(bool); unknown && b.converts(c.Child("metadata").Text("name")) != nil {
			errs = append(errs, fmt.Errorf("CRD %s preserves unknown fields, so no webhook can convert it", c.Child("metadata").Text("name")))
		}
	}
	return errs
}

// unserved says why the webhooks of the bundle cannot be served, or nil.
func (b *Bundle) unserved(by CertificateProvider) error {
	if n := len(b.CSV.Spec.WebhookDefinitions); n > 0 && by == NoCertificates {
		return fmt.Errorf("the CSV has webhooks (%d), but the policy names no provider of certificates for them: set it to %s or %s, whichever the cluster has", n, CertManager, ServiceCA)
	}
	return nil
}

// converts is the webhook that converts a CRD, or nil.
func (b *Bundle) converts(crd string) *olm.WebhookDescription {
	for i := range b.CSV.Spec.WebhookDefinitions {
		if w := &b.CSV.Spec.WebhookDefinitions[i]; w.Type == olm.WebhookConversion && slices.Contains(w.ConversionCRDs, crd) {
			return w
		}
	}
	return nil
}

// configurationName is the name of a webhook and of its configuration: the same in
// each version, so that one revision takes it over from the other.
func configurationName(w *olm.WebhookDescription) string {
	return strings.TrimSuffix(w.GenerateName, "-")
}

// trusts adds the annotation that asks the provider to inject into an object the CA of a
// deployment's certificate.
func (r *rendering) trusts(meta manifest.Fields, deployment string) {
	switch r.by {
	case CertManager:
		meta.Child("annotations")["cert-manager.io/inject-ca-from"] = r.namespace + "/" + calls.Secret(deployment)
	case ServiceCA:
		meta.Child("annotations")["service.beta.openshift.io/inject-cabundle"] = "true"
	}
}

// converted returns a CRD with its conversion webhook, if there is one.
func (r *rendering) converted(crd manifest.Fields) manifest.Fields {
	w := r.b.converts(crd.Child("metadata").Text("name"))
	if w == nil {
		return crd
	}
	var is manifest.Fields // not the bundle's own
	text, _ := json.Marshal(crd)
	_ = json.Unmarshal(text, &is) // what was encoded just now
	is.Child("spec")["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"clientConfig":             map[string]any{"service": calls.ServiceOf(w, r.namespace)},
		"conversionReviewVersions": w.AdmissionReviewVersions,
	}}
	r.trusts(is.Child("metadata"), w.DeploymentName)
	return is
}

// webhooks adds the objects through which the API server calls the operator: a
// configuration for each webhook, a service for each deployment that is called, and what
// the provider needs to issue a certificate.
func (r *rendering) webhooks(targets []string) {
	csv := &r.b.CSV
	for i := range csv.Spec.WebhookDefinitions {
		w := &csv.Spec.WebhookDefinitions[i]
		kind, name := calls.Configuration(w), configurationName(w)
		if kind == "" {
			continue
		}
		meta := manifest.Fields{}
		r.trusts(meta, w.DeploymentName)
		r.add("admissionregistration.k8s.io", "v1", kind, "", name, map[string]any{
			"metadata": map[string]any(meta), "webhooks": []any{calls.Hook(w, name, r.namespace, "", targets)},
		})
	}
	for _, deployment := range calls.Deployments(csv) {
		service, secret := calls.Service(deployment), calls.Secret(deployment)
		meta := map[string]any{}
		if r.by == ServiceCA {
			meta["annotations"] = map[string]any{"service.beta.openshift.io/serving-cert-secret-name": secret}
		}
		r.add("", "v1", "Service", r.namespace, service, map[string]any{"metadata": meta, "spec": calls.ServiceSpec(csv, deployment)})
		if r.by != CertManager {
			continue
		}
		issuer := secret + "-selfsigned-issuer"
		r.add("cert-manager.io", "v1", "Issuer", r.namespace, issuer, map[string]any{"spec": map[string]any{"selfSigned": map[string]any{}}})
		r.add("cert-manager.io", "v1", "Certificate", r.namespace, secret, map[string]any{"spec": map[string]any{
			"secretName": secret, "commonName": service + "." + r.namespace, "dnsNames": calls.Hosts(service, r.namespace),
			"issuerRef": map[string]any{"name": issuer}, "usages": []any{"server auth"},
			"duration": "17520h0m0s", "renewBefore": "24h0m0s", // two years, and a day
		}})
	}
}
