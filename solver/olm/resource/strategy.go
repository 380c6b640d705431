package resource

import (
	"encoding/json"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// InstallStrategy is how an operator is deployed. Resolution does not read it.
type InstallStrategy struct {
	Strategy string       `json:"strategy,omitempty"` // "deployment", the only strategy
	Spec     StrategySpec `json:"spec,omitzero"`      // its details
}

// StrategySpec is how the deployment strategy installs an operator.
type StrategySpec struct {
	Deployments        []StrategyDeployment `json:"deployments,omitempty"`        // in the order of the CSV
	Permissions        []group.Permission   `json:"permissions,omitempty"`        // in the namespaces that the operator watches
	ClusterPermissions []group.Permission   `json:"clusterPermissions,omitempty"` // in the whole cluster
}

// StrategyDeployment is one deployment of an operator.
type StrategyDeployment struct {
	Name  string            `json:"name"`            // the deployment's
	Label map[string]string `json:"label,omitempty"` // its labels
	Spec  json.RawMessage   `json:"spec,omitempty"`  // its spec, as JSON
}
