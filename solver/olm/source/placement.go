package source

import "maps"

// DefaultPriorityClass is the priority class of catalogs' pods.
const DefaultPriorityClass = "system-cluster-critical"

// Placement is where and how the pod of a catalog runs.
type Placement struct {
	NodeSelector map[string]string `json:"nodeSelector"`          // labels that the node must have
	Tolerations  []Toleration      `json:"tolerations,omitempty"` // taints that the node may have
	// PriorityClassName is the pod's; "" is the cluster's default.
	PriorityClassName string       `json:"priorityClassName"`
	Security          SecurityMode `json:"securityContextConfig"` // its privileges
	// Warning says why the placement may not last, or is "".
	Warning string `json:"-"`
}

// Placement decides where the pod of a catalog runs. It returns false for catalogs
// that need no pod that runs an image. By default, the node must run Linux, no
// taints are tolerated, and the priority class is DefaultPriorityClass; the fields
// of spec.grpcPodConfig override these, and PriorityClassAnnotation overrides the
// class there. The map and the slice of the result are copies.
func (c *CatalogSource) Placement() (Placement, bool) {
	if !c.runsImage() {
		return Placement{}, false
	}
	p := Placement{
		NodeSelector:      map[string]string{"kubernetes.io/os": "linux"},
		PriorityClassName: DefaultPriorityClass,
		Security:          SecurityLegacy,
	}
	if o := c.Spec.GRPCPodConfig; o != nil {
		if o.NodeSelector != nil {
			p.NodeSelector = maps.Clone(o.NodeSelector)
		}
		p.Tolerations = append(p.Tolerations, o.Tolerations...)
		if o.PriorityClassName != nil {
			p.PriorityClassName = *o.PriorityClassName
		}
		if o.SecurityContextConfig != "" {
			p.Security = o.SecurityContextConfig
		}
		if c.Annotations[ManagedByAnnotation] == marketplace {
			p.Warning = "the " + marketplace + " reverts changes of spec.grpcPodConfig; disable the default catalog, and create one of your own"
		}
	}
	if class, ok := c.Annotations[PriorityClassAnnotation]; ok {
		p.PriorityClassName = class
	}
	return p, true
}
