package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// answers reports whether the pods of a CSV answer, so that the API server may be
// sent to them.
func (s *stepper) answers(c *CSV) bool {
	switch c.Status.Phase {
	case PhaseInstalling, olm.PhaseSucceeded, olm.PhaseFailed, olm.PhaseReplacing:
		return s.active(c) && c.Deployed == Ready
	}
	return false
}

// reached are the objects that let the API server call the operators of the
// namespace. Those of an operator stay while it is there, and come when its pods
// answer; of one object the operator that replaces the other has the word.
func (s *stepper) reached() []derived {
	var all []derived
	there := make(map[Ref]bool)
	for i := range s.Generated {
		there[s.Generated[i].Ref] = true
	}
	for _, last := range []bool{true, false} {
		for _, c := range s.operators {
			if (s.next[c.Name] == nil) != last || !s.active(c) || !s.Serves {
				continue
			}
			ready := s.answers(c)
			for _, d := range s.servings(c) {
				if ready || there[d.ref] {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// servings are the objects of one operator, if it has its certificates.
func (s *stepper) servings(c *CSV) []derived {
	var all []derived
	for _, deployment := range c.called() {
		if is := s.certificate(secretOf(deployment)); is != nil {
			all = append(all, s.service(c, deployment))
			all = append(all, s.admissions(c, deployment, is)...)
			all = append(all, s.apiServices(c, deployment, is)...)
		}
	}
	return all
}

func texts(all ...string) []json.RawMessage {
	raw := make([]json.RawMessage, len(all))
	for i, t := range all {
		raw[i] = []byte(t)
	}
	return raw
}

// service leads to the pods of a deployment.
func (s *stepper) service(c *CSV, deployment string) derived {
	type servicePort struct {
		Name       string `json:"name"`
		Port       int32  `json:"port"`
		TargetPort any    `json:"targetPort"`
	}
	var ports []servicePort
	add := func(n int32, target json.RawMessage) {
		n = port(n)
		p := servicePort{fmt.Sprint(n), n, n}
		if json.Valid(target) {
			p.TargetPort = target
		}
		if !slices.ContainsFunc(ports, func(o servicePort) bool { return o.Port == n }) {
			ports = append(ports, p)
		}
	}
	for i := range c.Spec.WebhookDefinitions {
		if w := &c.Spec.WebhookDefinitions[i]; w.DeploymentName == deployment {
			add(w.ContainerPort, w.TargetPort)
		}
	}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		if d.DeploymentName == deployment {
			add(d.ContainerPort, nil)
		}
	}
	spec := map[string]any{"ports": ports, "selector": podLabels(c, deployment)}
	key, _ := json.Marshal(spec) // what was decoded from JSON, strings and numbers: cannot fail
	return derive("", kindService, olm.ObjectMeta{Name: serviceOf(deployment), Namespace: s.Namespace}, string(key), func() map[string]any {
		return map[string]any{"spec": spec}
	})
}

// podSpec is what is read of a deployment's spec.
type podSpec struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Template struct {
		Spec struct {
			Account string `json:"serviceAccountName"`
		} `json:"spec"`
	} `json:"template"`
}

func podSpecOf(c *CSV, deployment string) (p podSpec) {
	for i := range c.Spec.Install.Spec.Deployments {
		if d := &c.Spec.Install.Spec.Deployments[i]; d.Name == deployment {
			_ = json.Unmarshal(d.Spec, &p) // what cannot be read selects nothing, and cannot be deployed
		}
	}
	return p
}

func podLabels(c *CSV, deployment string) map[string]string {
	return podSpecOf(c, deployment).Selector.MatchLabels
}

// admissions are the configurations of the webhooks that judge and change objects.
func (s *stepper) admissions(c *CSV, deployment string, is *Certificate) []derived {
	var all []derived
	for i := range c.Spec.WebhookDefinitions {
		w := &c.Spec.WebhookDefinitions[i]
		kind := map[string]string{olm.WebhookValidating: "ValidatingWebhookConfiguration", olm.WebhookMutating: "MutatingWebhookConfiguration"}[w.Type]
		if kind == "" || w.DeploymentName != deployment {
			continue
		}
		sum := digestOf(texts(s.Namespace, c.Name, fmt.Sprint(i), w.GenerateName))
		meta := olm.ObjectMeta{Name: strings.Trim(w.GenerateName, "-.") + "-" + sum[:10], Labels: map[string]string{group.OwnerLabel: c.Name, group.OwnerNamespaceLabel: s.Namespace}}
		hook := s.webhook(w, is)
		key, _ := json.Marshal(hook) // what was decoded from JSON: cannot fail
		all = append(all, derive(groupAdmission, kind, meta, string(key), func() map[string]any {
			return map[string]any{"webhooks": []any{hook}}
		}))
	}
	return all
}

// webhook is the entry of a configuration. It is asked about objects of the
// namespaces that the operator group selects.
func (s *stepper) webhook(w *olm.WebhookDescription, is *Certificate) map[string]any {
	hook := map[string]any{
		"name":                    w.GenerateName,
		"admissionReviewVersions": w.AdmissionReviewVersions,
		"sideEffects":             w.SideEffects,
		"clientConfig": map[string]any{
			"caBundle": []byte(is.Authority),
			"service":  map[string]any{"namespace": s.Namespace, "name": serviceOf(w.DeploymentName), "path": w.Path, "port": port(w.ContainerPort)},
		},
	}
	for key, text := range map[string]string{"failurePolicy": w.FailurePolicy, "matchPolicy": w.MatchPolicy} {
		if text != "" {
			hook[key] = text
		}
	}
	for key, raw := range map[string]json.RawMessage{"rules": w.Rules, "objectSelector": w.ObjectSelector} {
		if json.Valid(raw) {
			hook[key] = raw
		}
	}
	if w.Type == olm.WebhookMutating && w.ReinvocationPolicy != "" {
		hook["reinvocationPolicy"] = w.ReinvocationPolicy
	}
	if w.TimeoutSeconds != nil {
		hook["timeoutSeconds"] = *w.TimeoutSeconds
	}
	if s.own != nil && !group.Namespaces(s.own.Status.Namespaces).All() {
		hook["namespaceSelector"] = map[string]any{"matchExpressions": []any{
			map[string]any{"key": "kubernetes.io/metadata.name", "operator": "In", "values": s.own.Status.Namespaces},
		}}
	}
	return hook
}

// apiServices register the APIs that the pods serve, and let the pods ask who
// calls them, and what they may.
func (s *stepper) apiServices(c *CSV, deployment string, is *Certificate) []derived {
	var all []derived
	service := serviceOf(deployment)
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		if d.DeploymentName != deployment {
			continue
		}
		spec := map[string]any{
			"group": d.Group, "version": d.Version, "groupPriorityMinimum": 2000, "versionPriority": 15, "caBundle": []byte(is.Authority),
			"service": map[string]any{"namespace": s.Namespace, "name": service, "port": port(d.ContainerPort)},
		}
		key, _ := json.Marshal(spec) // strings and numbers: cannot fail
		all = append(all, derive(groupRegistration, kindAPIService, olm.ObjectMeta{Name: d.Version + "." + d.Group}, string(key), func() map[string]any {
			return map[string]any{"spec": spec}
		}))
	}
	if all == nil {
		return nil
	}
	account := podSpecOf(c, deployment).Template.Spec.Account
	if account == "" {
		account = "default"
	}
	bind := func(kind, name, namespace, roleKind, role string) derived {
		return derive(groupRBAC, kind, olm.ObjectMeta{Name: name, Namespace: namespace}, role+" "+account, func() map[string]any {
			return map[string]any{
				"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": roleKind, "name": role},
				"subjects": []scope.Subject{{Kind: "ServiceAccount", Name: account, Namespace: s.Namespace}},
			}
		})
	}
	all = append(all, bind("ClusterRoleBinding", s.Namespace+"-"+service+"-auth-delegator", "", "ClusterRole", "system:auth-delegator"))
	if slices.ContainsFunc(s.Namespaces, func(n olm.ObjectMeta) bool { return n.Name == "kube-system" }) {
		all = append(all, bind("RoleBinding", s.Namespace+"-"+service+"-auth-reader", "kube-system", "Role", "extension-apiserver-authentication-reader"))
	}
	return all
}

// mounted gives the pods of a deployment its certificate, where they look for it,
// and the digest of its authority, so that they begin again with a new one.
func mounted(deployment json.RawMessage, secret string, is *Certificate) json.RawMessage {
	o, err := decodeObject(deployment)
	if err != nil {
		return deployment
	}
	template := o.child("spec").child("template")
	template.child("metadata").child("annotations")["olmcahash"] = digestOf(texts(is.Authority))
	pod := template.child("spec")
	for _, m := range []struct{ volume, path, cert, key string }{
		{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"},
		{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"},
	} {
		pod["volumes"] = instead(pod["volumes"], "name", map[string]any{"name": m.volume, "secret": map[string]any{
			"secretName": secret, "defaultMode": 420,
			"items": []any{map[string]any{"key": "tls.crt", "path": m.cert}, map[string]any{"key": "tls.key", "path": m.key}},
		}})
		containers, _ := pod["containers"].([]any)
		for _, item := range containers {
			if c, ok := item.(map[string]any); ok {
				c["volumeMounts"] = instead(c["volumeMounts"], "mountPath", map[string]any{"name": m.volume, "mountPath": m.path})
			}
		}
	}
	return json.RawMessage(o.encode())
}

// instead puts an element into a list, in the place of those that have the same
// under a key, or the same name.
func instead(list any, key string, next map[string]any) []any {
	all, _ := list.([]any)
	kept := []any{}
	for _, item := range all {
		if m, ok := item.(map[string]any); ok && (m[key] == next[key] || m["name"] == next["name"]) {
			continue
		}
		kept = append(kept, item)
	}
	return append(kept, next)
}
