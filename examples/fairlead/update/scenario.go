package update

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/doc"
)

// scenario is what a file says: two releases, how long operators and nodes take,
// and what troubles them.
type scenario struct {
	title     string
	start     time.Time
	limit     time.Duration // it ends at the latest after that
	from, to  *payload.Payload
	retrieve  time.Duration
	startup   time.Duration // of a pod that takes the place of another
	operators []operator    // in the order of the file
	rollouts  map[string]time.Duration
	pools     []pool   // in the order of the file
	silences  []outage // in the order of the file
}

// operator is how an operator behaves while it is updated.
type operator struct {
	name     string
	takes    time.Duration
	never    bool // it does not reach its version
	troubles []trouble
}

// trouble is a time in which an operator is degraded or unavailable.
type trouble struct {
	what        string
	after, last time.Duration // since its manifest was applied; last is 0 for good
	message     string
}

// What an operator can be, but for well.
const (
	degraded    = "degraded"
	unavailable = "unavailable"
)

// pool is a node pool.
type pool struct {
	name        string
	required    bool // the machine-config operator waits for it
	paused      bool
	unavailable *rollout.IntOrString
	nodes       []node
	workloads   []workload // whose pods its drains evict; without any, nodes say how long a drain takes
}

// node is how a node behaves while it is updated.
type node struct {
	name, zone     string
	drain, update  time.Duration
	reboot         time.Duration // the end of update, in which nothing is heard of the node
	fails, neverUp bool
	lost           bool // it does not come back from its reboot
}

// machineConfig is the operator that brings the nodes to a release.
const machineConfig = "machine-config"

// never is longer than any scenario.
const never = 20 * 365 * 24 * time.Hour

// scenarioFile is the form of a scenario in a file.
type scenarioFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Start      string            `json:"start"`      // an instant; 2026-03-01T12:00:00Z if it is missing
		For        string            `json:"for"`        // a duration; a day if it is missing
		Retrieve   string            `json:"retrieve"`   // how long the new release takes to retrieve
		PodStartup string            `json:"podStartup"` // how long a pod takes that takes the place of another
		From       releaseFile       `json:"from"`       // what the cluster runs
		To         releaseFile       `json:"to"`         // what it is to run
		Components []componentFile   `json:"components"` // of releases without a directory
		Operators  []operatorFile    `json:"operators"`
		Rollouts   map[string]string `json:"rollouts"` // how long Deployments and DaemonSets take, by name
		Pools      []poolFile        `json:"pools"`
		Outages    []outageFile      `json:"outages"`
	} `json:"spec"`
}

type releaseFile struct {
	Version string `json:"version"` // of a release that is made of the components
	Payload string `json:"payload"` // a directory, from that of the scenario
}

type componentFile struct {
	Runlevel int    `json:"runlevel"`
	Name     string `json:"name"`
	Objects  int    `json:"objects"`  // ConfigMaps
	Operator bool   `json:"operator"` // a Deployment and a ClusterOperator as well
}

type operatorFile struct {
	Name        string       `json:"name"`
	Takes       string       `json:"takes"` // a duration, or never
	Degraded    *troubleFile `json:"degraded"`
	Unavailable *troubleFile `json:"unavailable"`
}

type troubleFile struct {
	After   string `json:"after"`
	For     string `json:"for"` // for good if it is missing
	Message string `json:"message"`
}

type poolFile struct {
	Name           string     `json:"name"`
	Required       bool       `json:"required"`
	Paused         bool       `json:"paused"`
	MaxUnavailable *doc.Value `json:"maxUnavailable"`
	Drain          string     `json:"drain"`  // of nodes that do not say
	Update         string     `json:"update"` // of nodes that do not say
	Reboot         string     `json:"reboot"` // of nodes that do not say
	Nodes          []nodeFile `json:"nodes"`
	Workloads      []workFile `json:"workloads"`
}

type workFile struct {
	Name         string                `json:"name"`
	Replicas     int                   `json:"replicas"`
	Daemon       bool                  `json:"daemon"`       // one pod on each node, which drains leave there
	MinAvailable *doc.Value            `json:"minAvailable"` // of its disruption budget; without, there is none
	Tolerations  []fairlead.Toleration `json:"tolerations"`
}

type nodeFile struct {
	Name   string `json:"name"`
	Zone   string `json:"zone"`
	Drain  string `json:"drain"`  // a duration, or never
	Update string `json:"update"` // a duration, or fails
	Reboot string `json:"reboot"` // a duration, or never
}

// scenarioReader turns the file into a scenario. Its first complaint counts.
type scenarioReader struct {
	file scenarioFile
	doc  *doc.Document
	tree *doc.Value
	dir  string
	err  error
}

// readScenario reads a file that holds one document of kind Scenario.
func readScenario(name string) (*scenario, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, unread(err, name, "name a scenario, such as one of examples/fairlead/update/scenarios")
	}
	src := doc.NewReader(bytes.NewReader(text), name, doc.Limits{})
	d, err := src.Next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty; write a document of kind Scenario", name)
	} else if err != nil {
		return nil, err
	}
	r := &scenarioReader{doc: d.Clone(), dir: filepath.Dir(name)}
	if next, err := src.Next(); err == nil {
		return nil, fmt.Errorf("%s: a scenario is one document, and this is another; take it out", next.Start)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	r.tree = doc.Tree(r.doc.JSON)
	if wrong := doc.Decode(r.tree, &r.file, doc.Strict); len(wrong) > 0 {
		m := wrong[0]
		hint := m.Hint()
		if hint != "" {
			hint = "; " + hint
		}
		return nil, fmt.Errorf("%s: %w%s", r.doc.Position(m.Value.KeyOffset), m, hint)
	}
	if r.file.Kind != "Scenario" {
		r.fault("kind is %q; write Scenario", []any{"kind"}, r.file.Kind)
	}
	s := r.scenario()
	return s, r.err
}

// fault complains of what stands at a path.
func (r *scenarioReader) fault(format string, path []any, values ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", r.doc.Position(r.tree.At(path...).KeyOffset), fmt.Errorf(format, values...))
	}
}

// pathText writes a path as people do.
func pathText(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// duration reads a duration at a path below spec.
func (r *scenarioReader) duration(text string, otherwise time.Duration, path ...any) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if path = append([]any{"spec"}, path...); err != nil || d < 0 || d > never/2 {
		r.fault("%s is %q; write a duration such as 90s or 1h30m", path, pathText(path), text)
		return 0
	}
	return d
}

func (r *scenarioReader) scenario() *scenario {
	spec := &r.file.Spec
	s := &scenario{title: r.file.Metadata.Name, start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), rollouts: map[string]time.Duration{}}
	if spec.Start != "" {
		var err error
		if s.start, err = time.Parse(time.RFC3339, spec.Start); err != nil {
			r.fault("spec.start is %q; write an instant such as 2026-03-01T12:00:00Z", []any{"spec", "start"}, spec.Start)
		}
	}
	s.limit = r.duration(spec.For, 24*time.Hour, "for")
	s.retrieve = r.duration(spec.Retrieve, time.Minute, "retrieve")
	s.startup = r.duration(spec.PodStartup, 10*time.Second, "podStartup")
	s.from = r.release(&spec.From, "from")
	s.to = r.release(&spec.To, "to")
	if r.err != nil {
		return nil
	}
	if s.from.Release.Version == s.to.Release.Version {
		r.fault("spec.to is %s, as spec.from; there is nothing to update", []any{"spec", "to"}, s.to.Release.Version)
	}
	s.operators = r.operators(s.to)
	for _, name := range slices.Sorted(maps.Keys(spec.Rollouts)) {
		s.rollouts[name] = r.duration(spec.Rollouts[name], 0, "rollouts", name)
	}
	s.pools = r.pools(s.to)
	s.silences = r.outages(s.pools)
	return s
}

// operators reads how operators behave; they are some of the release's.
func (r *scenarioReader) operators(p *payload.Payload) []operator {
	names := operatorNames(p)
	var list []operator
	for i, o := range r.file.Spec.Operators {
		at := []any{"spec", "operators", i, "name"}
		switch {
		case !slices.Contains(names, o.Name):
			r.fault("%s is %q, and release %s has no such operator; it has %s", at, pathText(at), o.Name, p.Release.Version, listed(names))
		case slices.ContainsFunc(list, func(x operator) bool { return x.name == o.Name }):
			r.fault("%s: there is an entry for %s above; join the two", at, pathText(at), o.Name)
		}
		op := operator{name: o.Name, never: o.Takes == "never"}
		if !op.never {
			op.takes = r.duration(o.Takes, 0, "operators", i, "takes")
		}
		for k, t := range []*troubleFile{o.Degraded, o.Unavailable} {
			if t == nil {
				continue
			}
			what := []string{degraded, unavailable}[k]
			op.troubles = append(op.troubles, trouble{
				what: what, message: cmp.Or(t.Message, "its pods crash"),
				after: r.duration(t.After, 0, "operators", i, what, "after"), last: r.duration(t.For, 0, "operators", i, what, "for"),
			})
		}
		list = append(list, op)
	}
	return list
}

// operatorNames returns the operators of a release that belong to a cluster,
// sorted.
func operatorNames(p *payload.Payload) []string {
	var names []string
	for _, m := range p.Select(payload.NewFilter()).Tasks {
		if m.ClusterOperator() {
			names = append(names, m.ID.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listed joins a few names.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

func (r *scenarioReader) pools(p *payload.Payload) []pool {
	if len(r.file.Spec.Pools) > 0 && !slices.Contains(operatorNames(p), machineConfig) {
		r.fault("spec.pools: release %s has no operator %s, which brings nodes to a release; add a component of that name with operator: true, or take the pools out",
			[]any{"spec", "pools"}, p.Release.Version, machineConfig)
	}
	var list []pool
	seen := map[string]bool{}
	for i, f := range r.file.Spec.Pools {
		q := pool{name: f.Name, required: f.Required, paused: f.Paused}
		at := []any{"spec", "pools", i, "name"}
		switch {
		case f.Name == "":
			r.fault("%s is missing; name the pool, such as worker", at, pathText(at))
		case seen["pool "+f.Name]:
			r.fault("%s is %q, as one above; give each pool a name of its own", at, pathText(at), f.Name)
		}
		seen["pool "+f.Name] = true
		if f.MaxUnavailable != nil {
			q.unavailable = r.share(f.MaxUnavailable, len(f.Nodes), "nodes", "spec", "pools", i, "maxUnavailable")
		}
		drain, update := r.duration(f.Drain, time.Minute, "pools", i, "drain"), r.duration(f.Update, 5*time.Minute, "pools", i, "update")
		reboot := r.duration(f.Reboot, 2*time.Minute, "pools", i, "reboot")
		for k, n := range f.Nodes {
			at := []any{"spec", "pools", i, "nodes", k, "name"}
			if n.Name == "" || seen["node "+n.Name] {
				r.fault("%s is %q; give each node a name of its own", at, pathText(at), n.Name)
			}
			seen["node "+n.Name] = true
			x := node{name: n.Name, zone: n.Zone, fails: n.Update == "fails", neverUp: n.Drain == "never", drain: drain, update: update}
			if x.drain = never; !x.neverUp {
				x.drain = r.duration(n.Drain, drain, "pools", i, "nodes", k, "drain")
			}
			if !x.fails {
				x.update = r.duration(n.Update, update, "pools", i, "nodes", k, "update")
			}
			if x.lost = n.Reboot == "never"; x.lost {
				n.Reboot = ""
			}
			x.reboot = min(x.update, r.duration(n.Reboot, reboot, "pools", i, "nodes", k, "reboot"))
			q.nodes = append(q.nodes, x)
		}
		q.workloads = r.workloads(f.Workloads, len(f.Nodes), "spec", "pools", i, "workloads")
		list = append(list, q)
	}
	return list
}

// workloads reads what runs on the nodes of a pool.
func (r *scenarioReader) workloads(files []workFile, nodes int, path ...any) []workload {
	var list []workload
	seen := map[string]bool{}
	for i, f := range files {
		at := append(slices.Clone(path), i)
		switch {
		case !componentName.MatchString(f.Name) || seen[f.Name]:
			r.fault("%s.name is %q; give each workload a name of its own, of letters, digits and dashes", append(at, "name"), pathText(at), f.Name)
		case f.Daemon && f.Replicas != 0:
			r.fault("%s.replicas is %d, and a daemon has one pod on each node; take one of the two out", append(at, "replicas"), pathText(at), f.Replicas)
		case !f.Daemon && (f.Replicas < 1 || f.Replicas > 10_000):
			r.fault("%s.replicas is %d; it may be 1 to 10000", append(at, "replicas"), pathText(at), f.Replicas)
		case nodes == 0:
			r.fault("%s: the pool has no nodes for it; list some", at, pathText(at))
		}
		seen[f.Name] = true
		w := workload{name: f.Name, replicas: f.Replicas, daemon: f.Daemon, tolerations: r.tolerations(&f, append(at, "tolerations"))}
		if f.Daemon {
			w.replicas = nodes
		}
		if f.MinAvailable != nil {
			w.min = r.share(f.MinAvailable, f.Replicas, "pods", append(at, "minAvailable")...)
		}
		list = append(list, w)
	}
	return list
}

// share reads a number of things, or a percentage.
func (r *scenarioReader) share(v *doc.Value, total int, things string, path ...any) *rollout.IntOrString {
	text, _ := v.Scalar()
	out := &rollout.IntOrString{Text: text}
	if n, err := strconv.Atoi(text); err == nil {
		out = &rollout.IntOrString{Int: n}
	}
	if n, err := out.Scale(total, false); err != nil || n < 0 {
		r.fault("%s is %s; write a number of %s, or a percentage such as \"30%%\"", path, pathText(path), v.Raw, things)
	}
	return out
}

var componentName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// release loads a release from its directory, or makes it of the components.
func (r *scenarioReader) release(f *releaseFile, key string) *payload.Payload {
	at := []any{"spec", key}
	switch {
	case f.Payload != "" && f.Version != "":
		r.fault("spec.%s has a payload and a version; a payload has its own", at, key)
	case f.Payload != "":
		dir := filepath.FromSlash(f.Payload)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.dir, dir)
		}
		p, err := payload.Load(os.DirFS(dir), nil)
		if err != nil {
			r.fault("spec.%s.payload: %s: %w", append(at, "payload"), key, dir, err)
		}
		return p
	case f.Version == "":
		r.fault("spec.%s: name a version, or a payload directory", at, key)
	}
	if len(r.file.Spec.Components) == 0 {
		r.fault("spec.%s: a release without a payload is made of spec.components, and there are none", at, key)
	}
	for i, c := range r.file.Spec.Components {
		at := []any{"spec", "components", i}
		switch {
		case !componentName.MatchString(c.Name):
			r.fault("%s.name is %q; write letters, digits and dashes, such as machine-config", append(at, "name"), pathText(at), c.Name)
		case c.Runlevel < 0 || c.Runlevel > 99:
			r.fault("%s.runlevel is %d; runlevels are 0 to 99", append(at, "runlevel"), pathText(at), c.Runlevel)
		case c.Objects < 0 || c.Objects > 1000:
			r.fault("%s.objects is %d; it may be 0 to 1000", append(at, "objects"), pathText(at), c.Objects)
		}
	}
	if r.err != nil {
		return nil
	}
	p, err := makeRelease(f.Version, r.file.Spec.Components)
	if err != nil {
		r.fault("spec.%s: %w", at, key, err)
	}
	return p
}
