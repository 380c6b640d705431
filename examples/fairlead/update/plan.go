package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

func planCommand() *args.Command {
	return &args.Command{
		Name:  "plan",
		Usage: "PAYLOADDIR [-o text|json|yaml|dot|mermaid|svg] [-profile P] [-feature-set F] [-gates A,B] [-major N] [-workers N] [-flatten] [-lint] [-v]",
		About: "show which manifests of a release are applied, in which order, and about how long that takes",
		Help: `PAYLOADDIR holds manifests and release-manifests, as in a release image, or the files that oc adm release extract writes.
  -profile P         the cluster profile (self-managed-high-availability)
  -feature-set F     the feature set (Default)
  -gates A,B         the enabled feature gates
  -major N           the major version of the cluster
  -workers N         how many manifests are applied at a time
  -flatten           use the order for reconciling a cluster at its release, not for an update
  -lint              warn about problems of the order
  -v                 list every manifest`,
		Run: plan,
	}
}

func plan(c *args.Call) error {
	form := c.Choice("o", "text", "json", "dot", "mermaid", "svg")
	filter := filterFlags(c)
	var opts payload.PlanOptions
	c.Flags.BoolVar(&opts.Flatten, "flatten", false, "")
	c.Flags.IntVar(&opts.Workers, "workers", 0, "")
	verbose := c.Flags.Bool("v", false, "")
	lint := c.Flags.Bool("lint", false, "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	if opts.Workers < 0 {
		return &args.UsageError{Text: fmt.Sprintf("-workers %d: write how many manifests may be applied at a time, or 0 for the default", opts.Workers)}
	}
	selection, err := load(c, c.Args[0], filter)
	if err != nil {
		return err
	}
	p := payload.NewPlan(selection.Tasks, &opts)
	if *lint {
		for _, d := range selection.Lint(p.Graph) {
			c.Warn("%v", d)
		}
	}
	switch *form {
	case "json":
		return printPlanJSON(c.Stdout, selection, p)
	case "dot":
		return p.WriteDOT(c.Stdout)
	case "mermaid":
		return p.WriteMermaid(c.Stdout)
	case "svg":
		return p.WriteSVG(c.Stdout)
	}
	printPlan(c.Stdout, selection, p, *verbose)
	return nil
}

// filterFlags declares the flags that describe the cluster.
func filterFlags(c *args.Call) *payload.Filter {
	f := payload.NewFilter()
	c.Flags.StringVar(f.Profile, "profile", *f.Profile, "")
	c.Flags.StringVar(f.FeatureSet, "feature-set", *f.FeatureSet, "")
	c.Flags.Func("gates", "", func(s string) error {
		f.Gates = strings.Split(s, ",")
		return nil
	})
	c.Flags.Func("major", "", func(s string) error {
		f.Major = new(uint64)
		_, err := fmt.Sscan(s, f.Major)
		return err
	})
	return f
}

// load reads a payload, prints its diagnostics, and selects the manifests for the
// cluster.
func load(c *args.Call, dir string, filter *payload.Filter) (*payload.Selection, error) {
	if err := isDir(dir, "name the directory of a release's payload, which holds manifests and release-manifests, or what oc adm release extract --to=DIR has written"); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p, err := payload.Load(root.FS(), &payload.Options{Profile: *filter.Profile})
	var found payload.Diagnostics
	if errors.As(err, &found) {
		for _, d := range found {
			words.Fprintf(c.Stderr, "%s/%v\n", filepath.Clean(dir), d)
		}
		for _, d := range p.Warnings {
			c.Warn("%s/%v", filepath.Clean(dir), d)
		}
		return nil, fmt.Errorf("%s: the payload has %s", dir, words.Count(len(found), "error", "errors"))
	} else if err != nil {
		return nil, err
	}
	s := p.Select(filter)
	for _, list := range []payload.Diagnostics{p.Warnings, s.Warnings} {
		for _, d := range list {
			c.Warn("%s/%v", filepath.Clean(dir), d)
		}
	}
	return s, known(c, p, filter)
}

// known rejects a profile that no manifest of a payload is for, and warns about
// feature sets and gates that none mentions.
func known(c *args.Call, p *payload.Payload, filter *payload.Filter) error {
	const mark = "include.release.openshift.io/"
	profiles, sets, gates := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, m := range p.Manifests {
		for key, value := range m.Annotations {
			if profile, ok := strings.CutPrefix(key, mark); ok {
				profiles[profile] = true
			}
			for word := range strings.SplitSeq(value, ",") {
				switch key {
				case payload.AnnotationFeatureSet:
					sets[word] = true
				case payload.AnnotationGate:
					gates[strings.TrimPrefix(word, "-")] = true
				}
			}
		}
	}
	if len(profiles) > 0 && !profiles[*filter.Profile] {
		return fmt.Errorf("-profile %s: no manifest of the payload is for that profile; there are %s", *filter.Profile, listed(slices.Sorted(maps.Keys(profiles))))
	}
	if set := *filter.FeatureSet; set != "" && set != "Default" && !sets[set] {
		c.Warn("-feature-set %s: no manifest mentions it; they mention %s", set, listed(slices.Sorted(maps.Keys(sets))))
	}
	for _, g := range filter.Gates {
		if !gates[g] {
			c.Warn("-gates %s: no manifest mentions it; they mention %s", g, listed(slices.Sorted(maps.Keys(gates))))
		}
	}
	return nil
}

// planJSON is the form of "plan -o json".
type planJSON struct {
	Version      string         `json:"version"`
	Tasks        []taskJSON     `json:"tasks"`  // in load order
	Groups       []groupJSON    `json:"groups"` // tasks of a group go one by one
	Excluded     []excludedJSON `json:"excluded"`
	CriticalPath pathJSON       `json:"criticalPath"`
	Estimate     estimateJSON   `json:"estimate"`
}

type taskJSON struct {
	File    string  `json:"file"`
	ID      string  `json:"id"`
	Group   int     `json:"group"`
	Seconds float64 `json:"seconds"` // estimated
}

type groupJSON struct {
	Title string `json:"title,omitempty"` // none for a group without tasks
	After []int  `json:"after"`           // groups that must be done first
}

type excludedJSON struct {
	File   string       `json:"file"`
	ID     string       `json:"id"`
	Rule   payload.Rule `json:"rule"`
	Reason string       `json:"reason"`
}

type pathJSON struct {
	Tasks   []int   `json:"tasks"`
	Seconds float64 `json:"seconds"`
}

type estimateJSON struct {
	Workers int     `json:"workers"`
	Seconds float64 `json:"seconds"`
	Lower   float64 `json:"lowerBoundSeconds"` // no order of these tasks with so many workers is faster
	Work    float64 `json:"workSeconds"`       // one worker takes that long
}

func printPlanJSON(w io.Writer, s *payload.Selection, p *payload.Plan) error {
	out := planJSON{
		Version: s.Payload.Release.Version, Tasks: []taskJSON{}, Groups: []groupJSON{}, Excluded: []excludedJSON{},
		CriticalPath: pathJSON{Tasks: p.Critical, Seconds: p.Schedule.Path.Seconds()},
		Estimate: estimateJSON{
			Workers: p.Schedule.Workers, Seconds: p.Schedule.Total.Seconds(),
			Lower: p.Schedule.Lower().Seconds(), Work: p.Schedule.Work.Seconds(),
		},
	}
	for i, m := range s.Tasks {
		out.Tasks = append(out.Tasks, taskJSON{File: m.File, ID: m.ID.String(), Seconds: p.Durations[i].Seconds()})
	}
	for i := range p.Graph.Nodes {
		n := &p.Graph.Nodes[i]
		out.Groups = append(out.Groups, groupJSON{p.Graph.Title(n), append([]int{}, n.In...)})
		for t := n.First; t < n.First+n.Count; t++ {
			out.Tasks[t].Group = i
		}
	}
	for _, x := range s.Excluded {
		out.Excluded = append(out.Excluded, excludedJSON{x.File, x.ID.String(), x.Rule, x.Reason})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// printPlan prints a plan: a line for each group, with -v one for each task and
// each manifest that is left out.
func printPlan(w io.Writer, s *payload.Selection, p *payload.Plan, verbose bool) {
	words.Fprintf(w, "release %s: %s applied, %d left out\n", s.Payload.Release.Version, words.Count(len(s.Tasks), "manifest", "manifests"), len(s.Excluded))
	words.Fprintf(w, "about %s with up to %d tasks at a time, %s one by one, and never less than %s, the critical path (*)\n",
		round(p.Schedule.Total), p.Schedule.Workers, round(p.Schedule.Work), round(p.Schedule.Path))
	critical := make(map[int]bool, len(p.Critical))
	for _, t := range p.Critical {
		critical[t] = true
	}
	begin := make([]time.Duration, len(s.Tasks))
	for _, slot := range p.Schedule.Slots {
		begin[slot.Task] = slot.Start
	}
	for i := range p.Graph.Nodes {
		n := &p.Graph.Nodes[i]
		if n.Count == 0 {
			continue
		}
		mark, total := " ", time.Duration(0)
		if critical[n.First] {
			mark = "*"
		}
		for t := n.First; t < n.First+n.Count; t++ {
			total += p.Durations[t]
		}
		words.Fprintf(w, "%s %8s  %-50s %s, %s\n", mark, "+"+round(begin[n.First]), p.Graph.Title(n), words.Count(n.Count, "task", "tasks"), round(total))
		for t := n.First; verbose && t < n.First+n.Count; t++ {
			words.Fprintf(w, "             %s\n", p.Graph.Label(t))
		}
	}
	for _, x := range s.Excluded {
		if verbose {
			words.Fprintf(w, "left out: %s: %s: %s\n", x.File, x.ID, x.Reason)
		}
	}
}

// round writes a duration to the second, or finer below a minute.
func round(d time.Duration) string {
	text := d.Round(time.Second).String()
	if d > time.Hour {
		text = strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return text
}
