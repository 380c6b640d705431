// Package diagnosing asks the diagnosis about a snapshot, for all verbs alike.
package diagnosing

import (
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// Of asks the engines about a snapshot. One that does not say when it was made was made now.
func Of(s *snapshot.Snapshot) *diagnosis.Diagnosis { return About(s, s.Clock.At, diagnosis.Options{}) }

// About asks them as of a time, with options.
func About(s *snapshot.Snapshot, at time.Time, o diagnosis.Options) *diagnosis.Diagnosis {
	if at.IsZero() {
		at = time.Now().UTC().Truncate(time.Second)
	}
	return diagnosis.Diagnose(s, at, &o)
}

// Operators returns what OLM's engines read of a snapshot.
func Operators(s *snapshot.Snapshot) *explain.Cluster {
	return operators.Of(s)
}
