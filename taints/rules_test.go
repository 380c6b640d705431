package taints_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints"
)

// TestRules runs the scripts of testdata/rules. A taint is written there as
// commands take it, and a toleration as words like key:a op:Exists value:v
// effect:NoExecute seconds:30, or as "-" if it is empty; several are separated by
// " | ".
func TestRules(t *testing.T) {
	golden.Run(t, "testdata/rules/*.txt", func(t *testing.T) golden.Handler {
		commands := map[string]func(*golden.Command) string{
			"parse": parseCommand, "match": matchCommand, "edit": editCommand, "check": checkCommand,
			"untolerated": untoleratedCommand, "diff": diffCommand, "read": readCommand, "update": updateCommand,
			"print": printCommand,
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

func optionsOf(c *golden.Command) *taints.Options {
	return &taints.Options{ComparisonOperators: c.Has("numbers"), Lenient: c.Has("lenient")}
}

// taintOf reads a taint without judging it.
func taintOf(text string) fairlead.Taint {
	var t fairlead.Taint
	if head, at, ok := strings.Cut(text, "@"); ok {
		added := instant(at)
		t.TimeAdded, text = &added, head
	}
	head, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(head, "=")
	t.Key, t.Value, t.Effect = key, value, fairlead.TaintEffect(effect)
	return t
}

func taintsOf(line string) []fairlead.Taint {
	var list []fairlead.Taint
	for _, word := range strings.Fields(line) {
		list = append(list, taintOf(word))
	}
	return list
}

func taintLine(list []fairlead.Taint) string {
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for i, t := range list {
		words[i] = t.String()
		if t.TimeAdded != nil {
			words[i] += "@" + strconv.FormatInt(t.TimeAdded.Unix(), 10)
		}
	}
	return strings.Join(words, " ")
}

// instant is that many seconds after 1970.
func instant(seconds string) time.Time {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Unix(n, 0).UTC()
}

func tolerationOf(text string) fairlead.Toleration {
	var t fairlead.Toleration
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, ":")
		switch name {
		case "key":
			t.Key = value
		case "op":
			t.Operator = fairlead.TolerationOperator(value)
		case "value":
			t.Value = value
		case "effect":
			t.Effect = fairlead.TaintEffect(value)
		case "seconds":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				panic(err)
			}
			t.TolerationSeconds = &n
		case "-":
		default:
			panic("no part of a toleration: " + word)
		}
	}
	return t
}

func tolerationsOf(line string) []fairlead.Toleration {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	var list []fairlead.Toleration
	for part := range strings.SplitSeq(line, " | ") {
		list = append(list, tolerationOf(part))
	}
	return list
}

// parts splits the lines of an input into names and what is behind them.
func parts(c *golden.Command) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(c.Input) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if old, ok := m[name]; ok {
			rest = old + "\n" + rest
		}
		m[name] = rest
	}
	return m
}

func errorLines(err error) string {
	if err == nil {
		return "valid\n"
	}
	return err.Error() + "\n"
}

// parseCommand reads each line as the changes of one command.
func parseCommand(c *golden.Command) string {
	var out strings.Builder
	for line := range strings.Lines(c.Input) {
		changes, err := taints.ParseChanges(strings.Split(strings.TrimSuffix(line, "\n"), " "))
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
			continue
		}
		var words []string
		for _, ch := range changes {
			verb := "set"
			if ch.Remove {
				verb = "remove"
			}
			words = append(words, fmt.Sprintf("%s %s (key %q value %q effect %q)", verb, ch, ch.Key, ch.Value, ch.Effect))
		}
		fmt.Fprintln(&out, strings.Join(words, ", "))
	}
	return out.String()
}

// matchCommand prints for each toleration which of the taints it tolerates.
func matchCommand(c *golden.Command) string {
	p := parts(c)
	var out strings.Builder
	for line := range strings.SplitSeq(p["toleration"], "\n") {
		t := tolerationOf(line)
		var words []string
		for _, taint := range taintsOf(p["taints"]) {
			answer := "no"
			if taints.FirstMatching([]fairlead.Toleration{t}, &taint, optionsOf(c)) == 0 {
				answer = "yes"
			}
			if plain := t.Tolerates(taint); !c.Has("numbers") && plain != (answer == "yes") || c.Has("numbers") && t.ToleratesNumber(taint) != (answer == "yes") {
				answer = "Tolerates says otherwise"
			}
			words = append(words, answer)
		}
		fmt.Fprintf(&out, "%s: %s\n", line, strings.Join(words, " "))
	}
	return out.String()
}

// untoleratedCommand prints the first untolerated taint and all of them.
func untoleratedCommand(c *golden.Command) string {
	p := parts(c)
	effects := map[string]taints.Effects{"": taints.AllEffects, "schedule": taints.OnScheduling, "prefer": taints.OnPreferNoSchedule, "execute": taints.OnNoExecute, "none": 0}[c.Value("on")]
	tolerations, list := tolerationsOf(p["tolerations"]), taintsOf(p["taints"])
	first := "none"
	if t := taints.FirstUntolerated(tolerations, list, effects, optionsOf(c)); t != nil {
		first = t.String()
	}
	var all []fairlead.Taint
	for t := range taints.Untolerated(tolerations, list, effects, optionsOf(c)) {
		all = append(all, *t)
	}
	return fmt.Sprintf("first: %s\nall: %s\n", first, taintLine(all))
}

func editCommand(c *golden.Command) string {
	p := parts(c)
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}, Spec: fairlead.NodeSpec{Taints: taintsOf(p["taints"])}}
	o := &taints.EditOptions{Kubectl: c.Has("kubectl"), Overwrite: c.Has("overwrite")}
	if now := c.Value("now"); now != "" {
		o.Now = instant(now)
	}
	changes := make([]taints.Change, 0)
	for _, word := range strings.Fields(p["changes"]) {
		ch, err := taints.ParseChange(word)
		if err != nil {
			return "error: " + err.Error()
		}
		changes = append(changes, ch)
	}
	before := taintLine(n.Spec.Taints)
	e, err := taints.Edit(n, changes, o)
	if taintLine(n.Spec.Taints) != before {
		return "the node was changed"
	}
	if err != nil {
		return "error: " + err.Error()
	}
	out := "node/n1 " + e.Verb + ": " + taintLine(e.Taints) + "\n"
	for name, list := range map[string][]fairlead.Taint{"added": e.Added} {
		if len(list) > 0 {
			out += name + ": " + taintLine(list) + "\n"
		}
	}
	if len(e.Changed) > 0 {
		out += "changed: " + taintLine(e.Changed) + "\n"
	}
	if len(e.Removed) > 0 {
		out += "removed: " + taintLine(e.Removed) + "\n"
	}
	return out
}

func diffCommand(c *golden.Command) string {
	p := parts(c)
	added, removed, changed := taints.Diff(taintsOf(p["before"]), taintsOf(p["after"]))
	return fmt.Sprintf("added: %s\nremoved: %s\nchanged: %s\n", taintLine(added), taintLine(removed), taintLine(changed))
}

// checkCommand validates taints or tolerations, each line for itself.
func checkCommand(c *golden.Command) string {
	var out strings.Builder
	for line := range strings.Lines(c.Input) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var err error
		switch name {
		case "taints":
			err = taints.ValidateTaints(taintsOf(rest), optionsOf(c))
		case "node":
			title, rest, _ := strings.Cut(rest, " ")
			n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: title}}
			n.Spec.Taints = taintsOf(rest)
			err = taints.ValidateNode(n, optionsOf(c))
		case "pod":
			title, rest, _ := strings.Cut(rest, " ")
			p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: title, Namespace: "shop"}}
			if start, generated := strings.CutSuffix(title, "*"); generated {
				p.Name, p.GenerateName = "", start
			}
			p.Spec.Tolerations = tolerationsOf(rest)
			err = taints.ValidatePod(p, optionsOf(c))
		default:
			err = taints.ValidateTolerations(tolerationsOf(rest), optionsOf(c))
		}
		out.WriteString(errorLines(err))
	}
	return out.String()
}

func updateCommand(c *golden.Command) string {
	p := parts(c)
	return errorLines(taints.ValidateTolerationUpdate(tolerationsOf(p["before"]), tolerationsOf(p["after"]), optionsOf(c)))
}

func printCommand(c *golden.Command) string {
	var out strings.Builder
	for line := range strings.Lines(c.Input) {
		fmt.Fprintln(&out, tolerationOf(strings.TrimSpace(line)))
	}
	return out.String()
}

// readCommand reads a cluster.
func readCommand(c *golden.Command) string {
	cluster, err := taints.ReadCluster(strings.NewReader(c.Input))
	if err != nil {
		var read *taints.ReadError
		return fmt.Sprintf("error: %v (a ReadError: %v)", err, errors.As(err, &read))
	}
	var out strings.Builder
	for _, n := range cluster.Nodes {
		fmt.Fprintf(&out, "node/%s: %s\n", n.Name, taintLine(n.Spec.Taints))
	}
	for _, p := range cluster.Pods {
		fmt.Fprintf(&out, "pod/%s: %v\n", p.ObjectMeta, p.Spec.Tolerations)
	}
	fmt.Fprintf(&out, "%d nodes, %d pods, %d budgets\n", len(cluster.Nodes), len(cluster.Pods), len(cluster.Budgets))
	return out.String()
}
