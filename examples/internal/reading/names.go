package reading

import (
	"maps"
	"os"
	"slices"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// mostCompleted is the size of the largest file that is read while somebody types, in bytes.
const mostCompleted = 64 << 20

// Named returns the objects in the first argument that is a file, for shell completion, in order of
// namespace and name. There are none if it is no file of at most 64 MiB, or cannot be read.
func Named(c *args.Call, wanted func(*snapshot.Ref) bool) []snapshot.Ref {
	i := slices.IndexFunc(c.Args, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Mode().IsRegular() && info.Size() <= mostCompleted
	})
	if i < 0 {
		return nil
	}
	found := map[[3]string]snapshot.Ref{}
	r := snapshot.Reader{Each: func(ref *snapshot.Ref, _ []byte) {
		if wanted(ref) {
			found[[3]string{ref.Namespace, ref.Name, ref.Kind}] = *ref
		}
	}}
	if err := (&Source{call: c}).read(&r, c.Args[i]); err != nil {
		return nil
	}
	var refs []snapshot.Ref
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		refs = append(refs, found[k])
	}
	return refs
}

// Names returns the names of the objects of a kind, as [Named] finds them, for [args.Call.Offer].
func Names(kind string) func(*args.Call) []string {
	return func(c *args.Call) (names []string) {
		for _, ref := range Named(c, func(ref *snapshot.Ref) bool { return ref.Kind == kind }) {
			names = append(names, ref.Name)
		}
		return slices.Compact(names)
	}
}
