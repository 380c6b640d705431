package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/golden"
)

// Each script begins with a cluster of three nodes of the control plane and three
// workers at 4.18.1, whose goal is 4.20.2, and changes it by its lines. It prints the
// steps of the plan, or the reasons against one, and the changes that were tried.
func TestImpossible(t *testing.T) {
	w := golden.NewWords(t, "testdata/words/plan.txt")
	golden.Run(t, "testdata/impossible*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			q := newQuestion()
			for line := range strings.Lines(c.Input) {
				if err := q.change(strings.Fields(line)); err != nil {
					return "error: " + err.Error()
				}
			}
			p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
			if err != nil {
				if n := strings.Count(err.Error(), "\n") + 1; n > plan.MaxLines {
					t.Errorf("%d lines: %v", n, err)
				}
				return refusal(w, err)
			}
			if err := plan.CheckCommands(q.s, p); err != nil {
				t.Error(err)
			}
			var b strings.Builder
			for _, s := range p.Steps {
				fmt.Fprintln(&b, step(w, &s))
			}
			return b.String()
		}
	})
}

// step writes a step without its words.
func step(w *golden.Words, s *plan.PlanStep) string {
	text := string(s.Kind)
	for _, word := range []string{s.Subject, s.To, strings.Join(s.With, "+")} {
		if word != "" {
			text += " " + word
		}
	}
	for about, sentence := range map[string]string{"": s.String(), " why": s.Why, " before": s.Before, " done when": s.After, " do": s.Command, " undo": s.Back} {
		if sentence != "" {
			w.Data(string(s.Kind)+about, sentence)
		}
	}
	return text
}

// refusal writes why there is no plan, without words.
func refusal(w *golden.Words, err error) string {
	var no *plan.NoPlanError
	if !errors.As(err, &no) {
		return "error" + w.Data("error", err.Error())
	}
	w.Data("NoPlanError", strings.SplitN(err.Error(), "\n", 2)[0])
	var b strings.Builder
	fmt.Fprintf(&b, "no plan from %s to %s\n", no.From, no.To)
	for i, f := range no.Reasons {
		fmt.Fprintf(&b, "%s %s%s\n", f.Reason, f.Subject, w.Data(string(f.Reason), no.Facts[i], strings.Fields(f.Subject)...))
	}
	for _, f := range no.Fixes {
		b.WriteString("fix")
		for i, c := range f.Changes {
			w.Data("fix "+c.Kind, f.Do[i])
			b.WriteString(" " + strings.TrimRight(c.Kind+":"+c.Subject, ":"))
		}
		fmt.Fprintf(&b, " (%d steps, %s)\n", f.Steps, f.Takes)
	}
	return b.String()
}

// question is what Make is asked.
type question struct {
	s      *plan.Situation
	goal   *plan.Goal
	policy *plan.Policy
}

func newQuestion() *question {
	q := &question{shop(), &plan.Goal{Release: "4.20.2"}, &plan.Policy{}}
	s := q.s
	s.Moves[1].Risks = nil
	s.Moves = append(s.Moves, plan.Move{From: "4.18.1", To: "4.18.9"}, plan.Move{From: "4.19.4", To: "4.19.7"})
	s.Nodes = nil
	for _, pool := range []string{"master", "worker"} {
		for i := range 3 {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%d", pool, i), UID: fmt.Sprintf("%s-%d", pool, i), Labels: map[string]string{"pool": pool}}}
			n.Annotations = map[string]string{rollout.AnnotationCurrent: "old", rollout.AnnotationDesired: "old", rollout.AnnotationState: rollout.StateDone}
			n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
			if pool == "master" {
				n.Spec.Taints = []fairlead.Taint{{Key: "node-role.kubernetes.io/master", Effect: fairlead.NoSchedule}}
			}
			s.Nodes = append(s.Nodes, n)
		}
	}
	for i := range 3 {
		s.Members = append(s.Members, plan.Member{Name: fmt.Sprint("etcd-", i), Node: fmt.Sprint("master-", i), Healthy: fairlead.ConditionTrue})
	}
	return q
}

// change carries out a line of a script.
func (q *question) change(word []string) error {
	s, arg := q.s, func(i int) string {
		if i < len(word) {
			return word[i]
		}
		return ""
	}
	rest := func(i int) string { return strings.Join(word[min(i, len(word)):], " ") }
	switch word[0] {
	case "goal":
		q.goal.Release = arg(1)
	case "minor":
		q.goal.Release, q.goal.Minor = "", arg(1)
	case "pause-workers":
		q.goal.PauseWorkers = true
	case "no-pause":
		q.policy.NoPause = true
	case "want":
		q.goal.Operators = append(q.goal.Operators, plan.OperatorGoal{Package: arg(1), Version: arg(2)})
	case "out":
		q.goal.Release, q.goal.Nodes = "", word[1:]
	case "move":
		s.Moves = append(s.Moves, plan.Move{From: arg(1), To: arg(2), Risks: word[3:]})
	case "no-move":
		s.Moves = slices.DeleteFunc(s.Moves, func(m plan.Move) bool { return len(word) == 1 || m.From == arg(1) && m.To == arg(2) })
	case "risk":
		for i := range s.Moves {
			if s.Moves[i].From == arg(2) && s.Moves[i].To == arg(3) {
				s.Moves[i].Risks = append(s.Moves[i].Risks, arg(1))
			}
		}
		s.Risks = append(s.Risks, plan.Risk{Name: arg(1), Applies: fairlead.ConditionTrue, Message: rest(4)})
	case "unknown":
		s.Moves = nil
	case "runs":
		s.Cluster.Status.Desired.Version = arg(1)
	case "operator":
		o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: arg(1)}}
		o.Status.Conditions = []fairlead.Condition{{Type: arg(2), Status: fairlead.ConditionStatus(arg(3)), Reason: arg(4), Message: rest(5)}}
		s.ClusterOperators = append(s.ClusterOperators, o)
	case "failing":
		s.Cluster.Status.Conditions = []fairlead.Condition{{Type: "Failing", Status: fairlead.ConditionTrue, Message: rest(1)}}
	case "override":
		s.Cluster.Spec.Overrides = []payload.Override{{Kind: arg(1), Name: arg(2), Unmanaged: true}}
	case "keep":
		switch arg(1) {
		case "budgets":
			q.policy.KeepBudgets = true
		case "nodes":
			q.policy.KeepNodes = true
		case "members":
			q.policy.KeepMembers = true
		case "data":
			q.policy.Drain.KeepLocalStorage = true
		default:
			q.policy.KeepOperators = append(q.policy.KeepOperators, arg(1))
		}
	case "install": // install NAME HIGHEST: versions 1 to HIGHEST, each a hop from the one before
		n, err := strconv.Atoi(arg(2))
		o := plan.Operator{Package: arg(1), Namespace: "shop", Subscription: arg(1), Installed: arg(1) + ".v1"}
		for v := 1; v <= n; v++ {
			o.Versions = append(o.Versions, plan.OperatorVersion{Name: fmt.Sprintf("%s.v%d", arg(1), v), Version: fmt.Sprintf("%d.0.0", v)})
			if v > 1 {
				o.Updates = append(o.Updates, plan.OperatorUpdate{From: fmt.Sprintf("%s.v%d", arg(1), v-1), To: fmt.Sprintf("%s.v%d", arg(1), v)})
			}
		}
		s.Operators = append(s.Operators, o)
		return err
	case "csv": // csv NAME requires|api|provides|uses|max WHAT
		each(s.Operators, func(o *plan.Operator) {
			each(o.Versions, func(v *plan.OperatorVersion) {
				switch {
				case v.Name != arg(1):
				case arg(2) == "requires":
					v.Requires = append(v.Requires, plan.Requirement{Package: arg(3), Range: rest(4)})
				case arg(2) == "api":
					v.Requires = append(v.Requires, plan.Requirement{API: arg(3)})
				case arg(2) == "provides":
					v.Provides = append(v.Provides, arg(3))
				case arg(2) == "uses":
					v.Uses = append(v.Uses, arg(3))
				case arg(2) == "max":
					v.MaxOpenShift = arg(3)
				}
			})
		})
	case "gone":
		s.Removed = append(s.Removed, plan.RemovedAPI{API: arg(1), In: arg(2), Users: word[3:]})
	case "sick":
		n, err := strconv.Atoi(arg(1))
		for i := range n {
			s.Members[i].Healthy = fairlead.ConditionFalse
		}
		return err
	case "members": // members N: etcd has only the first N
		n, err := strconv.Atoi(arg(1))
		s.Members = s.Members[:n]
		return err
	case "window":
		from := s.At.Add(time.Hour)
		d, err := time.ParseDuration(arg(1))
		q.policy.Windows = append(q.policy.Windows, plan.Window{From: from, Until: from.Add(d)})
		return err
	default:
		return q.changePods(word[0], arg, rest)
	}
	return nil
}

// changePods carries out a line about nodes, pods and budgets.
func (q *question) changePods(what string, arg func(int) string, rest func(int) string) error {
	s := q.s
	switch what {
	case "pod": // pod NAME NODE CPU
		yes := true
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: arg(1), UID: arg(1), Labels: map[string]string{"app": strings.TrimRight(arg(1), "-0123456789")}}}
		p.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.Labels["app"], UID: p.Labels["app"], Controller: &yes}}
		p.Spec.NodeName = arg(2)
		p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": arg(3)}}}}
		if arg(4) == "local" {
			p.Spec.Volumes = []fairlead.Volume{{Name: "data", EmptyDir: &struct{}{}}}
		}
		if arg(4) == "tolerates" {
			p.Spec.Tolerations = []fairlead.Toleration{{Operator: fairlead.TolerationExists}}
		}
		p.Status.Phase = fairlead.PodRunning
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		s.Pods = append(s.Pods, p)
	case "budget": // budget NAME APP MIN
		n, err := strconv.Atoi(arg(3))
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: arg(1)}}
		b.Spec.MinAvailable, b.Spec.Selector = &fairlead.IntOrString{Int: n}, &fairlead.LabelSelector{MatchLabels: map[string]string{"app": arg(2)}}
		s.Budgets = append(s.Budgets, b)
		return err
	case "cordon":
		each(s.Nodes, func(n *fairlead.Node) { n.Spec.Unschedulable = n.Spec.Unschedulable || n.Name == arg(1) })
	case "degraded":
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Name == arg(1) {
				n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState], n.Annotations[rollout.AnnotationReason] = "new", rollout.StateDegraded, rest(2)
			}
		}
	default:
		return fmt.Errorf("there is no change %q", what)
	}
	return nil
}
