// Package fleet runs the decisions of package lifecycle/fleet on a Kubernetes API
// server, for machines of the Machine API (machine.openshift.io/v1beta1) and of the
// Cluster API (cluster.x-k8s.io/v1beta2, see [Backend.Kind]):
//
//   - MachineHealthChecks have machines replaced that are not healthy, unless too many
//     are: [SetupWithManager], or [Backend.Check] for one of them.
//   - ControlPlaneMachineSets bring a control plane to new machines, one at a time:
//     [SetupControlPlaneWithManager], or [Backend.Replace] for one of them.
//   - [Backend.ScaleDown] has a MachineSet give up machines, and chooses which: it marks
//     them, and the set's own controller deletes those first.
//
// What rights it needs stands in config/rbac-fleet.yaml, for control planes in
// config/rbac-controlplane.yaml.
package fleet
