// Package plan carries out a plan for the whole cluster, with the engine of cvo/plan, on
// the objects of OpenShift.
//
// A ClusterPlan ([Kind], config/crd/clusterplans.yaml) names the goal; only the one
// called [Name] is used. Its status shows each step as planned and as carried out, side
// by side, and its conditions show what it waits for.
//
// The controller only makes requests: it sets spec.desiredUpdate of the ClusterVersion
// and spec.paused of MachineConfigPools, acknowledges gates in the ConfigMap
// admin-acks, approves InstallPlans, and requests nodes with DrainRequests (package
// kube/drain). The work is done by the cluster-version operator, the machine-config
// operator, the Operator Lifecycle Manager, or the controllers of this module,
// whichever are running; people do what the condition names.
//
// When the plan no longer names a node, its DrainRequest is deleted.
package plan
