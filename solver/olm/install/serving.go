package install

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
)

// Operators have webhooks and API services: the API server calls their pods through a
// service, and trusts them by a certificate. The objects for that follow from the
// CSVs, like roles and copies: services, configurations and API services are
// generated, and deleted when nothing needs them any longer.

const (
	groupAdmission    = "admissionregistration.k8s.io"
	groupRegistration = "apiregistration.k8s.io"
	kindAPIService    = "APIService"
	kindService       = "Service"
	kindSecret        = "Secret"
)

// called are the deployments of a CSV whose pods the API server calls, sorted.
func (c *CSV) called() []string { return calls.Deployments(&c.ClusterServiceVersion) }

// misdefined says what is wrong with the webhooks and API services of a CSV, or "".
func (s *stepper) misdefined(c *CSV) string {
	return calls.Misdefined(&c.ClusterServiceVersion, s.own == nil || group.Namespaces(s.own.Status.Namespaces).All())
}

func (s *stepper) certificate(name string) *Certificate {
	for i := range s.Certificates {
		if s.Certificates[i].Name == name {
			return &s.Certificates[i]
		}
	}
	return nil
}

// renewAt is when to replace a certificate: after two thirds of its lifetime.
func (c *Certificate) renewAt() time.Time {
	return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2)
}

// certified reports whether the pods of a CSV have the certificates that they need,
// and issues those that are missing or about to expire.
func (s *stepper) certified(c *CSV) bool {
	ready, life := true, s.policy.CertificateLifetime
	for _, deployment := range c.called() {
		name, hosts := calls.Secret(deployment), calls.Hosts(calls.Service(deployment), s.Namespace)
		issue := IssueCertificate{
			// Clocks differ; but two thirds of a short lifetime must not be over at
			// once.
			Name: name, Hosts: hosts, NotBefore: s.now.Add(-min(time.Hour, life/10)), NotAfter: s.now.Add(life),
		}
		is := s.certificate(name)
		usable := is != nil && slices.Equal(is.Hosts, hosts) && s.now.Before(is.NotAfter)
		if usable && s.now.Before(is.renewAt()) {
			s.At(is.renewAt())
			continue
		}
		if is != nil {
			issue.Revision, issue.Trusted = is.Revision, firstBlock(is.Authority)
		}
		ready = ready && usable // a valid one is used until the new one exists
		if err := s.may(s.secretStep(name)); err != nil {
			s.refuse("certificate "+name, err, "fix this first; it is not issued until then")
			continue
		}
		issue.As = s.as
		s.block("certificate "+name, ReasonActionPending, s.doing(issue, "it is being issued for "+c.Name), theBackend, "wait until it is observed")
	}
	return ready
}

// firstBlock returns the first PEM block of a text.
func firstBlock(text string) string {
	const end = "-----END CERTIFICATE-----\n"
	if i := strings.Index(text, end); i >= 0 {
		return text[:i+len(end)]
	}
	return text
}

// dropCertificates removes those that no operator needs any more.
func (s *stepper) dropCertificates() {
	if !s.Serves {
		return
	}
	needed := make(map[string]bool)
	for _, c := range s.operators {
		if s.active(c) || c.Deployed != "" {
			for _, deployment := range c.called() {
				needed[calls.Secret(deployment)] = true
			}
		}
	}
	for _, is := range sorted(s.Certificates, func(c *Certificate) string { return c.Name }) {
		if !needed[is.Name] {
			gone := DeleteObject{Ref: Ref{Kind: kindSecret, Namespace: s.Namespace, Name: is.Name}, Owner: s.Namespace, Revision: is.Revision}
			s.block("certificate "+is.Name, ReasonActionPending, s.doing(gone, "it is being deleted: no operator needs it"), theBackend, "wait until it is gone")
		}
	}
}

// unserved says which of the webhooks and API services of a CSV is not served yet, or
// returns "". What is missing is written by generate and convert.
func (s *stepper) unserved(c *CSV) string {
	if len(c.called()) == 0 {
		return ""
	}
	for _, d := range s.servings(c, false) {
		at := slices.IndexFunc(s.Generated, func(o Object) bool { return o.Ref == d.ref })
		if at < 0 || s.Generated[at].Digest != d.digest {
			return d.ref.String() + " is not up to date"
		}
	}
	for _, want := range s.conversions(c) {
		if is := s.crds[want.CRD]; is == nil || is.Conversion != want.Digest {
			return "CRD " + want.CRD + " is not converted by " + c.Name
		}
	}
	return s.unavailable(c)
}

// unavailable names an API service that a CSV owns and that is not available, or
// returns "".
func (s *stepper) unavailable(c *CSV) string {
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		if name := d.Version + "." + d.Group; !slices.Contains(s.APIServices, name) {
			return "API service " + name + " is not available"
		}
	}
	return ""
}

// convert has CRDs converted by the operators that are ready, and no longer by those
// being removed.
func (s *stepper) convert() {
	if !s.Serves {
		return
	}
	by := make(map[string]SetConversion)
	kept := make(map[string]bool) // the conversion stays as it is
	for _, c := range s.operators {
		for i := range c.Spec.WebhookDefinitions {
			for _, name := range c.Spec.WebhookDefinitions[i].ConversionCRDs {
				kept[name] = kept[name] || s.active(c)
			}
		}
		if s.next[c.Name] != nil || !s.answers(c) && !s.converts(c) {
			continue
		}
		for _, want := range s.conversions(c) {
			by[want.CRD] = want
		}
	}
	for _, is := range sorted(s.CRDs, func(c *CRD) string { return c.Name }) {
		want, wanted := by[is.Name]
		switch {
		case wanted && want.Digest == is.Conversion, !wanted && (kept[is.Name] || is.Conversion == "" || !s.ours(is.Name)):
			continue
		case !s.possesses(is):
			if wanted {
				s.foreignBlock("crd "+is.Name, fmt.Sprintf("CRD %s belongs to %s, so no operator of namespace %s may convert its objects", is.Name, whose(is.Home), s.Namespace))
			}
			continue
		case s.barred != nil:
			continue // the CSV says why
		case !wanted:
			want = SetConversion{CRD: is.Name}
		}
		want.Revision = is.Revision
		s.block("crd "+is.Name, ReasonActionPending, s.doing(want, "its conversion is being set"), theBackend, "wait until its conversion is observed")
	}
}

// converting reports whether a CRD is still converted by an operator that is being
// removed.
func (s *stepper) converting(c *CSV) bool {
	for i := range c.Spec.WebhookDefinitions {
		for _, name := range c.Spec.WebhookDefinitions[i].ConversionCRDs {
			other := slices.ContainsFunc(s.operators, func(o *CSV) bool {
				return s.active(o) && slices.ContainsFunc(o.Spec.WebhookDefinitions, func(w olm.WebhookDescription) bool { return slices.Contains(w.ConversionCRDs, name) })
			})
			if is := s.crds[name]; s.Serves && s.possesses(is) && is.Conversion != "" && !other {
				return true
			}
		}
	}
	return false
}

// converts reports whether a CRD is already converted by the operator or the one that
// it replaces: then the trusted authority is kept up to date.
func (s *stepper) converts(c *CSV) bool {
	return s.active(c) && slices.ContainsFunc(s.conversions(c), func(w SetConversion) bool {
		return s.crds[w.CRD] != nil && s.crds[w.CRD].Conversion != ""
	})
}

// ours reports whether a CSV of the namespace that goes has converted a CRD.
func (s *stepper) ours(crd string) bool {
	return slices.ContainsFunc(s.operators, func(c *CSV) bool {
		return slices.ContainsFunc(c.Spec.WebhookDefinitions, func(w olm.WebhookDescription) bool { return slices.Contains(w.ConversionCRDs, crd) })
	})
}

// conversions are those that a CSV should have, if it has its certificates.
func (s *stepper) conversions(c *CSV) []SetConversion {
	var all []SetConversion
	for i := range c.Spec.WebhookDefinitions {
		w := &c.Spec.WebhookDefinitions[i]
		is := s.certificate(calls.Secret(w.DeploymentName))
		if w.Type != olm.WebhookConversion || is == nil {
			continue
		}
		for _, name := range w.ConversionCRDs {
			v := SetConversion{
				CRD: name, Namespace: s.Namespace, Service: calls.Service(w.DeploymentName), Port: calls.Port(w.ContainerPort), Path: w.Path,
				Authority: is.Authority, Versions: w.AdmissionReviewVersions,
			}
			v.Digest = digestOf(texts(v.Namespace, v.Service, fmt.Sprint(v.Port), v.Path, v.Authority, strings.Join(v.Versions, ",")))
			all = append(all, v)
		}
	}
	return all
}
