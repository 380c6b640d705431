package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
)

// deployment returns the action that deploys a CSV: its deployments with the
// config of its subscription, the proxy of the cluster, and, on their pods, the
// namespaces that its group selects.
func (s *stepper) deployment(c *CSV) (Deploy, error) {
	d := Deploy{CSV: c.Name, Revision: c.Revision, As: s.as}
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

// configOf returns the config that a CSV runs with, with the annotations that
// tell its pods their namespaces.
func (s *stepper) configOf(c *CSV) *config.Config {
	var made config.Config
	if subs := s.configuring(c); len(subs) > 0 {
		made = *subs[0].Spec.Config
	}
	all := make(map[string]string)
	maps.Copy(all, made.Annotations)
	maps.Copy(all, notes(s.own, c))
	made.Annotations = all
	return &made
}

// configuring returns the subscriptions with a config that a CSV serves, by name: the
// config of the first one counts.
func (s *stepper) configuring(c *CSV) []*Subscription {
	var subs []*Subscription
	for i := range s.Subscriptions {
		sub := &s.Subscriptions[i]
		if sub.Spec.Config != nil && s.installed(&sub.Subscription, sub.Status).InstalledCSV == c.Name {
			subs = append(subs, sub)
		}
	}
	slices.SortFunc(subs, func(a, b *Subscription) int { return strings.Compare(a.Name, b.Name) })
	return subs
}

// ignoredConfigs reports the configs that have no effect, because another
// subscription that the same CSV serves has a different one.
func (s *stepper) ignoredConfigs(c *CSV) {
	subs := s.configuring(c)
	for i := 1; i < len(subs); i++ {
		if !reflect.DeepEqual(subs[i].Spec.Config, subs[0].Spec.Config) {
			s.block("subscription "+subs[i].Name, ReasonConfigIgnored,
				fmt.Sprintf("its spec.config has no effect: CSV %s runs with that of subscription %s", c.Name, subs[0].Name),
				"whoever owns the subscriptions", fmt.Sprintf("move its settings to subscription %s, or delete one of the two", subs[0].Name))
		}
	}
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

// digestOf returns the digest of a list of manifests; "" for none.
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
