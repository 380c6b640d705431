// Package fleet runs the decisions of package lifecycle/fleet on a Kubernetes API
// server, for machines of the Machine API (machine.openshift.io/v1beta1) and of the
// Cluster API (cluster.x-k8s.io/v1beta2, see [Backend.Kind]):
//
//   - MachineHealthChecks: unhealthy machines are replaced, unless too many are
//     unhealthy: [SetupWithManager], or [Backend.Check] for a single check.
//   - ControlPlaneMachineSets: a control plane moves to new machines, one at a time:
//     [SetupControlPlaneWithManager], or [Backend.Replace] for a single set.
//   - [Backend.ScaleDown] scales a MachineSet down and chooses which machines go: it
//     marks them, and the set's own controller deletes those first.
//
// The RBAC rules are in config/rbac-fleet.yaml, and for control planes in
// config/rbac-controlplane.yaml.
package fleet
