// Package diagnosing reads a dump and asks the diagnosis about it, for all verbs alike.
package diagnosing

import (
	"encoding/json"
	"os"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// Dump is what was read.
type Dump struct {
	*snapshot.Snapshot
	Operators explain.Cluster // what OLM's engines read
}

// Diagnose asks the engines. A dump that does not say when it was made was made now.
func (d *Dump) Diagnose(c *args.Call, at time.Time) *diagnosis.Diagnosis {
	if at.IsZero() && d.Clock.At.IsZero() {
		at = time.Now().UTC().Truncate(time.Second)
	}
	c.Doing("diagnosing")
	d.Operators.OpenShift = d.Version() != nil
	return diagnosis.Diagnose(d.Snapshot, at, &diagnosis.Options{Others: olm(&d.Operators)})
}

// Open reads a dump: a directory, a file, or standard input.
func Open(c *args.Call, name string) (*Dump, error) {
	d := &Dump{}
	var r snapshot.Reader
	err := from(c, &r, name)
	if err == nil {
		d.Snapshot, err = r.Snapshot()
	}
	if err != nil {
		return nil, err
	}
	s := d.Snapshot
	feed(&d.Operators, "Subscription", &s.Subscriptions)
	feed(&d.Operators, "ClusterServiceVersion", &s.CSVs)
	feed(&d.Operators, "InstallPlan", &s.InstallPlans)
	feed(&d.Operators, "OperatorGroup", &s.OperatorGroups)
	feed(&d.Operators, "CatalogSource", &s.CatalogSources)
	feed(&d.Operators, "OperatorCondition", &s.OperatorConditions)
	feed(&d.Operators, "Namespace", &s.Namespaces)
	feed(&d.Operators, "Job", &s.Jobs)
	feed(&d.Operators, "OperatorHub", &s.Hubs)
	feed(&d.Operators, "OLMConfig", &s.OLMConfigs)
	feed(&d.Operators, "ClusterExtension", &s.Extensions)
	return d, nil
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

func from(c *args.Call, r *snapshot.Reader, name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return r.FS(os.DirFS(name), name)
	}
	src, err := c.Open(name)
	if err != nil {
		return err
	}
	defer src.Close()
	return r.Stream(src, name)
}

// olm returns what the operators of a dump wait for.
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
