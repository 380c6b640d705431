// Package diagnosing asks the diagnosis about a snapshot, for all verbs alike.
package diagnosing

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// Of asks the engines about a snapshot. One that does not say when it was made was made now.
func Of(s *snapshot.Snapshot) *diagnosis.Diagnosis {
	at := s.Clock.At
	if at.IsZero() {
		at = time.Now().UTC().Truncate(time.Second)
	}
	return diagnosis.Diagnose(s, at, &diagnosis.Options{Others: olm(Operators(s))})
}

// Operators returns what OLM's engines read of a snapshot.
func Operators(s *snapshot.Snapshot) *explain.Cluster {
	c := &explain.Cluster{OpenShift: s.Version() != nil}
	feed(c, "Subscription", &s.Subscriptions)
	feed(c, "ClusterServiceVersion", &s.CSVs)
	feed(c, "InstallPlan", &s.InstallPlans)
	feed(c, "OperatorGroup", &s.OperatorGroups)
	feed(c, "CatalogSource", &s.CatalogSources)
	feed(c, "OperatorCondition", &s.OperatorConditions)
	feed(c, "Namespace", &s.Namespaces)
	feed(c, "Job", &s.Jobs)
	feed(c, "OperatorHub", &s.Hubs)
	feed(c, "OLMConfig", &s.OLMConfigs)
	feed(c, "ClusterExtension", &s.Extensions)
	return c
}

// feed gives the objects of a list to OLM's engines, and says whether the list is known.
func feed[T any](to *explain.Cluster, kind string, l *snapshot.List[T]) {
	for i := range l.Items {
		if text, err := json.Marshal(&l.Items[i]); err == nil {
			_, _ = to.Add(kind, text) // what was odd in the dump, the snapshot says
		}
	}
	if l.Scope.Looked() {
		_, _ = to.Add(kind+"List", nil)
	}
}

// olm returns what the operators of a cluster wait for.
func olm(c *explain.Cluster) (all []diagnosis.Other) {
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
