package payload_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/golden"
)

// tasksOf makes tasks of words: the names of files, with "job:" before those
// that hold a Job.
func tasksOf(words []string) []*payload.Manifest {
	var tasks []*payload.Manifest
	for _, word := range words {
		m := &payload.Manifest{ID: payload.ID{Kind: "ConfigMap"}}
		if name, ok := strings.CutPrefix(word, "job:"); ok {
			word, m.ID.Kind, m.ID.Group = name, "Job", "batch"
		}
		m.File, m.ID.Name = "release-manifests/"+word, word
		m.Name, _ = payload.ParseFileName(word)
		tasks = append(tasks, m)
	}
	return tasks
}

// TestScripts runs the scenarios of testdata. The commands:
//
//	graph [flatten] [shuffle=SEED] [step=N stride=N]
//	                 the order of the tasks that the input names, see tasksOf;
//	                 prints each node, what it waits for, and its tasks
//	run [workers=N] [fail=TASK] [flatten] [done=(TASK,...)]
//	                 carries the tasks out, each as long as any other; prints
//	                 what begins together, and what is left
//	name FILE...     what the names of files say
//	judge [profile=P] [set=S] [gates=(A,B)] [nogates] [major=N] [known=(A,B)
//	      enabled=(A,B)] [unknown] [override=KIND/NS/NAME[/managed]] [exclude=ID] [nil]
//	                 judges the manifests of the input
//	label            what the manifests of the input are called
func TestScripts(t *testing.T) {
	w := golden.NewWords(t, "testdata/words/payload.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			switch c.Name {
			case "graph":
				return printGraph(payload.NewGraph(tasksOf(strings.Fields(c.Input)), options(c)))
			case "run":
				return printRun(payload.NewGraph(tasksOf(strings.Fields(c.Input)), options(c)), c)
			case "name":
				var out strings.Builder
				for _, word := range strings.Fields(c.Input) {
					n, err := payload.ParseFileName(word)
					if err != nil {
						fmt.Fprintln(&out, "error"+w.Data("name error", err.Error()))
						continue
					}
					fmt.Fprintf(&out, "%s: runlevel %s, component %s\n", word, n.Runlevel, n.Component)
				}
				return out.String()
			case "judge":
				return judge(w, c)
			case "label":
				return labels(w, c)
			}
			t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
			return ""
		}
	})
}

func number(c *golden.Command, key string) int {
	n, _ := strconv.Atoi(c.Value(key))
	return n
}

func options(c *golden.Command) *payload.GraphOptions {
	return &payload.GraphOptions{
		Flatten: c.Has("flatten"), Shuffle: c.Has("shuffle"), Seed: uint64(number(c, "shuffle")),
		Step: number(c, "step"), Stride: number(c, "stride"),
	}
}

func printGraph(g *payload.Graph) string {
	var out strings.Builder
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "%d in %v out %v", i, n.In, n.Out)
		for t := n.First; t < n.First+n.Count; t++ {
			out.WriteString(" " + g.Tasks[t].ID.Name)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func printRun(g *payload.Graph, c *golden.Command) string {
	done := make([]bool, len(g.Tasks))
	for i, m := range g.Tasks {
		done[i] = slices.Contains(c.Values("done"), m.ID.Name)
	}
	var out strings.Builder
	for r := g.Start(&payload.RunOptions{Workers: number(c, "workers"), Done: done}); ; {
		var begun []int
		for t, ok := r.Next(); ok; t, ok = r.Next() {
			begun = append(begun, t)
			out.WriteString(g.Tasks[t].ID.Name + " ")
		}
		if len(begun) == 0 {
			fmt.Fprintf(&out, "over %v, %d left, incomplete nodes %v, pending", r.Over(), r.Left(), r.Incomplete())
			for _, t := range r.Pending() {
				out.WriteString(" " + g.Tasks[t].ID.Name)
			}
			return out.String() + "\n"
		}
		fmt.Fprintf(&out, "| %d under way\n", r.Running())
		for _, t := range begun {
			if slices.Contains(c.Values("fail"), g.Tasks[t].ID.Name) {
				r.Fail(t)
			} else {
				r.Done(t)
			}
		}
	}
}

func judge(w *golden.Words, c *golden.Command) string {
	f := payload.NewFilter()
	if c.Has("nil") {
		f = new(payload.Filter)
	}
	if c.Has("profile") {
		profile := c.Value("profile")
		f.Profile = &profile
	}
	if c.Has("noprofile") {
		f.Profile = nil
	}
	if c.Has("set") {
		set := c.Value("set")
		f.FeatureSet = &set
	}
	if c.Has("gates") {
		f.Gates = c.Values("gates")
	}
	if c.Has("nogates") {
		f.Gates = nil
	}
	if c.Has("exclude") {
		id := c.Value("exclude")
		f.Exclude = &id
	}
	if c.Has("major") {
		major := uint64(number(c, "major"))
		f.Major = &major
	}
	if c.Has("known") || c.Has("enabled") {
		f.Capabilities = &payload.Capabilities{Known: c.Values("known"), Enabled: c.Values("enabled"), AllowUnknown: c.Has("unknown")}
	}
	for _, o := range c.Values("override") {
		p := strings.Split(o, "/")
		f.Overrides = append(f.Overrides, payload.Override{Kind: p[0], Namespace: p[1], Name: p[2], Unmanaged: len(p) == 3})
	}
	all, err := payload.ReadManifests("release-manifests/0000_10_a_x.yaml", []byte(c.Input), nil)
	if err != nil {
		return "error" + w.Data("manifests error", err.Error())
	}
	var out strings.Builder
	for _, m := range all {
		x := f.Evaluate(m)
		text := "in"
		if x.Rule != payload.RuleNone {
			text = string(x.Rule) + w.Data(string(x.Rule), x.Reason)
		}
		fmt.Fprintln(&out, m.ID, text)
	}
	return out.String()
}

func labels(w *golden.Words, c *golden.Command) string {
	all, err := payload.ReadManifests("release-manifests/0000_10_a_x.yaml", []byte(c.Input), nil)
	var out strings.Builder
	for i, m := range all {
		fmt.Fprintf(&out, "%s delete=%v create-only=%v operator=%v job=%v line %d\n", m.Label(i+1, len(all)), m.Delete(), m.CreateOnly(), m.ClusterOperator(), m.Job(), m.Pos.Line)
	}
	if err != nil {
		fmt.Fprintln(&out, "error"+w.Data("manifests error", err.Error()))
	}
	return out.String()
}

// TestReconcileOptions checks that every attempt has its own order: eight share a
// shuffle, of which each starts at another place.
func TestReconcileOptions(t *testing.T) {
	for attempt, want := range map[int]payload.GraphOptions{
		-1: {Flatten: true, Shuffle: true, Stride: 8},
		0:  {Flatten: true, Shuffle: true, Stride: 8},
		7:  {Flatten: true, Shuffle: true, Step: 7, Stride: 8},
		8:  {Flatten: true, Shuffle: true, Seed: 1, Stride: 8},
		19: {Flatten: true, Shuffle: true, Seed: 2, Step: 3, Stride: 8},
	} {
		if got := *payload.ReconcileOptions(attempt); got != want {
			t.Errorf("attempt %d: %+v, want %+v", attempt, got, want)
		}
	}
}
