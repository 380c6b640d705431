package diagnosis

// The reasons of nodes of the graph that no engine below names. Others are those of packages
// cvo, drain, lifecycle and failure.
const (
	NodeNotReady     = "NodeNotReady"     // it is not ready, and says nothing that is known
	NodeRestarting   = "NodeRestarting"   // it is not ready because it is being updated
	NodeUpdating     = "NodeUpdating"     // its configuration is being changed
	NodeDegraded     = "NodeDegraded"     // its configuration could not be changed
	NodeDraining     = "NodeDraining"     // its pods are being moved away
	NodeDrainAhead   = "NodeDrainAhead"   // its pods could not be moved away, once it is drained
	NodeDrainStuck   = "NodeDrainStuck"   // it is cordoned by hand, and a drain of it does not complete
	NodeNotStarted   = "NodeNotStarted"   // it still has the taint of a node that starts
	RequestPending   = "RequestPending"   // a kubelet's request for a certificate waits for approval
	NodeTaintLeft    = "NodeTaintLeft"    // it is ready, and still has the out-of-service taint
	NodeCordoned     = "NodeCordoned"     // it is cordoned, and nothing that is known needs that
	PodStarting      = "PodStarting"      // it is not ready, and young
	PodNotReady      = "PodNotReady"      // it is not ready, and says nothing that is known
	PodOnDownNode    = "PodOnDownNode"    // it is not ready because its node is down
	PodStranded      = "PodStranded"      // it should have ended on a node that is down
	PodEnding        = "PodEnding"        // it is within its grace period
	PodOverdue       = "PodOverdue"       // it should have ended, and nothing known keeps it
	PodFinalizer     = "PodFinalizer"     // it has ended, and a finalizer keeps it
	PodNotEvicted    = "PodNotEvicted"    // a drain cannot evict it
	PodProtected     = "PodProtected"     // the policy of a drain keeps it
	PodManyBudgets   = "PodManyBudgets"   // several budgets select it, so the API cannot evict it
	PodScheduling    = "PodScheduling"    // it fits on a node, and will be placed
	PodWaitsForNode  = "PodWaitsForNode"  // it would fit on a node that is down or cordoned
	PodNoRoom        = "PodNoRoom"        // no node has room for it
	PodNotTolerating = "PodNotTolerating" // it does not tolerate the taints of the nodes that have room
	PodNoNode        = "PodNoNode"        // no node is one that it selects
	PodKeptApart     = "PodKeptApart"     // its affinity, or the spread of its pods, forbids all nodes
	PodPortTaken     = "PodPortTaken"     // the ports of nodes that it uses are taken
	PodUnscheduled   = "PodUnscheduled"   // it fits on a node, and has not been placed for long
	ClaimInUse       = "ClaimInUse"       // the claim is being deleted, and pods use it
	ClaimLost        = "ClaimLost"        // the volume of the claim does not exist any more
	ClaimPending     = "ClaimPending"     // the claim has no volume, and nothing says why
	ClassMissing     = "ClassMissing"     // the claim's storage class does not exist
	NoDefaultClass   = "NoDefaultClass"   // the claim names no storage class, and none is the default
	AttachedToGone   = "AttachedToGone"   // a volume is attached to a node that does not exist
	AttachedIdle     = "AttachedIdle"     // a volume is attached where nothing uses it
	VolumeInUse      = "VolumeInUse"      // another pod uses the volume on another node
	BudgetNever      = "BudgetNever"      // the budget allows no eviction even when all its pods are healthy
	BudgetSpent      = "BudgetSpent"      // the budget allows no eviction while pods of it are not healthy
	BudgetShort      = "BudgetShort"      // pods of the budget do not exist
	PoolPaused       = "PoolPaused"       // the pool is paused, and has outdated nodes
	PoolUpdating     = "PoolUpdating"     // its nodes are being updated
	PoolFull         = "PoolFull"         // as many nodes are down as may be
	PoolWaiting      = "PoolWaiting"      // it has no new configuration yet
	OperatorFails    = "OperatorFails"    // the operator is not available or degraded, and says nothing that is known
	OperatorSlow     = "OperatorSlow"     // the operator has been progressing for too long
	OperatorUpdating = "OperatorUpdating" // the operator is being updated
	OperatorWaiting  = "OperatorWaiting"  // it is not its turn yet
	UpdateRunning    = "UpdateRunning"    // the update as a whole
	UpdateFails      = "UpdateFails"      // the ClusterVersion fails, and says nothing that is known
	UpdateRefused    = "UpdateRefused"    // the requested release is not accepted
	WorkloadShort    = "WorkloadShort"    // a workload has fewer ready pods than it should, and no pod says why
	JobFailed        = "JobFailed"        // the Job has failed, and says nothing that is known
	AutoscalerIdle   = "AutoscalerIdle"   // the autoscaler cannot scale, and says nothing that is known
	MachineWaiting   = "MachineWaiting"   // the machine is being deleted
	MachineFailed    = "MachineFailed"    // the machine has failed and will not start
	MachineSlow      = "MachineSlow"      // the machine should have become a node long ago
	OtherWaiting     = "OtherWaiting"     // an object of Options that waits for something
	MachineStarting  = "MachineStarting"  // the machine is starting
)
