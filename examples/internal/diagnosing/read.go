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

// About asks them as of a time, with options. Without Others, they are those of OLM.
func About(s *snapshot.Snapshot, at time.Time, o diagnosis.Options) *diagnosis.Diagnosis {
	if at.IsZero() {
		at = time.Now().UTC().Truncate(time.Second)
	}
	if o.Others == nil {
		o.Others = Others(Operators(s))
	}
	return diagnosis.Diagnose(s, at, &o)
}

// Operators returns what OLM's engines read of a snapshot.
func Operators(s *snapshot.Snapshot) *explain.Cluster {
	return operators.Of(s)
}

// Others returns what the operators of a cluster wait for.
func Others(c *explain.Cluster) (all []diagnosis.Other) {
	for _, v := range c.Operators() {
		o := diagnosis.Other{Kind: string(v.Kind), Namespace: v.Namespace, Name: v.Name, Phase: v.Phase}
		for i := range v.Waits {
			w := &v.Waits[i]
			x := diagnosis.OtherWait{Block: w.Block, Passing: w.Passing, Unknown: w.Unknown}
			if len(w.Commands) > 0 {
				x.Command = w.Commands[0]
			}
			o.Waits = append(o.Waits, x)
		}
		if len(o.Waits) > 0 {
			all = append(all, o)
		}
	}
	return all
}
