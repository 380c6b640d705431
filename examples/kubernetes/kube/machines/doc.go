// Package machines runs the engine of package lifecycle on a Kubernetes API
// server. A machine that is being deleted waits for its preDrain hooks, is
// drained by evictions, waits for its preTerminate hooks, and loses its
// instance, its node and its finalizer, in this order.
//
// Machines are custom resources of machine.openshift.io/v1beta1; their CRD, as
// far as the engine reads it, is config/crd/machine.yaml. Instances are accessed
// through a [Cloud] that you provide; [Program] is one that calls your program.
//
// Machines can also be those of the Cluster API, see [KindClusterAPI]. There, hooks
// are annotations, and the infrastructure object is deleted instead of the
// instance, followed by the bootstrap configuration. The controller replaces the
// Cluster API's own for machines that are being deleted.
//
// An operator needs only [SetupWithManager]; use [Backend] with your own driver.
// The RBAC rules are in config/rbac-machines.yaml.
package machines
