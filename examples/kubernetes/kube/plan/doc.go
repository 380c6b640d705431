// Package plan carries a plan for the whole cluster out, with the engine of cvo/plan, on
// the objects of OpenShift.
//
// A ClusterPlan ([Kind], config/crd/clusterplans.yaml) says what the cluster is to become;
// the one of the name [Name] counts. Its status has the steps as they were planned and as
// they came about, side by side, and in its conditions what is waited for.
//
// The controller only makes requests: it sets spec.desiredUpdate of the ClusterVersion and
// spec.paused of MachineConfigPools, acknowledges gates in the ConfigMap admin-acks,
// approves InstallPlans, and asks for nodes with DrainRequests (package kube/drain). The
// cluster-version operator, the machine-config operator, the Operator Lifecycle Manager
// and the controllers of this module do the work, whichever run; people do what the
// condition names.
//
// A node that the plan no longer names is given back: its DrainRequest is deleted.
package plan
