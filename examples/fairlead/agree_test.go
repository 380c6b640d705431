package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/long"
)

// contradictions are those that are accepted, by fact, with the name of the issue that removes them.
var contradictions = map[string]string{}

// said is what the verbs say of the facts of one dump: by fact, then by who says it.
type said map[string]map[string]string

func (s said) says(who, fact string, value any) {
	if s[fact] == nil {
		s[fact] = map[string]string{}
	}
	s[fact][who] = fmt.Sprint(value)
}

// answer is what a verb prints as JSON.
type answer map[string]any

func (a answer) text(path ...string) string {
	for _, name := range path[:len(path)-1] {
		a = a.of(name)
	}
	if v, is := a[path[len(path)-1]]; is && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

func (a answer) of(name string) answer {
	of, _ := a[name].(map[string]any)
	return of
}

func (a answer) list(name string) (all []answer) {
	items, _ := a[name].([]any)
	for _, i := range items {
		of, _ := i.(map[string]any)
		all = append(all, of)
	}
	return all
}

// agreeVerbs are the verbs that read a cluster, each with what it says of which facts.
var agreeVerbs = []struct {
	verb string
	tell func(s said, a answer, status int)
}{
	{"diagnose", func(s said, a answer, status int) {
		const me = "diagnose"
		s.says(me, "the verdict", strings.ToLower(a.text("word")))
		s.says(me, "the health", a.text("health"))
		s.says(me, "whether nothing is wrong and all is known", status == 0)
		s.says(me, "the assessment", a.text("assessment"))
		for _, n := range a.of("graph").list("nodes") {
			if n["state"] == "faulty" {
				s.says(me, "what is wrong with "+n.text("id"), n.text("reason"))
			}
		}
		refused := slices.ContainsFunc(a.of("graph").list("nodes"), func(n answer) bool { return n["kind"] == "Update" })
		if a.text("to") != "" && !refused { // of one that is refused it names that
			s.says(me, "the release that is aimed at", a.text("to"))
			s.says(me, "the release before", a.text("from"))
			s.says(me, "whether an update is under way", a["updating"] == true)
		}
		for _, stage := range a.list("stages") {
			if pool, is := strings.CutPrefix(stage.text("name"), "pool "); is || stage.text("name") != "Operators" && stage.text("name") != "Nodes" {
				s.pool(me, pool, stage.text("total"), stage.text("done"))
			}
			if stage.text("name") == "Nodes" && stage.text("total") != "-1" {
				s.says(me, "the number of nodes", stage.text("total"))
			}
		}
	}},
	{"update status", func(s said, a answer, _ int) {
		const me = "update status"
		s.says(me, "the verdict", strings.ToLower(a.text("diagnosis", "word")))
		s.says(me, "the health", a.text("diagnosis", "health"))
		s.says(me, "the assessment", a.text("assessment"))
		if a.text("target") != "" {
			s.says(me, "the release that is aimed at", a.text("target"))
			s.says(me, "the release before", a.text("from"))
			s.says(me, "whether an update is under way", a["updating"] == true)
		}
		if nodes := a.list("nodes"); len(nodes) > 0 {
			s.says(me, "the number of nodes", len(nodes))
			for _, n := range nodes {
				s.says(me, "whether node "+n.text("name")+" is stuck", n["state"] == "degraded")
			}
		}
		for _, p := range a.list("pools") {
			s.pool(me, p.text("name"), p.text("total"), p.text("updated"))
		}
		for _, f := range a.list("findings") {
			if f["severity"] == "error" {
				s.says(me, "whether nothing is wrong and all is known", false)
			}
		}
	}},
	{"report", func(s said, a answer, _ int) {
		const me = "report"
		s.says(me, "the verdict", strings.ToLower(a.text("diagnosis", "word")))
		if u := a.of("update"); u.text("target") != "" {
			s.says(me, "the release that is aimed at", u.text("target"))
			s.says(me, "the release before", u.text("from"))
			s.says(me, "whether an update is under way", u["updating"] == true)
			s.says(me, "the release", u.text("current"))
			s.says(me, "the channel", u.text("channel"))
		}
		n := a.of("nodes")
		if names, is := n["name"].([]any); is {
			s.says(me, "the number of nodes", len(names))
			cordoned, _ := n["cordoned"].([]any)
			s.says(me, "how many nodes are cordoned", len(cordoned))
		}
		for _, p := range a.list("pools") {
			if p.text("name") != "" {
				s.pool(me, p.text("name"), p.text("nodes"), "")
			}
		}
		if w := a.of("workloads"); w != nil {
			s.says(me, "the number of pods", sum(w["pods"]))
			s.says(me, "how many pods are ready", sum(w["ready"]))
		}
		if b := a.of("budgets"); b != nil {
			names, _ := b["name"].([]any)
			s.says(me, "the number of budgets", len(names))
			for i, name := range names {
				s.budget(me, fmt.Sprint(b["namespace"].([]any)[i], "/", name), b["expected"].([]any)[i], b["healthy"].([]any)[i], b["desired"].([]any)[i], b["allowed"].([]any)[i])
			}
		}
		if m := a.of("machines"); m != nil {
			s.says(me, "how many machines are being deleted", cmp.Or(m.text("deleting"), "0"))
		}
	}},
	{"drain", func(s said, a answer, status int) {
		for _, b := range a.list("budgets") {
			s.budget("drain", b.text("namespace")+"/"+b.text("name"), b["expected"], b["healthy"], b["desired"], b["allowed"])
		}
		s.says("drain", "whether every drain completes", a["stuck"] == 0.0 && a["homeless"] == nil && a["unknown"] == nil)
		if status == 0 { // otherwise something else may be unknown
			s.says("drain, by its exit status", "whether every drain completes", true)
		}
	}},
	{"taints matrix", func(s said, a answer, _ int) {
		count := 0
		for _, n := range a.list("nodes") {
			names, _ := n["names"].([]any)
			count += len(names)
		}
		s.says("taints matrix", "the number of nodes", count)
		s.says("taints matrix", "what is not known of nodes and pods", whats(a))
	}},
	{"taints lint", func(s said, a answer, status int) {
		s.says("taints lint", "what is not known of nodes and pods", whats(a))
		s.says("taints lint, by its exit status", "what is not known of nodes and pods", whats(a))
		if len(a.list("unknown"))+len(a.list("unread"))+len(a.list("findings")) == 0 != (status == 0) {
			s.says("taints lint, by its exit status", "what is not known of nodes and pods", status)
		}
	}},
	{"operators", func(s said, a answer, status int) {
		blocked := false
		for _, v := range a.list("operators") {
			s.says("operators", v.subject()+" is blocked", v.blocked())
			blocked = blocked || v.blocked()
		}
		if status == 0 {
			s.says("operators, by its exit status", "whether an operator is blocked", false)
			s.says("operators", "whether an operator is blocked", blocked)
		}
	}},
	{"machine explain", func(s said, a answer, _ int) {
		count := 0
		for _, m := range a.list("machines") {
			if m.text("deleting") != "" {
				count++
			}
		}
		s.says("machine explain", "how many machines are being deleted", count)
	}},
	{"update recommend", func(s said, a answer, _ int) {
		s.says("update recommend", "the release", a.text("current"))
		s.says("update recommend", "the channel", a.text("channel"))
	}},
}

func (s said) pool(who, name, total, updated string) {
	if total == "-1" || total == "" {
		return
	}
	s.says(who, "the number of nodes of pool "+name, total)
	if updated != "" {
		s.says(who, "how many nodes of pool "+name+" are updated", updated)
	}
}

func (s said) budget(who, name string, expected, healthy, desired, allowed any) {
	s.says(who, "the counts of budget "+name, fmt.Sprintf("%v expected, %v healthy, %v desired, %v allowed", expected, healthy, desired, allowed))
}

func sum(list any) (n int) {
	all, _ := list.([]any)
	for _, x := range all {
		n += int(x.(float64))
	}
	return n
}

// agreeFacts says what the snapshot of a dump has; of prefixes of files it says nothing.
func agreeFacts(t *testing.T, in string, s said) {
	t.Helper()
	is := agreeRead(t, in)
	if is == nil {
		return
	}
	const me = "the snapshot"
	if len(is.Nodes.Items) > 0 {
		cordoned := 0
		for i := range is.Nodes.Items {
			if f := snapshot.FactsOf(&is.Nodes.Items[i]); f.Cordoned {
				cordoned++
			}
		}
		s.says(me, "the number of nodes", len(is.Nodes.Items))
		s.says(me, "how many nodes are cordoned", cordoned)
	}
	if len(is.Pods.Items) > 0 && len(is.Nodes.Items) > 0 {
		ready := 0
		for i := range is.Pods.Items {
			if is.Pods.Items[i].Ready() {
				ready++
			}
		}
		s.says(me, "the number of pods", len(is.Pods.Items))
		s.says(me, "how many pods are ready", ready)
	}
	deleting := 0
	for i := range is.Machines.Items {
		if is.Machines.Items[i].Deleting() {
			deleting++
		}
	}
	if len(is.Machines.Items) > 0 {
		s.says(me, "how many machines are being deleted", deleting)
	}
	if v := is.Version(); v != nil {
		s.says(me, "the release", v.Status.Desired.Version)
		s.says(me, "the channel", v.Spec.Channel)
		if h := v.UnderWay(); h != nil {
			s.says(me, "whether an update is under way", true)
			s.says(me, "the release that is aimed at", h.Version)
		}
	}
}

// agreeInto reads a dump; false for the prefix of files.
func agreeInto(t *testing.T, r *snapshot.Reader, in string) bool {
	t.Helper()
	info, err := os.Stat(in)
	if err != nil {
		return false
	}
	if info.IsDir() {
		err = r.FS(os.DirFS(in), in)
	} else if f, failed := os.Open(in); failed == nil {
		err = r.Stream(f, in)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// agreeOn plays the verbs over a dump and returns what they say.
func agreeOn(t *testing.T, in string) said {
	t.Helper()
	s := said{}
	agreeFacts(t, in, s)
	for _, v := range agreeVerbs {
		if a, status := agreeAsk(t, v.verb, in); a != nil { // otherwise the dump lacks what it is about
			v.tell(s, a, status)
			s.clock(v.verb, a)
		}
	}
	agreeObjects(t, in, s)
	return s
}

// agreeRun returns what a verb prints of a dump; nil if it refuses the dump.
func agreeRun(t *testing.T, verb, in string) map[string]any {
	t.Helper()
	a, _ := agreeAsk(t, verb, in)
	return a
}

// agreeAsk is agreeRun with the exit status.
func agreeAsk(t *testing.T, verb, in string) (answer, int) {
	t.Helper()
	text, status := redactRun(t, append(strings.Fields(verb), in, "-o", "json")...)
	var a answer
	if status == 2 || json.Unmarshal([]byte(text), &a) != nil {
		return nil, status
	}
	return a, status
}

// agreed reports facts of which something else is said by another.
func agreed(t *testing.T, in string, s said, found map[string]bool) {
	t.Helper()
	for _, fact := range slices.Sorted(maps.Keys(s)) {
		values := slices.Sorted(maps.Values(s[fact]))
		if values[0] == values[len(values)-1] {
			continue
		}
		if found[fact] = true; contradictions[fact] == "" {
			t.Errorf("%s: %s: %v", in, fact, s[fact])
		}
	}
}

// agreeInputs are dumps: our own, and, where they are present, public reports and recorded clusters.
func agreeInputs(t *testing.T) []string {
	all, _ := scopeDump(t, "", "")
	inputs := append([]string{all}, redactInputs...)
	for kind := range scopeCluster {
		for form := range scopeForms {
			if dir, is := scopeDump(t, kind, form); is {
				inputs = append(inputs, dir)
			}
		}
	}
	reports, _ := filepath.Glob("../../../shared/reports/*/*.yaml")
	for _, name := range reports {
		if !strings.HasSuffix(name, "badcfg.yaml") {
			inputs = append(inputs, name)
		}
	}
	recorded, _ := filepath.Glob("../../../shared/data/updates/status/*-cv.yaml")
	for _, name := range recorded {
		inputs = append(inputs, strings.TrimSuffix(name, "-cv.yaml"))
	}
	if len(recorded) == 0 {
		t.Log("the recorded clusters are not here")
	}
	return inputs
}

// No verb contradicts another about one dump.
func TestAgree(t *testing.T) {
	found := map[string]bool{}
	for _, in := range agreeInputs(t) {
		agreed(t, in, agreeOn(t, in), found)
	}
	for _, name := range slices.Sorted(maps.Keys(contradictions)) {
		if !found[name] {
			t.Errorf("%s: nothing contradicts any more: remove it from the list", name)
		}
	}
	for seed := range uint64(long.N(3, 300)) {
		dir := agreeCluster(t, rand.New(rand.NewPCG(seed, 1)), "")
		agreed(t, fmt.Sprintf("random cluster %d", seed), agreeOn(t, dir), found)
	}
}

// counts are the facts that nobody can say without a kind.
var counts = map[string][]string{
	"Node":                {"the number of nodes", "how many nodes are cordoned"},
	"Pod":                 {"the number of pods", "how many pods are ready", "whether every drain completes"},
	"PodDisruptionBudget": {"the number of budgets", "whether every drain completes"},
	"Machine":             {"how many machines are being deleted"},
	"ClusterVersion":      {"the release", "the channel", "whether nothing is wrong and all is known"},
	"MachineConfigPool":   {"the number of nodes of pool master", "how many nodes of pool worker are updated"},
}

// Of a kind that a dump does not have no verb says that there are none, or that all is well.
func TestNoneIsUnknown(t *testing.T) {
	for seed := range uint64(long.N(1, 30)) {
		for kind, facts := range counts {
			s := agreeOn(t, agreeCluster(t, rand.New(rand.NewPCG(seed, 2)), kind))
			for _, fact := range facts {
				for who, is := range s[fact] {
					if is != "false" {
						t.Errorf("seed %d, no %s: %s says of %s: %s", seed, kind, who, fact, is)
					}
				}
			}
		}
	}
}
