package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
)

// deployment returns the action that deploys a CSV: its deployments with the
// config of its subscription, the proxy of the cluster, and, on their pods, the
// namespaces that its group selects.
func (s *stepper) deployment(c *CSV) (Deploy, error) {
	d := Deploy{CSV: c.Name, Revision: c.Revision}
	if len(c.Spec.Install.Spec.Deployments) == 0 {
		return d, nil
	}
	settings, called := s.configOf(c), c.called()
	for i := range c.Spec.Install.Spec.Deployments {
		manifest, err := config.Apply(bare(c, &c.Spec.Install.Spec.Deployments[i]), settings, s.Proxy, c.Name)
		if err != nil {
			return d, err
		}
		if name := c.Spec.Install.Spec.Deployments[i].Name; slices.Contains(called, name) {
			if is := s.certificate(calls.Secret(name)); is != nil {
				manifest = mounted(manifest, is.Name, is)
			}
		}
		d.Deployments = append(d.Deployments, manifest)
	}
	d.Digest = digestOf(d.Deployments)
	return d, nil
}

// configOf returns the config of the subscription that a CSV serves, with the
// annotations that its pods learn their namespaces from.
func (s *stepper) configOf(c *CSV) *config.Config {
	var made config.Config
	for i := range s.Subscriptions {
		sub := &s.Subscriptions[i]
		if st := s.installed(&sub.Subscription, sub.Status); sub.Spec.Config != nil && st.InstalledCSV == c.Name {
			made = *sub.Spec.Config
		}
	}
	all := make(map[string]string)
	maps.Copy(all, made.Annotations)
	maps.Copy(all, notes(s.own, c))
	made.Annotations = all
	return &made
}

// bare is a deployment as the CSV has it.
func bare(c *CSV, d *olm.StrategyDeployment) []byte {
	labels := make(map[string]string)
	maps.Copy(labels, d.Label)
	labels[group.OwnerLabel], labels[group.OwnerNamespaceLabel] = c.Name, c.Namespace
	spec := d.Spec
	if !json.Valid(spec) {
		spec = json.RawMessage("null")
	}
	text, _ := json.Marshal(struct { // strings, and JSON that is valid: cannot fail
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Metadata   olm.ObjectMeta  `json:"metadata"`
		Spec       json.RawMessage `json:"spec"`
	}{"apps/v1", "Deployment", olm.ObjectMeta{Name: d.Name, Namespace: c.Namespace, Labels: labels}, spec})
	return text
}

// digestOf names a list of manifests; no manifests give "".
func digestOf(manifests []json.RawMessage) string {
	if len(manifests) == 0 {
		return ""
	}
	h := sha256.New()
	for _, m := range manifests {
		h.Write(m)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
