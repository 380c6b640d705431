// Package calls provides what the API server needs to call the pods of an
// operator, for its webhooks and API services: names of services and of their
// certificates, ports, the entries of webhook configurations, and where pods find
// their certificate. The names and paths are those of the Operator Lifecycle Manager,
// on which operators rely.
package calls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// Deployments returns the names of a CSV's deployments whose pods are called, sorted.
func Deployments(c *olm.ClusterServiceVersion) []string {
	var names []string
	for i := range c.Spec.WebhookDefinitions {
		names = append(names, c.Spec.WebhookDefinitions[i].DeploymentName)
	}
	for i := range c.Spec.APIServiceDefinitions.Owned {
		names = append(names, c.Spec.APIServiceDefinitions.Owned[i].DeploymentName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Misdefined returns what is wrong with the webhooks and API services of a CSV, or "".
// all says whether the operator watches all namespaces.
func Misdefined(c *olm.ClusterServiceVersion, all bool) string {
	deploys := func(name string) bool {
		return slices.ContainsFunc(c.Spec.Install.Spec.Deployments, func(d olm.StrategyDeployment) bool { return d.Name == name })
	}
	for i := range c.Spec.WebhookDefinitions {
		w := &c.Spec.WebhookDefinitions[i]
		text := ""
		switch {
		case !slices.Contains([]string{olm.WebhookValidating, olm.WebhookMutating, olm.WebhookConversion}, w.Type):
			text = fmt.Sprintf("its type is %q", w.Type)
		case !deploys(w.DeploymentName):
			text = fmt.Sprintf("the CSV has no deployment %q to answer", w.DeploymentName)
		case w.Type != olm.WebhookConversion && forbidden(w.Rules) != "":
			text = "it is asked about " + forbidden(w.Rules) + ", and so could keep its own removal from happening"
		case w.Type == olm.WebhookConversion && !all:
			text = "it converts objects of all namespaces, and the operator watches only some"
		case w.Type == olm.WebhookConversion:
			for _, name := range w.ConversionCRDs {
				if !slices.ContainsFunc(c.Spec.CustomResourceDefinitions.Owned, func(d olm.CRDDescription) bool { return d.Name == name }) {
					text = "it converts " + name + ", which the CSV does not own"
				}
			}
		}
		if text != "" {
			return fmt.Sprintf("webhook %s: %s", w.GenerateName, text)
		}
	}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		if !deploys(d.DeploymentName) {
			return fmt.Sprintf("API service %s.%s: the CSV has no deployment %q to answer", d.Version, d.Group, d.DeploymentName)
		}
	}
	return ""
}

// forbidden returns the API group in the rules that no webhook may intercept, or "".
func forbidden(rules json.RawMessage) string {
	var all []struct {
		APIGroups []string `json:"apiGroups"`
		Resources []string `json:"resources"`
	}
	_ = json.Unmarshal(rules, &all) // the API server refuses what cannot be read
	for _, r := range all {
		for _, group := range r.APIGroups {
			switch group {
			case "*":
				return "all API groups"
			case "operators.coreos.com", "olm.operatorframework.io":
				return group
			case "admissionregistration.k8s.io":
				for _, resource := range r.Resources {
					switch strings.TrimSuffix(strings.ToLower(resource), "s") {
					case "*", "mutatingwebhookconfiguration", "validatingwebhookconfiguration":
						return group
					}
				}
			}
		}
	}
	return ""
}

// Service returns the name of the service for the pods of a deployment.
func Service(deployment string) string {
	const most = 63 - len("-service")
	name := strings.ReplaceAll(deployment, ".", "-")
	return strings.TrimRight(name[:min(len(name), most)], "-") + "-service"
}

// Secret returns the name of the secret with the certificate of a deployment's pods.
func Secret(deployment string) string { return Service(deployment) + "-cert" }

// Hosts returns the host names by which the API server calls a service.
func Hosts(service, namespace string) []string {
	name := service + "." + namespace
	return []string{name + ".svc", name + ".svc.cluster.local", name}
}

// Port returns the port of a service: the one that a definition names, or 443.
func Port(named int32) int32 {
	if named == 0 {
		return 443
	}
	return named
}

// ServiceSpec returns the spec of the service for the pods of a deployment.
func ServiceSpec(c *olm.ClusterServiceVersion, deployment string) map[string]any {
	type servicePort struct {
		Name       string `json:"name"`
		Port       int32  `json:"port"`
		TargetPort any    `json:"targetPort"`
	}
	var ports []servicePort
	add := func(n int32, target json.RawMessage) {
		n = Port(n)
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
	return map[string]any{"ports": ports, "selector": podsOf(c, deployment).Selector.MatchLabels}
}

// Account returns the name of the service account of a deployment's pods.
func Account(c *olm.ClusterServiceVersion, deployment string) string {
	if name := podsOf(c, deployment).Template.Spec.Account; name != "" {
		return name
	}
	return "default"
}

// pods is the part of a deployment's spec that is read.
type pods struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Template struct {
		Spec struct {
			Account string `json:"serviceAccountName"`
		} `json:"spec"`
	} `json:"template"`
}

func podsOf(c *olm.ClusterServiceVersion, deployment string) (p pods) {
	for i := range c.Spec.Install.Spec.Deployments {
		if d := &c.Spec.Install.Spec.Deployments[i]; d.Name == deployment {
			_ = json.Unmarshal(d.Spec, &p) // what cannot be read selects nothing, and cannot be deployed
		}
	}
	return p
}

// Configuration returns the kind of the configuration that lists a webhook, or "" for
// one that converts.
func Configuration(w *olm.WebhookDescription) string {
	switch w.Type {
	case olm.WebhookValidating:
		return "ValidatingWebhookConfiguration"
	case olm.WebhookMutating:
		return "MutatingWebhookConfiguration"
	}
	return ""
}

// ServiceOf returns the reference to the service of a webhook.
func ServiceOf(w *olm.WebhookDescription, namespace string) map[string]any {
	return map[string]any{"namespace": namespace, "name": Service(w.DeploymentName), "path": w.Path, "port": Port(w.ContainerPort)}
}

// Hook returns the entry of a webhook in its configuration, for objects of the watched
// namespaces; none, or "" among them, means all. authority is the CA bundle that
// verifies its certificate; "" leaves the bundle to others.
func Hook(w *olm.WebhookDescription, name, namespace, authority string, watched []string) map[string]any {
	config := map[string]any{"service": ServiceOf(w, namespace)}
	if authority != "" {
		config["caBundle"] = []byte(authority)
	}
	hook := map[string]any{"name": name, "admissionReviewVersions": w.AdmissionReviewVersions, "sideEffects": w.SideEffects, "clientConfig": config}
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
	if len(watched) > 0 && !slices.Contains(watched, "") {
		hook["namespaceSelector"] = map[string]any{"matchExpressions": []any{
			map[string]any{"key": "kubernetes.io/metadata.name", "operator": "In", "values": watched},
		}}
	}
	return hook
}
