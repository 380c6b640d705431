package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// answers reports whether the pods of a CSV answer, so that the API server may
// call them.
func (s *stepper) answers(c *CSV) bool {
	switch c.Status.Phase {
	case PhaseInstalling, olm.PhaseSucceeded, olm.PhaseFailed, olm.PhaseReplacing:
		return s.active(c) && c.Deployed == Ready
	}
	return false
}

// reached are the objects that let the API server call the operators of the
// namespace. They are created when an operator's pods answer, and stay while it
// exists; if two operators have the same object, the replacing one wins.
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
			for _, d := range s.servings(c, false) {
				if ready || there[d.ref] {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// servings are the objects of one operator, if it has its certificates; foreseen are
// those that it will have once it has them, too.
func (s *stepper) servings(c *CSV, foreseen bool) []derived {
	var all []derived
	for _, deployment := range c.called() {
		is := s.certificate(calls.Secret(deployment))
		if is == nil && foreseen {
			is = &Certificate{Name: calls.Secret(deployment)}
		}
		if is != nil {
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
	spec := calls.ServiceSpec(&c.ClusterServiceVersion, deployment)
	key, _ := json.Marshal(spec) // what was decoded from JSON, strings and numbers: cannot fail
	return derive("", kindService, olm.ObjectMeta{Name: calls.Service(deployment), Namespace: s.Namespace}, string(key), func() map[string]any {
		return map[string]any{"spec": spec}
	})
}

// admissions are the configurations of validating and mutating webhooks.
func (s *stepper) admissions(c *CSV, deployment string, is *Certificate) []derived {
	var all []derived
	var watched []string // by the group: objects in these are reviewed
	if s.own != nil {
		watched = s.own.Status.Namespaces
	}
	for i := range c.Spec.WebhookDefinitions {
		w := &c.Spec.WebhookDefinitions[i]
		kind := calls.Configuration(w)
		if kind == "" || w.DeploymentName != deployment {
			continue
		}
		sum := digestOf(texts(s.Namespace, c.Name, fmt.Sprint(i), w.GenerateName))
		meta := olm.ObjectMeta{Name: strings.Trim(w.GenerateName, "-.") + "-" + sum[:10], Labels: map[string]string{group.OwnerLabel: c.Name, group.OwnerNamespaceLabel: s.Namespace}}
		hook := calls.Hook(w, w.GenerateName, s.Namespace, is.Authority, watched)
		key, _ := json.Marshal(hook) // what was decoded from JSON: cannot fail
		all = append(all, derive(groupAdmission, kind, meta, string(key), func() map[string]any {
			return map[string]any{"webhooks": []any{hook}}
		}))
	}
	return all
}

// apiServices register the APIs that the pods serve, and let the pods
// authenticate and authorize their callers.
func (s *stepper) apiServices(c *CSV, deployment string, is *Certificate) []derived {
	var all []derived
	service := calls.Service(deployment)
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		if d.DeploymentName != deployment {
			continue
		}
		spec := map[string]any{
			"group": d.Group, "version": d.Version, "groupPriorityMinimum": 2000, "versionPriority": 15, "caBundle": []byte(is.Authority),
			"service": map[string]any{"namespace": s.Namespace, "name": service, "port": calls.Port(d.ContainerPort)},
		}
		key, _ := json.Marshal(spec) // strings and numbers: cannot fail
		all = append(all, derive(groupRegistration, kindAPIService, olm.ObjectMeta{Name: d.Version + "." + d.Group}, string(key), func() map[string]any {
			return map[string]any{"spec": spec}
		}))
	}
	if all == nil {
		return nil
	}
	account := calls.Account(&c.ClusterServiceVersion, deployment)
	bind := func(kind, name, namespace, roleKind, role string) derived {
		return derive(groupRBAC, kind, olm.ObjectMeta{Name: name, Namespace: namespace}, role+" "+account+" "+s.Namespace, func() map[string]any {
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

// mounted mounts a deployment's certificate into its pods, where they expect it,
// and adds the digest of its authority, so that the pods restart with a new one.
func mounted(deployment json.RawMessage, secret string, is *Certificate) json.RawMessage {
	o, err := manifest.Decode(deployment)
	if err != nil {
		return deployment
	}
	template := o.Child("spec").Child("template")
	template.Child("metadata").Child("annotations")["olmcahash"] = digestOf(texts(is.Authority))
	calls.Mount(template.Child("spec"), secret)
	return json.RawMessage(encode(o))
}
