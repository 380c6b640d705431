// Package machines runs the engine of package lifecycle on a Kubernetes API
// server: a machine that is being deleted waits for its preDrain hooks, is
// drained by evictions, waits for its preTerminate hooks, and loses its
// instance, its node and its finalizer, in this order.
//
// Machines are custom resources of machine.openshift.io/v1beta1, whose
// definition, as far as the engine reads it, is config/crd/machine.yaml. The
// instances are those of a [Cloud], which is yours to bring; [Program] is one on
// any program of yours.
//
// Or they are those of the Cluster API, see [KindClusterAPI]: hooks are annotations
// there, and in the place of the instance the object of the infrastructure is
// deleted, then the bootstrap configuration. The controller takes the place of the
// Cluster API's own for machines that are being deleted.
//
// [SetupWithManager] is all that an operator needs; [Backend] is for those with
// a driver of their own. What rights it needs stands in config/rbac-machines.yaml.
package machines
