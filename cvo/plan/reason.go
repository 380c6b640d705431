package plan

// FactReason says what kind of fact rules out a plan. Facts of other reasons may be added.
type FactReason string

// The reasons of facts, and what their subject is.
const (
	FactGoal                  FactReason = "Goal"                  // the release that is requested
	FactNoVersion             FactReason = "NotAVersion"           // the current or the requested release is no version
	FactOtherDirection        FactReason = "NotAnUpdate"           // the requested release is older, or of another major version
	FactUpdatesUnknown        FactReason = "UpdatesUnknown"        // which updates are available was not observed
	FactNoUpdates             FactReason = "NoUpdates"             // no updates are known; the release that is being updated to
	FactNoPath                FactReason = "NoPath"                // no path leads to the release, or the minor version
	FactRisk                  FactReason = "RiskApplies"           // the risk, which is not accepted
	FactRefused               FactReason = "ReleaseRefused"        // the release, which the cluster has refused
	FactInvalid               FactReason = "ClusterVersionInvalid" // the reason of the condition Invalid
	FactClusterNotUpgradeable FactReason = "ClusterNotUpgradeable" // the reason that the ClusterVersion reports
	FactChanging              FactReason = "ClusterChanging"       // the release, at which the cluster changes something else
	FactGate                  FactReason = "AdminGate"             // the gate that must be acknowledged
	FactHosted                FactReason = "HostedControlPlane"    // the release that was requested
	FactHeld                  FactReason = "OperatorCondition"     // the operator that OLM does not replace
	FactTrouble               FactReason = "OperatorTrouble"       // the operator that OLM cannot update
	FactCatalogUnknown        FactReason = "CatalogUnknown"        // the operator whose updates are unknown
	FactNodeDown              FactReason = "NodeDown"              // the node that is not ready, whose pods budgets need
	FactFailing               FactReason = "ClusterFailing"        // the reason of the condition Failing
	FactNotAvailable          FactReason = "OperatorUnavailable"   // the cluster operator
	FactNotUpgradeable        FactReason = "NotUpgradeable"        // the cluster operator that is not Upgradeable
	FactOverrides             FactReason = "Overrides"             // the objects that spec.overrides leaves unmanaged
	FactNotInVersions         FactReason = "InstalledUnknown"      // the operator whose installed version is not listed
	FactNoSuchVersion         FactReason = "NoSuchVersion"         // the operator whose channel lacks the requested version
	FactNotInstalled          FactReason = "NotInstalled"          // the operator that the goal names
	FactUnsupported           FactReason = "Unsupported"           // the CSV that does not support a minor version on the way
	FactKeptOperator          FactReason = "OperatorKept"          // the operator that the policy keeps
	FactNoHop                 FactReason = "NoOperatorUpdate"      // the operator whose catalogs have no other update
	FactOperatorGoal          FactReason = "OperatorGoal"          // the operator whose version is requested
	FactInstalled             FactReason = "Installed"             // the operator
	FactRequires              FactReason = "Requires"              // the CSV that requires something
	FactUsesRemovedAPI        FactReason = "UsesRemovedAPI"        // the CSV that uses the API
	FactKeptMember            FactReason = "MemberKept"            // the etcd member that may not be replaced
	FactFewMembers            FactReason = "TooFewMembers"         // etcd has too few members
	FactQuorumLost            FactReason = "QuorumLost"            // the unhealthy members
	FactNoPause               FactReason = "PauseForbidden"        // the policy forbids pausing pools
	FactPauseWorkers          FactReason = "PauseRequested"        // the pool that the goal keeps paused
	FactSkew                  FactReason = "Skew"                  // the pool whose nodes would be too far behind
	FactNodeOut               FactReason = "NodeOut"               // the node that the goal takes out of service
	FactNoSuchNode            FactReason = "NoSuchNode"            // the node that the goal names
	FactPoolInvalid           FactReason = "PoolInvalid"           // the pool with an invalid field
	FactNodesFailed           FactReason = "NodesFailed"           // the nodes that failed to update
	FactCordoned              FactReason = "Cordoned"              // the pool of which as many nodes are cordoned as may be down
	FactDrainInvalid          FactReason = "DrainInvalid"          // drains cannot be computed
	FactPodStays              FactReason = "PodStays"              // the pod that cannot be evicted
	FactTwoBudgets            FactReason = "TwoBudgets"            // the pod that two budgets select
	FactBudget                FactReason = "BudgetKept"            // the budget that allows no disruption and may not be changed
	FactNoRoom                FactReason = "NoRoom"                // the pool or node whose pods do not fit elsewhere
	FactNoWindow              FactReason = "NoWindow"              // the kind of step for which no window is long enough
)
