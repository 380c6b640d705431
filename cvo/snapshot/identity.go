package snapshot

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// A ClusterError says that an input has objects of two clusters.
type ClusterError struct {
	What          string               // what tells them apart, as in "the clusterID of ClusterVersion version"
	First, Second string               // its values
	Places        [2]fairlead.Position // where they are
}

// Error names both clusters and says what to do.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s: the input has objects of two clusters: %s is %s here and %s in %s; name the files of one cluster",
		e.Places[1], e.What, e.Second, e.First, e.Places[0])
}

// identify learns from an object which cluster it is.
func (f *file) identify(object any, ref *Ref) {
	what, value := "", ""
	into, place := (*string)(nil), 0
	switch o := object.(type) {
	case *cvo.ClusterVersion:
		what, value, into = "the clusterID of ClusterVersion version", o.Spec.ClusterID, &f.s.Identity.ID
	case *Object:
		if ref.Kind == "Namespace" && ref.Name == "kube-system" {
			what, value, into, place = "the UID of namespace kube-system", o.UID, &f.s.Identity.System, 1
		}
	case *Infrastructure:
		f.s.Identity.Name = orElse(f.s.Identity.Name, o.Status.InfrastructureName)
	}
	switch {
	case value == "":
	case *into == "":
		*into, f.systems[place] = value, ref.Where
	case *into != value && f.foreign == nil:
		f.foreign = &ClusterError{what, *into, value, [2]fairlead.Position{f.systems[place], ref.Where}}
	}
}
