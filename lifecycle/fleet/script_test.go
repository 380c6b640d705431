package fleet_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts of testdata. Machines are lines of
//
//	NAME [age=DURATION] [deleting=DURATION] [node=NAME|-] [phase=PHASE] [error=TEXT]
//	    [updated=DURATION] [owner=KIND/NAME] [false=CONDITION] [key=ANNOTATION:VALUE]
//	    [gone] [cond=TYPE:STATUS:DURATION,...] [taint=KEY:VALUE] [label=K:V] [no-age]
//	    [api=cluster] [ready=DURATION] [own=TYPE:STATUS:DURATION]   a condition of the machine; ready is InfrastructureReady
//
// and the commands
//
//	scale-down N [policy=P] [api=ClusterAPI]
//	check [max=N] [startup=D] [paused] [cond=TYPE:STATUS:TIMEOUT,...] [own=TYPE:STATUS:TIMEOUT,...] [range=R] [flight=N]
//	replace replicas=N strategy=S [unmanaged=NAME]  lines are NAME INDEX [age=D] [outdated] [ready] [deleting] [failed=T] [owner=T]
//	why [set=REPLICAS/MACHINES] [replaced] [cluster] [startup=D] [cond=...]
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/fleet.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{words: words}
		return func(c *golden.Command) string {
			s.Reset()
			switch c.Name {
			case "scale-down":
				s.scaleDown(c)
			case "check":
				s.check(c)
			case "replace":
				s.replace(c)
			case "why":
				s.why(c)
			default:
				return "there is no command " + c.Name
			}
			return strings.TrimRight(s.String(), "\n")
		}
	})
}

type script struct {
	strings.Builder
	words *golden.Words
}

// words parses a line: its first word, values by key, and flags.
func words(line string) (first string, rest []string, opts map[string]string) {
	opts = map[string]string{}
	for i, w := range strings.Fields(line) {
		if k, v, ok := strings.Cut(w, "="); ok {
			opts[k] = v
		} else if i == 0 {
			first = w
		} else {
			rest = append(rest, w)
		}
	}
	return first, rest, opts
}

func span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// target reads a machine and its node.
func target(line string) fleet.Target {
	name, flags, opts := words(line)
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: name, UID: "uid-" + name, CreationTimestamp: noon}}
	t := fleet.Target{Machine: m}
	if v, ok := opts["age"]; ok {
		m.CreationTimestamp = noon.Add(-span(v))
	}
	if slices.Contains(flags, "no-age") {
		m.CreationTimestamp = time.Time{}
	}
	if v, ok := opts["deleting"]; ok {
		at := noon.Add(-span(v))
		m.DeletionTimestamp = &at
	}
	m.Status.Phase = lifecycle.Phase(opts["phase"])
	m.Status.ErrorMessage = opts["error"]
	if v, ok := opts["updated"]; ok {
		at := noon.Add(-span(v))
		m.Status.LastUpdated = &at
	}
	if kind, owner, ok := strings.Cut(opts["owner"], "/"); ok {
		yes := true
		m.OwnerReferences = []lifecycle.OwnerReference{{Kind: kind, Name: owner, UID: owner, Controller: &yes}}
	}
	if v, ok := opts["false"]; ok {
		m.Status.Conditions = []lifecycle.Condition{{Type: v, Status: "False", LastTransitionTime: noon.Add(-time.Hour)}}
	}
	if opts["api"] == "cluster" {
		m.APIVersion = "cluster.x-k8s.io/v1beta2"
	}
	for _, c := range conditions(opts["own"]) {
		m.Status.Conditions = append(m.Status.Conditions, lifecycle.Condition{Type: c.Type, Status: c.Status, LastTransitionTime: noon.Add(-time.Duration(c.Timeout))})
	}
	if v, ok := opts["ready"]; ok {
		m.Status.Conditions = append(m.Status.Conditions, lifecycle.Condition{Type: "InfrastructureReady", Status: "True", LastTransitionTime: noon.Add(-span(v))})
	}
	if k, v, ok := strings.Cut(opts["key"], ":"); ok {
		m.Annotations = map[string]string{k: v}
	}
	if k, v, ok := strings.Cut(opts["label"], ":"); ok {
		m.Labels = map[string]string{k: v}
	}
	if opts["node"] == "-" {
		return t
	}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: "node-" + name}
	if slices.Contains(flags, "gone") {
		return t
	}
	t.Node = &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "node-" + name}}
	for _, c := range conditions(opts["cond"]) {
		t.Node.Status.Conditions = append(t.Node.Status.Conditions, fairlead.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: noon.Add(-time.Duration(c.Timeout))})
	}
	if k, v, ok := strings.Cut(opts["taint"], ":"); ok {
		t.Node.Spec.Taints = []lifecycle.Taint{{Key: k, Value: v, Effect: fairlead.NoSchedule}}
	}
	return t
}

func conditions(text string) (all []fleet.UnhealthyCondition) {
	for _, part := range strings.Split(text, ",") {
		if f := strings.Split(part, ":"); len(f) == 3 {
			all = append(all, fleet.UnhealthyCondition{Type: f[0], Status: lifecycle.ConditionStatus(f[1]), Timeout: fleet.Duration(span(f[2]))})
		}
	}
	return all
}

func targets(input string) (all []fleet.Target) {
	for line := range strings.Lines(input) {
		all = append(all, target(line))
	}
	return all
}

func (s *script) scaleDown(c *golden.Command) {
	n, _ := strconv.Atoi(c.Args[0].Key)
	var machines []lifecycle.Machine
	for _, t := range targets(c.Input) {
		machines = append(machines, *t.Machine)
	}
	for range 2 { // the order of the argument does not matter
		picks, err := fleet.ScaleDown(machines, n, fleet.DeletePolicy(c.Value("policy")), fleet.API(c.Value("api")), noon)
		text := ""
		if err != nil {
			text = err.Error()
		}
		for _, p := range picks {
			text += p.Machine.Name + s.words.Data("scale-down", p.Why) + "\n"
		}
		if s.Len() > 0 && s.String() != text {
			fmt.Fprintf(s, "but backwards:\n%s", text)
			return
		}
		s.Reset()
		s.WriteString(text)
		slices.Reverse(machines)
	}
}

func healthCheck(c *golden.Command) *fleet.HealthCheck {
	h := &fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: "mhc"}}
	h.Spec.UnhealthyConditions = conditions(strings.Join(c.Values("cond"), ","))
	if v := c.Value("max"); v != "" {
		h.Spec.MaxUnhealthy = new(lifecycle.IntOrString)
		if err := json.Unmarshal([]byte(v), h.Spec.MaxUnhealthy); err != nil {
			_ = json.Unmarshal([]byte(strconv.Quote(v)), h.Spec.MaxUnhealthy)
		}
	}
	if v := c.Value("startup"); v != "" {
		d := fleet.Duration(span(v))
		h.Spec.NodeStartupTimeout = &d
	}
	if v := c.Value("select"); v != "" {
		h.Spec.Selector.MatchLabels = map[string]string{"pool": v}
	}
	h.Spec.UnhealthyRange = c.Value("range")
	h.Spec.UnhealthyMachineConditions = conditions(strings.Join(c.Values("own"), ","))
	if v := c.Value("flight"); v != "" {
		h.Spec.MaxInFlight = new(lifecycle.IntOrString)
		if err := json.Unmarshal([]byte(v), h.Spec.MaxInFlight); err != nil {
			_ = json.Unmarshal([]byte(strconv.Quote(v)), h.Spec.MaxInFlight)
		}
	}
	if c.Has("paused") {
		h.Annotations = map[string]string{fleet.PausedAnnotation: ""}
	}
	return h
}

func (s *script) check(c *golden.Command) {
	r, err := healthCheck(c).Evaluate(targets(c.Input), noon)
	if err != nil {
		s.WriteString(err.Error())
		return
	}
	for _, v := range r.Targets {
		fmt.Fprintf(s, "%s:", v.Machine)
		switch {
		case v.Unhealthy:
			s.WriteString(" unhealthy " + v.Reason + s.words.Data(v.Reason, v.Why))
		case v.Counts:
			s.WriteString(" healthy")
		case v.Deleting:
			s.WriteString(" being deleted")
		}
		if !v.Next.IsZero() {
			fmt.Fprintf(s, " perhaps in %v", v.Next.Sub(noon))
		}
		s.WriteByte('\n')
	}
	for _, v := range r.Skipped {
		fmt.Fprintf(s, "%s: passed over%s\n", v.Machine, s.words.Data("passed over", v.Why))
	}
	fmt.Fprintf(s, "%d of %d healthy, %d may not be\n", r.Healthy, r.Total, r.Max)
	for _, name := range r.Remediate {
		fmt.Fprintf(s, "replace %s\n", name)
	}
	s.blocks(r.Blocked)
	s.wake(r.Wake)
}

func (s *script) blocks(all []fairlead.Block) {
	for _, b := range all {
		fmt.Fprintln(s, s.words.Block(b, noon))
	}
}

func (s *script) wake(t time.Time) {
	if !t.IsZero() {
		fmt.Fprintf(s, "wake %v\n", t.Sub(noon))
	}
}

func (s *script) replace(c *golden.Command) {
	cp := &fleet.ControlPlane{Strategy: fleet.Strategy(c.Value("strategy")), UnmanagedNodes: c.Values("unmanaged")}
	cp.Replicas, _ = strconv.Atoi(c.Value("replicas"))
	for line := range strings.Lines(c.Input) {
		name, flags, opts := words(line)
		index, _ := strconv.Atoi(flags[0])
		m := fleet.ControlPlaneMachine{Name: name, Index: index, Created: noon.Add(-24 * time.Hour), Failed: opts["failed"], Owner: opts["owner"]}
		if v, ok := opts["age"]; ok {
			m.Created = noon.Add(-span(v))
		}
		m.Outdated, m.Ready, m.Deleting = slices.Contains(flags, "outdated"), slices.Contains(flags, "ready"), slices.Contains(flags, "deleting")
		cp.Machines = append(cp.Machines, m)
	}
	r := fleet.Replace(cp, noon)
	if len(r.Create) > 0 {
		fmt.Fprintf(s, "create %v%s\n", r.Create, s.words.Data("create", r.Why))
	}
	if r.Delete != "" {
		fmt.Fprintf(s, "delete %s%s\n", r.Delete, s.words.Data("delete", r.Why))
	}
	if r.Degraded != "" {
		fmt.Fprintf(s, "degraded%s\n", s.words.Data("degraded", r.Degraded))
	}
	s.blocks(r.Blocked)
	s.wake(r.Wake)
}

func (s *script) why(c *golden.Command) {
	t := target(c.Input)
	scene := &fleet.Scene{Machine: t.Machine, Node: t.Node, Replaced: c.Has("replaced")}
	if v := c.Value("set"); v != "" {
		scene.Set = &fleet.SetScene{Name: "workers"}
		fmt.Sscanf(v, "%d/%d", &scene.Set.Replicas, &scene.Set.Machines)
	}
	if c.Has("cluster") {
		scene.Cluster = &lifecycle.Cluster{Deleting: true}
	}
	if c.Has("cond") || c.Has("startup") {
		scene.Checks = []fleet.HealthCheck{*healthCheck(c)}
	}
	for _, cause := range fleet.Why(scene, noon) {
		fmt.Fprintf(s, "%s", cause.Trigger)
		if cause.Sure {
			s.WriteString(", sure")
		}
		if !cause.Deletes {
			s.WriteString(", deletes nothing")
		}
		s.WriteString(s.words.Data("cause "+string(cause.Trigger), cause.Text))
		if !cause.Since.IsZero() {
			fmt.Fprintf(s, " (since %s)", cause.Since.Format(time.RFC3339))
		}
		s.WriteByte('\n')
	}
}
