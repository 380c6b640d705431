package install

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// deploy has the pods of a CSV's deployments run on the cluster's nodes.
func (b *MemBackend) deploy(namespace string, c *CSV) {
	if b.Cluster == nil {
		return
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		var is struct {
			Replicas *int `json:"replicas"`
			Template struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
				Spec fairlead.PodSpec `json:"spec"`
			} `json:"template"`
		}
		_ = json.Unmarshal(d.Spec, &is) // what it does not say is the default
		one := 1
		b.all.SetWorkload(cluster.Workload{
			Namespace: namespace, Name: d.Name, Replicas: *cmp.Or(is.Replicas, &one),
			Owner: c.Name, Labels: is.Template.Metadata.Labels, Template: is.Template.Spec,
		})
	}
}

// undeploy ends them.
func (b *MemBackend) undeploy(namespace string, c *CSV) {
	if b.Cluster == nil || c == nil || c.Deployed == "" {
		return
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		b.all.RemoveWorkload(namespace, d.Name, c.Name)
	}
}

// running tells how the deployments of a CSV stand, by their pods.
func (b *MemBackend) running(namespace string, c *CSV) (Health, string) {
	for _, d := range c.Spec.Install.Spec.Deployments {
		if ready, wanted := b.all.Ready(namespace, d.Name); ready < wanted {
			return Progressing, fmt.Sprintf("%d of %d pods of deployment %s are ready", ready, wanted, d.Name)
		}
	}
	return Ready, ""
}
