// Package lifecycle takes machines through their deletion: lifecycle hooks,
// drain, detachment of volumes, the instance, the node, and at last the
// finalizer. It never waits in silence: [Step] decides what comes next for one
// machine, or says who is waited for, since when, and what would end it.
package lifecycle
