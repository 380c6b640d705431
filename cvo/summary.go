package cvo

import (
	"fmt"
	"strings"
)

// Short sentences for reasons.
var summaries = map[string]string{
	"UpdatePayloadResourceNotFound":    "some resources could not be updated",
	"UpdatePayloadResourceConflict":    "some resources could not be updated",
	"UpdatePayloadClusterDown":         "the control plane is down or not responding",
	"UpdatePayloadClusterError":        "the control plane is reporting an internal error",
	"UpdatePayloadClusterOverloaded":   "the control plane is overloaded and is not accepting updates",
	"UpdatePayloadClusterUnauthorized": "could not authenticate to the server",
	"UpdatePayloadRetrievalFailed":     "could not download the update",
	"UpdatePayloadResourceForbidden":   "the server is rejecting updates",
	"UpdatePayloadResourceTypeMissing": "a required extension is not available to update",
	"UpdatePayloadResourceInvalid":     "some cluster configuration is invalid",
	"UpdatePayloadIntegrity":           "the contents of the update are invalid",
	"ImageVerificationFailed":          "the image may not be safe to use",
	"UpgradePreconditionCheckFailed":   "it may not be safe to apply this update",
	"ClusterOperatorsNotAvailable":     "some cluster operators are not available",
	"ClusterOperatorsDegraded":         "some cluster operators are degraded",
	"ClusterOperatorsUpdating":         "some cluster operators have not reached the new version",
	"ClusterOperatorsNoVersions":       "some cluster operators do not declare expected versions",
	"ClusterOperatorsNotFound":         "some cluster operators have not reported",
	"NoDesiredImage":                   "there is no release to apply",
}

// The same for one subject: with its name, and without.
var singulars = map[string][2]string{
	ReasonOperatorDegraded:     {"the cluster operator %s is degraded", "a cluster operator is degraded"},
	ReasonOperatorNotAvailable: {"the cluster operator %s is not available", "a cluster operator is not available"},
	ReasonOperatorVersions:     {"the cluster operator %s does not declare expected versions", "a cluster operator does not declare expected versions"},
	ReasonOperatorUpdating:     {"the cluster operator %s has not reached the new version", "a cluster operator has not reached the new version"},
	"WorkloadNotAvailable":     {"the workload %s has not yet successfully rolled out", "a workload has not yet rolled out"},
	"WorkloadNotProgressing":   {"the workload %s cannot roll out", "a workload cannot roll out"},
}

// SummaryForReason returns a short sentence for a reason, about the object of
// that name if there is one. It never calls a known reason an unknown error:
// for several errors it names those concerned.
func SummaryForReason(reason, name string) string {
	if s, ok := singulars[reason]; ok {
		if name != "" {
			return fmt.Sprintf(s[0], name)
		}
		return s[1]
	}
	if s, ok := summaries[reason]; ok {
		return s
	}
	switch {
	case reason == "":
		return "an error occurred"
	case reason == ReasonMultiple && name != "":
		return "several errors, some about " + name
	case reason == ReasonMultiple:
		return "several errors"
	case strings.HasPrefix(reason, "UpdatePayload"):
		return "the update could not be applied"
	case name != "":
		return name + " has an unknown error: " + reason
	}
	return "an unknown error has occurred: " + reason
}
