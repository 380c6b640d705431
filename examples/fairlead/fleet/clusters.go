package fleet

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	engine "github.com/fairlead/fairlead/cvo/plan/fleet"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// read reads the clusters of a directory. One that cannot be read is listed as such.
func (f *call) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	before, shut, err := situation.OpenCatalogs(f.Context, f.flags.Catalogs())
	defer shut()
	if err != nil {
		return err
	}
	f.before = before
	if len(f.newCatalog) > 0 {
		after, shut, err := situation.OpenCatalogs(f.Context, f.newCatalog)
		defer shut()
		if err != nil {
			return err
		}
		f.after = after
	}
	names := map[string]string{} // files by cluster
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if about(e) {
			f.skipped = append(f.skipped, e.Name())
			continue
		}
		if err := f.Context.Err(); err != nil {
			return err
		}
		name := clusterName(e)
		if other, there := names[name]; there {
			return fmt.Errorf("%s: %s and %s are both called %s: rename one of them", dir, other, e.Name(), name)
		}
		names[name] = e.Name()
		if err := f.cluster(name, filepath.Join(dir, e.Name())); err != nil {
			f.unread = append(f.unread, engine.Standing{Error: strings.TrimPrefix(err.Error(), dir+string(filepath.Separator)), Clusters: []string{name}})
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: it contains no dumps: put one of each cluster into it, made with: %s > NAME.yaml", dir, situation.DumpCommand)
	}
	f.twice()
	for _, name := range f.first {
		if _, there := names[name]; !there {
			return &args.UsageError{Text: "-first " + name + ": " + dir + " has no dump of that name"}
		}
	}
	return nil
}

// twice takes out clusters of which there are several dumps: they count once, and nobody knows which
// dump is the newer one. A copy of a cluster has its ID too.
func (f *call) twice() {
	names := map[string][]string{} // by ID
	for _, m := range f.members {
		id := m.Situation.Cluster.Spec.ClusterID
		names[id] = append(names[id], m.Name)
	}
	delete(names, "")
	same := func(m engine.Member) bool { return len(names[m.Situation.Cluster.Spec.ClusterID]) > 1 }
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if all := names[id]; len(all) > 1 {
			f.unread = append(f.unread, engine.Standing{
				Error:    "they have the same clusterID, " + id + ": keep only the newest dump of a cluster; a cluster that was copied needs an ID of its own",
				Clusters: all,
			})
		}
	}
	f.members, f.then = slices.DeleteFunc(f.members, same), slices.DeleteFunc(f.then, same)
}

// about reports whether a file is about a directory, by its name, and no dump: it is skipped unread.
func about(e os.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	name := strings.ToLower(e.Name())
	ending := filepath.Ext(name)
	if slices.Contains([]string{".md", ".markdown", ".rst", ".adoc", ".html", ".sh"}, ending) {
		return true
	}
	return slices.Contains([]string{"readme", "license", "owners", "codeowners", "makefile"}, strings.TrimSuffix(name, ".txt"))
}

// clusterName returns the name of a cluster by its dump.
func clusterName(e os.DirEntry) string {
	name := e.Name()
	if e.IsDir() {
		return name
	}
	for _, end := range []string{".tar.gz", ".tgz", ".tar", ".yaml", ".yml", ".json"} {
		if short, ok := strings.CutSuffix(name, end); ok && short != "" {
			return short
		}
	}
	return name
}

// cluster reads one cluster.
func (f *call) cluster(name, file string) error {
	from, err := f.flags.Snapshot(file)
	if err != nil {
		return err
	}
	s, err := f.flags.With(f.Call, from, f.before)
	if err != nil {
		return err
	}
	if s.Cluster == nil {
		return errors.New("its dump contains no ClusterVersion")
	}
	if s.At.After(f.at) {
		f.at = s.At
	}
	f.members = append(f.members, engine.Member{Name: name, Situation: &s.Situation})
	if f.after != nil {
		if s, err = f.flags.With(f.Call, from, f.after); err != nil {
			return err
		}
		f.then = append(f.then, engine.Member{Name: name, Situation: &s.Situation})
	}
	return nil
}
