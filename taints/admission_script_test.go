package taints_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints"
)

// TestDecisions runs the scripts of testdata/decisions, in the words of TestRules.
func TestDecisions(t *testing.T) {
	golden.Run(t, "testdata/decisions/*.txt", func(t *testing.T) golden.Handler {
		commands := map[string]func(*golden.Command) string{
			"explain": explainCommand, "tell": tellCommand, "conditions": conditionsCommand, "tolerations": tolerationsCommand,
			"restrict": restrictCommand, "covers": coversCommand, "merge": mergeCommand, "machine": machineCommand,
			"machine-api": machineAPICommand, "kubelet": kubeletCommand, "score": scoreCommand,
			"place": placeCommand, "edit": editCommand, "check": checkCommand, "parse": parseCommand,
		}
		return func(c *golden.Command) string {
			run, ok := commands[c.Name]
			if !ok {
				t.Fatalf("%s: no command %s", c.Pos, c.Name)
			}
			return run(c)
		}
	})
}

func podOf(p map[string]string) *fairlead.Pod {
	pod := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "web-0", Namespace: "shop"}}
	pod.Spec.Tolerations = tolerationsOf(p["tolerations"])
	pod.Status.QOSClass = p["qos"]
	return pod
}

func nodeOf(p map[string]string) *fairlead.Node {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	n.Spec.Taints = taintsOf(p["taints"])
	_, n.Spec.Unschedulable = p["cordoned"]
	for _, word := range strings.Fields(p["conditions"]) {
		// TYPE=STATUS[@CHANGED[,REPORTED]]
		kind, status, _ := strings.Cut(word, "=")
		c := fairlead.NodeCondition{Type: kind, Message: p["message"]}
		if head, times, ok := strings.Cut(status, "@"); ok {
			changed, reported, ok := strings.Cut(times, ",")
			status, c.LastTransitionTime = head, instant(changed)
			if ok {
				c.LastHeartbeatTime = instant(reported)
			}
		}
		if err := json.Unmarshal([]byte(`"`+status+`"`), &c.Status); err != nil {
			panic(err)
		}
		n.Status.Conditions = append(n.Status.Conditions, c)
	}
	return n
}

func tolerationLines(list []fairlead.Toleration) string {
	if len(list) == 0 {
		return "none\n"
	}
	var out strings.Builder
	for _, t := range list {
		fmt.Fprintln(&out, t)
	}
	return out.String()
}

// explainCommand explains a node's taints to a pod. Whoever reads it in the night
// has five lines for each taint, headline included if there is but one.
func explainCommand(c *golden.Command) string {
	return explanation(c, func(x *taints.Explanation) string {
		var out strings.Builder
		fmt.Fprintf(&out, "%s on %s: schedulable %v, evicted %v, avoided %d", x.Pod, x.Node, x.Schedulable, x.Evicted, x.Avoided)
		if x.StaysSeconds != nil {
			fmt.Fprintf(&out, ", stays %d s", *x.StaysSeconds)
		}
		for _, u := range x.Untolerated {
			fmt.Fprintf(&out, "\nuntolerated %s [%d]", u.Taint, u.Index)
			if u.Advice.Since != nil {
				fmt.Fprintf(&out, " since %d", u.Advice.Since.Unix())
			}
			if u.Fix != nil {
				fmt.Fprintf(&out, " fix %s", u.Fix)
			}
			if n := u.Nearest; n != nil {
				fmt.Fprintf(&out, " nearest [%d]", n.Position)
				for _, m := range n.Mismatches {
					fmt.Fprintf(&out, " %s %q for %q", m.Part, m.Has, m.Wants)
					if m.Alike {
						out.WriteString(" alike")
					}
				}
			}
		}
		for _, u := range x.Tolerated {
			fmt.Fprintf(&out, "\ntolerated %s [%d] by [%d] %s", u.Taint, u.Index, u.Position, u.Toleration)
		}
		return out.String() + "\n"
	})
}

// tellCommand prints an explanation in words; testdata/decisions/advice.txt has
// those of each taint.
func tellCommand(c *golden.Command) string {
	return explanation(c, func(x *taints.Explanation) string {
		text := x.String()
		for part := range strings.SplitSeq(text, "\n  not") {
			head, _, _ := strings.Cut(part, "\n  tolerated")
			if n := strings.Count(strings.TrimSuffix(head, "\n"), "\n") + 1; n > 4 {
				return fmt.Sprintf("%d lines:\n%s", n, text)
			}
		}
		return text
	})
}

func explanation(c *golden.Command, print func(x *taints.Explanation) string) string {
	p := parts(c)
	o := &taints.ExplainOptions{Options: *optionsOf(c), Redact: c.Has("redact")}
	if now := c.Value("now"); now != "" {
		o.Now = instant(now)
	}
	x := taints.Explain(podOf(p), nodeOf(p), o)
	if !c.Has("json") {
		return print(x)
	}
	data, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

// placeCommand tells what a node's taints mean for a pod.
func placeCommand(c *golden.Command) string {
	p := parts(c)
	v := taints.Evaluate(podOf(p), nodeOf(p), optionsOf(c))
	return fmt.Sprintf("schedulable %v, stays %v, avoided %d\n", v.Schedulable(), v.Stays(), v.Avoided())
}

// conditionsCommand makes a node's taints follow its conditions.
func conditionsCommand(c *golden.Command) string {
	n := nodeOf(parts(c))
	if c.Has("new") {
		return taintLine(taints.AdmitNode(n)) + "\n"
	}
	list, changed := taints.SyncConditionTaints(n)
	before := taintLine(n.Spec.Taints)
	out := fmt.Sprintf("%s (changed %v)\n", taintLine(list), changed)
	if t, ok := taints.ReadinessTaint(n); ok {
		out += "evicting: " + t.String() + "\n"
	}
	n.Spec.Taints = list
	if again, changed := taints.SyncConditionTaints(n); changed || taintLine(again) != taintLine(list) {
		out += "again: other taints\n"
	}
	if !strings.HasPrefix(out, before+" ") != strings.Contains(out, "(changed true)") {
		out += "it does not say whether it changed something\n"
	}
	return out
}

// tolerationsCommand adds what its word says.
func tolerationsCommand(c *golden.Command) string {
	p := parts(c)
	pod := podOf(p)
	for _, spec := range strings.Fields(p["container"]) {
		place, amount, _ := strings.Cut(spec, "=")
		kind, name, _ := strings.Cut(place, ":")
		data := fmt.Sprintf(`{"resources": {%q: {%q: %q}}}`, kind, name, amount)
		pod.Spec.Containers = append(pod.Spec.Containers, fairlead.Container{})
		if err := json.Unmarshal([]byte(data), &pod.Spec.Containers[len(pod.Spec.Containers)-1]); err != nil {
			panic(err)
		}
	}
	switch {
	case c.Has("defaults"):
		return tolerationLines(taints.DefaultTolerations(pod.Spec.Tolerations, taints.DefaultTolerationSeconds, taints.DefaultTolerationSeconds))
	case c.Has("daemon"):
		return tolerationLines(taints.DaemonSetTolerations(pod.Spec.Tolerations, c.Has("host-network")))
	case c.Has("memory"):
		list, err := (&taints.Restriction{}).Apply(pod, nil)
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("best effort: %v\n", taints.BestEffort(pod)) + tolerationLines(list)
	}
	return tolerationLines(taints.ResourceTolerations(pod))
}

// restrictCommand applies a restriction of tolerations to a pod.
func restrictCommand(c *golden.Command) string {
	p := parts(c)
	cluster := taints.Restriction{Defaults: tolerationsOf(p["defaults"]), Whitelist: tolerationsOf(p["whitelist"])}
	ns := fairlead.ObjectMeta{Name: "shop", Annotations: map[string]string{}}
	for name, annotation := range map[string]string{"ns-defaults": taints.AnnotationDefaultTolerations, "ns-whitelist": taints.AnnotationTolerationsWhitelist} {
		if text, ok := p[name]; ok {
			ns.Annotations[annotation] = text
		}
	}
	r, err := taints.RestrictionOf(ns, cluster)
	if err != nil {
		return "error: " + err.Error()
	}
	list, err := r.Apply(podOf(p), optionsOf(c))
	if err != nil {
		return "error: " + err.Error()
	}
	return tolerationLines(list)
}

// coversCommand prints, for each toleration, which of them it covers.
func coversCommand(c *golden.Command) string {
	var list []fairlead.Toleration
	for line := range strings.Lines(c.Input) {
		list = append(list, tolerationOf(strings.TrimSpace(line)))
	}
	var out strings.Builder
	for i, a := range list {
		fmt.Fprintf(&out, "%2d ", i+1)
		for _, b := range list {
			mark := "."
			if taints.Covers(a, b, optionsOf(c)) {
				mark = "x"
			}
			out.WriteString(mark)
		}
		fmt.Fprintf(&out, "  %s\n", a)
	}
	return out.String()
}

func mergeCommand(c *golden.Command) string {
	p := parts(c)
	return tolerationLines(taints.MergeTolerations(tolerationsOf(p["first"]), tolerationsOf(p["second"]), optionsOf(c)))
}

// machineCommand keeps a node's taints in step with its machine's, Cluster API.
func machineCommand(c *golden.Command) string {
	p := parts(c)
	n := nodeOf(p)
	if text, ok := p["noted"]; ok {
		n.Annotations = map[string]string{taints.AnnotationMachineTaints: text}
	}
	var machine []taints.MachineTaint
	for _, propagation := range []taints.Propagation{taints.PropagateAlways, taints.PropagateOnInitialization, "Sometimes"} {
		for _, t := range taintsOf(p[string(propagation)]) {
			machine = append(machine, taints.MachineTaint{Key: t.Key, Value: t.Value, Effect: t.Effect, Propagation: propagation})
		}
	}
	s, err := taints.SyncMachineTaints(n, machine)
	if err != nil {
		return "error: " + err.Error()
	}
	n.Spec.Taints, n.Annotations = s.Taints, map[string]string{taints.AnnotationMachineTaints: s.Annotation}
	if again, err := taints.SyncMachineTaints(n, machine); err != nil || again.Changed {
		return "a second time changes it again"
	}
	return fmt.Sprintf("%s, noted %q (changed %v)\n", taintLine(s.Taints), s.Annotation, s.Changed)
}

// machineAPICommand is the same with OpenShift's machine API.
func machineAPICommand(c *golden.Command) string {
	p := parts(c)
	list, changed := taints.AddMachineTaints(taintsOf(p["node"]), taintsOf(p["machine"]))
	return fmt.Sprintf("%s (changed %v)\n", taintLine(list), changed)
}

func kubeletCommand(c *golden.Command) string {
	p := parts(c)
	if ok, reason := taints.KubeletAdmits(podOf(p), nodeOf(p), c.Has("static"), optionsOf(c)); !ok {
		return "refused: " + reason
	}
	return "admitted"
}

// scoreCommand scores nodes for a pod.
func scoreCommand(c *golden.Command) string {
	p := parts(c)
	var avoided []int
	for line := range strings.SplitSeq(p["node"], "\n") {
		avoided = append(avoided, taints.Evaluate(podOf(p), nodeOf(map[string]string{"taints": line}), optionsOf(c)).Avoided())
	}
	return fmt.Sprintln(taints.Scores(avoided))
}
