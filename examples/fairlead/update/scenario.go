package update

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/scene"
)

// scenario is the content of a file: two releases, how long operators and nodes
// take, and their troubles.
type scenario struct {
	title     string
	start     time.Time
	limit     time.Duration // the longest time it runs
	from, to  *payload.Payload
	retrieve  time.Duration
	startup   time.Duration // of a replacement pod
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

// trouble is a period in which an operator is degraded or unavailable.
type trouble struct {
	what        string
	after, last time.Duration // since its manifest was applied; last is 0 for forever
	message     string
}

// The troubles of an operator.
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
	workloads   []workload // whose pods its drains evict; without any, the nodes specify how long a drain takes
}

// node is how a node behaves while it is updated.
type node struct {
	name, zone     string
	drain, update  time.Duration
	reboot         time.Duration // the end of update, while the node does not report
	fails, neverUp bool
	lost           bool // it does not come back from its reboot
}

// machineConfig is the operator that updates the nodes to a release.
const machineConfig = "machine-config"

// never is longer than any scenario.
const never = 2 * scene.Longest

// scenarioReader turns the file into a scenario. Only its first error is kept.
type scenarioReader struct {
	*scene.File
	dir string
}

// readScenario reads a file that contains one document of kind Scenario.
func readScenario(name string) (*scenario, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, unread(err, name, "name a scenario, such as one of examples/fairlead/update/scenarios")
	}
	f, err := scene.Read(bytes.NewReader(text), name, "update simulate",
		"for", "retrieve", "podStartup", "from", "to", "components", "operators", "rollouts", "pools", "outages")
	if err != nil {
		return nil, err
	}
	r := &scenarioReader{f, filepath.Dir(name)}
	s := r.scenario()
	return s, r.Err()
}

func (r *scenarioReader) scenario() *scenario {
	spec := &r.Spec
	s := &scenario{title: r.Title, start: r.Start(), rollouts: map[string]time.Duration{}}
	s.limit = r.Duration(spec.For, 24*time.Hour, "for")
	s.retrieve = r.Duration(spec.Retrieve, time.Minute, "retrieve")
	s.startup = r.Duration(spec.PodStartup, 10*time.Second, "podStartup")
	s.from = r.release(&spec.From, "from")
	s.to = r.release(&spec.To, "to")
	if r.Err() != nil {
		return nil
	}
	if s.from.Release.Version == s.to.Release.Version {
		r.Fault("spec.to is %s, as spec.from; there is nothing to update", []any{"spec", "to"}, s.to.Release.Version)
	}
	s.operators = r.operators(s.to)
	for _, name := range slices.Sorted(maps.Keys(spec.Rollouts)) {
		s.rollouts[name] = r.Duration(spec.Rollouts[name], 0, "rollouts", name)
	}
	s.pools = r.pools(s.to)
	s.silences = r.outages(s.pools)
	return s
}

// operators reads how operators behave; they must be operators of the release.
func (r *scenarioReader) operators(p *payload.Payload) []operator {
	names := operatorNames(p)
	var list []operator
	for i, o := range r.Spec.Operators {
		at := []any{"spec", "operators", i, "name"}
		switch {
		case !slices.Contains(names, o.Name):
			r.Fault("%s is %q, and release %s has no such operator; it has %s", at, scene.Path(at), o.Name, p.Release.Version, listed(names))
		case slices.ContainsFunc(list, func(x operator) bool { return x.name == o.Name }):
			r.Fault("%s: there is an entry for %s above; join the two", at, scene.Path(at), o.Name)
		}
		op := operator{name: o.Name, never: o.Takes == "never"}
		if !op.never {
			op.takes = r.Duration(o.Takes, 0, "operators", i, "takes")
		}
		for k, t := range []*scene.Trouble{o.Degraded, o.Unavailable} {
			if t == nil {
				continue
			}
			what := []string{degraded, unavailable}[k]
			op.troubles = append(op.troubles, trouble{
				what: what, message: cmp.Or(t.Message, "its pods crash"),
				after: r.Duration(t.After, 0, "operators", i, what, "after"), last: r.Duration(t.For, 0, "operators", i, what, "for"),
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
	if len(r.Spec.Pools) > 0 && !slices.Contains(operatorNames(p), machineConfig) {
		r.Fault("spec.pools: release %s has no operator %s, which updates nodes to a release; add a component of that name with operator: true, or take the pools out",
			[]any{"spec", "pools"}, p.Release.Version, machineConfig)
	}
	var list []pool
	seen := map[string]bool{}
	for i, f := range r.Spec.Pools {
		q := pool{name: f.Name, required: f.Required, paused: f.Paused}
		at := []any{"spec", "pools", i, "name"}
		switch {
		case f.Name == "":
			r.Fault("%s is missing; name the pool, such as worker", at, scene.Path(at))
		case seen["pool "+f.Name]:
			r.Fault("%s is %q, as one above; give each pool its own name", at, scene.Path(at), f.Name)
		}
		seen["pool "+f.Name] = true
		if f.MaxUnavailable != nil {
			q.unavailable = r.share(f.MaxUnavailable, len(f.Nodes), "nodes", "spec", "pools", i, "maxUnavailable")
		}
		drain, update := r.Duration(f.Drain, time.Minute, "pools", i, "drain"), r.Duration(f.Update, 5*time.Minute, "pools", i, "update")
		reboot := r.Duration(f.Reboot, 2*time.Minute, "pools", i, "reboot")
		for k, n := range f.Nodes {
			at := []any{"spec", "pools", i, "nodes", k, "name"}
			if n.Name == "" || seen["node "+n.Name] {
				r.Fault("%s is %q; give each node its own name", at, scene.Path(at), n.Name)
			}
			seen["node "+n.Name] = true
			x := node{name: n.Name, zone: n.Zone, fails: n.Update == "fails", neverUp: n.Drain == "never", drain: drain, update: update}
			if x.drain = never; !x.neverUp {
				x.drain = r.Duration(n.Drain, drain, "pools", i, "nodes", k, "drain")
			}
			if !x.fails {
				x.update = r.Duration(n.Update, update, "pools", i, "nodes", k, "update")
			}
			if x.lost = n.Reboot == "never"; x.lost {
				n.Reboot = ""
			}
			x.reboot = min(x.update, r.Duration(n.Reboot, reboot, "pools", i, "nodes", k, "reboot"))
			q.nodes = append(q.nodes, x)
		}
		q.workloads = r.workloads(f.Workloads, seen, len(f.Nodes), "spec", "pools", i, "workloads")
		list = append(list, q)
	}
	return list
}

// workloads reads the workloads on the nodes of a pool.
func (r *scenarioReader) workloads(files []scene.Workload, seen map[string]bool, nodes int, path ...any) []workload {
	var list []workload
	for i, f := range files {
		at := append(slices.Clone(path), i)
		switch {
		case !componentName.MatchString(f.Name) || seen["workload "+f.Name]:
			r.Fault("%s.name is %q; give each workload its own name, of letters, digits and dashes", append(at, "name"), scene.Path(at), f.Name)
		case f.Daemon && f.Replicas != 0:
			r.Fault("%s.replicas is %d, and a daemon has one pod on each node; take one of the two out", append(at, "replicas"), scene.Path(at), f.Replicas)
		case !f.Daemon && (f.Replicas < 1 || f.Replicas > 10_000):
			r.Fault("%s.replicas is %d; it may be 1 to 10000", append(at, "replicas"), scene.Path(at), f.Replicas)
		case nodes == 0:
			r.Fault("%s: the pool has no nodes for it; list some", at, scene.Path(at))
		}
		seen["workload "+f.Name] = true
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
		r.Fault("%s is %s; write a number of %s, or a percentage such as \"30%%\"", path, scene.Path(path), v.Raw, things)
	}
	return out
}

var componentName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// release loads a release from its directory, or makes it from the components.
func (r *scenarioReader) release(f *scene.Release, key string) *payload.Payload {
	at := []any{"spec", key}
	switch {
	case f.Payload != "" && f.Version != "":
		r.Fault("spec.%s has a payload and a version; a payload has its own", at, key)
	case f.Payload != "":
		dir := filepath.FromSlash(f.Payload)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.dir, dir)
		}
		var p *payload.Payload
		root, err := os.OpenRoot(dir)
		if err == nil {
			defer root.Close()
			p, err = payload.Load(root.FS(), nil)
		}
		if err != nil {
			r.Fault("spec.%s.payload: %s: %w", append(at, "payload"), key, dir, err)
		}
		return p
	case f.Version == "":
		r.Fault("spec.%s: name a version, or a payload directory", at, key)
	}
	if len(r.Spec.Components) == 0 {
		r.Fault("spec.%s: a release without a payload is made of spec.components, and there are none", at, key)
	}
	for i, c := range r.Spec.Components {
		at := []any{"spec", "components", i}
		switch {
		case !componentName.MatchString(c.Name):
			r.Fault("%s.name is %q; write letters, digits and dashes, such as machine-config", append(at, "name"), scene.Path(at), c.Name)
		case c.Runlevel < 0 || c.Runlevel > 99:
			r.Fault("%s.runlevel is %d; runlevels are 0 to 99", append(at, "runlevel"), scene.Path(at), c.Runlevel)
		case c.Objects < 0 || c.Objects > 1000:
			r.Fault("%s.objects is %d; it may be 0 to 1000", append(at, "objects"), scene.Path(at), c.Objects)
		}
	}
	if r.Err() != nil {
		return nil
	}
	p, err := makeRelease(f.Version, r.Spec.Components)
	if err != nil {
		r.Fault("spec.%s: %w", at, key, err)
	}
	return p
}
