package payload_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// sorter says which of two tasks must come first by the documentation, without
// looking at the graph. It knows the directory of each task, its runlevel, its
// component, and which file it is in.
type sorter struct {
	tasks []*payload.Manifest
	dir   []string
	level []string // "" outside of the grammar
	part  []string
	block []int // counts the Jobs before each task, and the Jobs: those of one block are not separated by a Job
	glue  []int // of each task outside of the grammar its own number, 0 for the others
}

func newSorter(tasks []*payload.Manifest) *sorter {
	s := &sorter{tasks: tasks}
	block := 0
	for i, m := range tasks {
		base, level, part := path.Base(m.File), "", ""
		if words := strings.SplitN(base, "_", 4); len(words) == 4 && words[0] == "0000" {
			level, part = words[1], words[2]
		}
		s.dir, s.level, s.part = append(s.dir, path.Dir(m.File)), append(s.level, level), append(s.part, part)
		if m.ID.Kind == "Job" {
			block++
			s.block = append(s.block, block)
			block++
		} else {
			s.block = append(s.block, block)
		}
		glue := 0
		if level == "" {
			glue = i + 1
		}
		s.glue = append(s.glue, glue)
	}
	return s
}

// order returns whether a, which stands before b in load order, must be done
// before b begins, and whether b may run beside a.
func (s *sorter) order(a, b int) (must, may bool) {
	if s.block[a] != s.block[b] {
		return true, false // a Job parts them
	}
	if s.level[a] == "" || s.level[b] == "" {
		return true, false // names outside of the grammar wait for their neighbours
	}
	for t := a; t < b; t++ {
		if s.level[t] != s.level[b] {
			return true, false // another level is between, or one of the two is in it
		}
	}
	// One run of one runlevel; it may reach from one directory into the next.
	same := s.part[a] == s.part[b]
	if s.dir[a] != s.dir[b] {
		return false, !same
	}
	return same, !same
}

// checkOrder compares a graph with the rules.
func checkOrder(tasks []*payload.Manifest, g *payload.Graph) error {
	node := make([]int, len(tasks))
	for i := range node {
		node[i] = -1
	}
	for i, n := range g.Nodes {
		for t := n.First; t < n.First+n.Count; t++ {
			if node[t] >= 0 {
				return fmt.Errorf("task %d is in nodes %d and %d", t, node[t], i)
			}
			node[t] = i
		}
		for _, to := range n.Out {
			if !slices.Contains(g.Nodes[to].In, i) {
				return fmt.Errorf("edge %d to %d is known to one end", i, to)
			}
		}
	}
	if slices.Contains(node, -1) {
		return fmt.Errorf("task %d is in no node", slices.Index(node, -1))
	}
	reach := closure(g)
	s := newSorter(tasks)
	for a := range tasks {
		for b := a + 1; b < len(tasks); b++ {
			must, may := s.order(a, b)
			is := node[a] == node[b] || reach[node[a]][node[b]]
			if must && !is {
				return fmt.Errorf("%s need not be done before %s", tasks[a].File, tasks[b].File)
			}
			if may && (is || reach[node[b]][node[a]]) {
				return fmt.Errorf("%s waits for %s", tasks[b].File, tasks[a].File)
			}
			if node[a] != node[b] && reach[node[b]][node[a]] {
				return fmt.Errorf("%s waits for %s, which is behind it", tasks[a].File, tasks[b].File)
			}
		}
	}
	return nil
}

// closure returns which nodes are behind which.
func closure(g *payload.Graph) [][]bool {
	reach := make([][]bool, len(g.Nodes))
	var visit func(from, at int)
	visit = func(from, at int) {
		for _, to := range g.Nodes[at].Out {
			if !reach[from][to] {
				reach[from][to] = true
				visit(from, to)
			}
		}
	}
	for i := range g.Nodes {
		reach[i] = make([]bool, len(g.Nodes))
		visit(i, i)
	}
	return reach
}

// randomNames draws the files of a payload, sorted as directories list them.
func randomNames(r *rand.Rand) []string {
	levels := []string{"00", "10", "20", "20", "50", "050"}
	parts := []string{"a", "b", "a-b", "c", "cluster-x", "A"}
	draw := func(dir string, n int) (names []string) {
		for range n {
			name := fmt.Sprintf("0000_%s_%s_%02d", levels[r.IntN(len(levels))], parts[r.IntN(len(parts))], r.IntN(30))
			switch r.IntN(25) {
			case 0:
				name = strings.Replace(name, "0000_", "0001_", 1)
			case 1:
				name = []string{"x", "10_a_x", "zz"}[r.IntN(3)]
			}
			names = append(names, dir+"/"+name+[]string{".yaml", ".yml", ".json"}[r.IntN(3)])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	return append(draw(payload.DirOwn, r.IntN(6)), draw(payload.DirRelease, r.IntN(24))...)
}

// TestRandomOrder checks the order of 10,000 random payloads by the rules of
// the documentation, those of every twentieth (of each in long runs) read from
// files.
func TestRandomOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	every := long.N(20, 1)
	for seed := range 10_000 {
		names := randomNames(r)
		jobs := r.IntN(4) == 0
		fsys := fstest.MapFS{}
		var tasks []*payload.Manifest
		for i, name := range names {
			m := &payload.Manifest{File: name, ID: payload.ID{Kind: "ConfigMap", Name: fmt.Sprint(i)}}
			api := "v1"
			if jobs && r.IntN(8) == 0 {
				m.ID.Kind, m.ID.Group, api = "Job", "batch", "batch/v1"
			}
			m.Name, _ = payload.ParseFileName(path.Base(name))
			tasks = append(tasks, m)
			text := fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "annotations": {"a": "b"}}}`, api, m.ID.Kind, m.ID.Name)
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if seed%every == 0 {
			tasks = reload(t, fsys, tasks)
		}
		if err := checkOrder(tasks, payload.NewGraph(tasks, nil)); err != nil {
			t.Fatalf("payload %d: %v\n%s", seed, err, strings.Join(names, "\n"))
		}
		flat := payload.NewGraph(tasks, payload.ReconcileOptions(seed))
		if err := checkFlat(tasks, flat); err != nil {
			t.Fatalf("payload %d, flattened: %v\n%s", seed, err, strings.Join(names, "\n"))
		}
	}
}

// reload reads from files what tasks are, and checks that it comes out in their
// order.
func reload(t *testing.T, fsys fstest.MapFS, tasks []*payload.Manifest) []*payload.Manifest {
	t.Helper()
	for name, f := range release() {
		if path.Ext(name) == "" {
			fsys[name] = f
		}
	}
	fsys[payload.DirOwn+"/README"] = &fstest.MapFile{}
	p, err := payload.Load(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(p.Manifests, tasks, func(a, b *payload.Manifest) bool { return a.File == b.File && a.ID == b.ID && a.Name == b.Name }) {
		t.Fatalf("the load order is another one: %v", p.Manifests)
	}
	return p.Manifests
}

// checkFlat checks a flattened order: nothing waits but for its own component in
// its runlevel, and for Jobs.
func checkFlat(tasks []*payload.Manifest, g *payload.Graph) error {
	seen := 0
	reach := closure(g)
	s := newSorter(tasks)
	node := make([]int, len(tasks))
	for i, n := range g.Nodes {
		seen += n.Count
		for t := n.First; t < n.First+n.Count; t++ {
			node[t] = i
		}
	}
	if seen != len(tasks) {
		return fmt.Errorf("%d tasks of %d", seen, len(tasks))
	}
	for a := range tasks {
		for b := a + 1; b < len(tasks); b++ {
			is := node[a] == node[b] || reach[node[a]][node[b]]
			parted := s.block[a] != s.block[b]
			chunk := s.level[a] != "" && !slices.ContainsFunc(tasks[a:b+1], func(m *payload.Manifest) bool { return m.Name != tasks[a].Name })
			if is != (parted || chunk) || node[a] != node[b] && reach[node[b]][node[a]] {
				return fmt.Errorf("%s before %s is %v", tasks[a].File, tasks[b].File, is)
			}
		}
	}
	return nil
}

// TestRealOrder checks the order of the real payload by the rules.
func TestRealOrder(t *testing.T) {
	tasks := loadData(t).Select(nil).Tasks
	if err := checkOrder(tasks, payload.NewGraph(tasks, nil)); err != nil {
		t.Error(err)
	}
	if err := checkFlat(tasks, payload.NewGraph(tasks, &payload.GraphOptions{Flatten: true})); err != nil {
		t.Error(err)
	}
}

// TestRealSchedule reports what workers bring on the real payload, with the
// default estimates and with tasks that all take as long.
func TestRealSchedule(t *testing.T) {
	tasks := loadData(t).Select(nil).Tasks
	equal := make([]time.Duration, len(tasks))
	for i := range equal {
		equal[i] = time.Millisecond
	}
	for _, d := range []struct {
		name      string
		durations []time.Duration
		flatten   bool
	}{
		{"estimates", (*payload.Estimates)(nil).Durations(tasks), false},
		{"1 ms each", equal, false},
		{"1 ms each, flattened", equal, true},
	} {
		g := payload.NewGraph(tasks, &payload.GraphOptions{Flatten: d.flatten})
		for _, workers := range []int{1, 2, 4, 16, 0} {
			s := g.Schedule(d.durations, workers)
			if err := checkSchedule(g, d.durations, s); err != nil {
				t.Errorf("%s, %d workers: %v", d.name, workers, err)
			}
			t.Logf("%s: %d workers: %v; path %v, work/workers %v, lower bound %v, Graham's bound %v", d.name, workers,
				s.Total, s.Path, s.Work/time.Duration(s.Workers), s.Lower(), s.Upper())
		}
	}
}
