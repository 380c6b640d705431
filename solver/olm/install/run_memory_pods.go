package install

// deploy has the pods of a CSV's deployments run on the cluster's nodes.
func (b *MemBackend) deploy(namespace string, c *CSV) {
	if b.Cluster == nil {
		return
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		b.all.Deploy(namespace, d.Name, c.Name, d.Spec)
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

// running returns the health of the deployments of a CSV, by their pods.
func (b *MemBackend) running(namespace string, c *CSV) (Health, string) {
	for _, d := range c.Spec.Install.Spec.Deployments {
		if detail := b.all.Unready(namespace, d.Name); detail != "" {
			return Progressing, detail
		}
	}
	return Ready, ""
}
