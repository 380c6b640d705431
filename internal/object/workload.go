package object

import (
	"strings"

	"github.com/fairlead/fairlead"
)

// templateHash is the label by which a Deployment tells its ReplicaSets apart.
const templateHash = "pod-template-hash"

// WorkloadOf returns the kind and name of what owns a pod: its controller, the Deployment behind a
// ReplicaSet, or the pod itself.
func WorkloadOf(p *fairlead.Pod) (kind, name string) {
	c := p.ControllerOf()
	if c == nil {
		return "Pod", p.Name
	}
	hash := p.Labels[templateHash]
	if name, of := strings.CutSuffix(c.Name, "-"+hash); of && c.Kind == "ReplicaSet" && hash != "" && name != "" {
		return "Deployment", name
	}
	return c.Kind, c.Name
}
