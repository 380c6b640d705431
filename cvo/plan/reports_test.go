package plan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// report is a condition Upgradeable=False as a real operator writes it, with when it ends.
type report struct {
	operator, reason, message string
	ends                      func(*reported) bool // by the steps so far; nil: no step of a plan ends it
}

// reported is a cluster whose operators report something, while a plan is carried out.
type reported struct {
	s       *plan.Situation
	behind  []string // pools whose nodes are behind
	reports []report
	refused string // the release that the cluster refuses for a reason that no step ends
	done    []plan.PlanStep
}

// did reports whether the pools have restarted.
func (w *reported) rolled() bool {
	for _, name := range w.behind {
		if !slices.ContainsFunc(w.done, func(s plan.PlanStep) bool { return s.Kind == plan.Roll && s.Subject == name }) {
			return false
		}
	}
	return true
}

// drawReports makes a cluster of 4.y.1 that can be updated to 4.y.9 and 4.(y+1).4, and has
// operators report things: some that are so, some that nothing in the situation shows.
func drawReports(r *rand.Rand) (*reported, *plan.Goal) {
	y := 14 + r.IntN(9)
	from, patch, next := fmt.Sprintf("4.%d.1", y), fmt.Sprintf("4.%d.9", y), fmt.Sprintf("4.%d.4", y+1)
	q := newQuestion()
	w := &reported{s: q.s}
	s := q.s
	is := func(n int) bool { return r.IntN(n) == 0 }
	cv := s.Cluster
	cv.Status.Desired.Version = from
	cv.Status.History = []cvo.History{{State: cvo.Completed, Version: from}}
	cv.Status.Conditions = nil
	s.Moves = []plan.Move{{From: from, To: patch}, {From: patch, To: next}, {From: from, To: next}}
	s.Risks, s.Gates, s.Removed = nil, &cvo.AdminGates{Gates: map[string]string{}}, []plan.RemovedAPI{}
	s.Operators[0].Versions[0].MaxOpenShift = fmt.Sprintf("4.%d", y+r.IntN(2))
	s.Operators[0].Updates[0].Minors = nil
	s.Configs = map[string]string{"old": from, "older": fmt.Sprintf("4.%d.30", y-1)}
	for i := range s.Pools {
		p := &s.Pools[i]
		p.Spec.Configuration.Name, p.Status.Configuration.Name = "old", "old"
		if p.Name == "worker" && is(2) {
			p.Status.Configuration.Name = "older"
			p.Spec.Paused = is(2)
			w.behind = append(w.behind, p.Name)
			each(s.Nodes, func(n *fairlead.Node) {
				if n.Labels["pool"] == p.Name {
					n.Annotations["machineconfiguration.openshift.io/currentConfig"], n.Annotations["machineconfiguration.openshift.io/desiredConfig"] = "older", "older"
				}
			})
		}
	}
	w.reports = w.draw(r, y)
	s.ClusterOperators = []cvo.ClusterOperator{}
	if is(8) {
		cv.Spec.Overrides = []payload.Override{{Kind: "Deployment", Namespace: "openshift-dns", Name: "dns-operator", Unmanaged: true}}
	}
	show := !is(5) // whether the dump has the operators, or only the ClusterVersion
	for _, x := range w.reports {
		if x.operator == "" || !show {
			continue
		}
		o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: x.operator}}
		o.Status.Conditions = []fairlead.Condition{{Type: "Upgradeable", Status: fairlead.ConditionFalse, Reason: x.reason, Message: x.message}}
		s.ClusterOperators = append(s.ClusterOperators, o)
	}
	if !show {
		s.ClusterOperators = nil
	}
	w.write(cv)
	if is(6) {
		w.refused = []string{patch, next}[r.IntN(2)]
		cv.Spec.DesiredUpdate = &cvo.Update{Version: w.refused, Image: "r@" + w.refused}
		cv.Status.Conditions = append(cv.Status.Conditions, fairlead.Condition{Type: "ReleaseAccepted", Status: fairlead.ConditionFalse, Reason: []string{"RetrievePayload", "LoadPayload", "VerifyPayloadVersion"}[r.IntN(3)],
			Message: fmt.Sprintf("Retrieving payload failed version=%q image=%q failure=Unable to download and prepare the update: deadline exceeded", w.refused, "r@"+w.refused)})
	}
	return w, &plan.Goal{Release: []string{patch, next, next}[r.IntN(3)], PauseWorkers: is(4)}
}

// draw draws up to three reports. Some are joined by their operator.
func (w *reported) draw(r *rand.Rand, y int) (list []report) {
	queue := &w.s.Operators[0]
	moved := func(w *reported) bool {
		return slices.ContainsFunc(w.done, func(s plan.PlanStep) bool { return s.Kind == plan.MoveOperator && s.Subject == queue.Package })
	}
	limited := queue.Versions[0].MaxOpenShift == fmt.Sprintf("4.%d", y)
	kinds := []func() report{
		func() report { // true only if nodes are behind
			x := report{"kube-apiserver", "KubeletMinorVersion_KubeletMinorVersionUnsupportedNextUpgrade", "KubeletMinorVersionUpgradeable: Kubelet version (1.27.1) on node worker-0 will not be supported in the next OpenShift version upgrade.", nil}
			if len(w.behind) > 0 {
				x.ends = (*reported).rolled
			}
			return x
		},
		func() report {
			x := report{"machine-config", "PoolUpdating", "One or more machine config pools are updating, please see `oc get mcp` for further details", nil}
			if len(w.behind) > 0 {
				x.ends = (*reported).rolled
			}
			return x
		},
		func() report {
			x := report{"operator-lifecycle-manager", "IncompatibleOperatorsInstalled", fmt.Sprintf("ClusterServiceVersions blocking cluster upgrade: shop/%s is incompatible with OpenShift minor versions greater than 4.%d", queue.Installed, y), nil}
			if limited {
				x.ends = moved
			}
			return x
		},
		func() report {
			return report{"operator-lifecycle-manager", "IncompatibleOperatorsInstalled", fmt.Sprintf("ClusterServiceVersions blocking cluster upgrade: ns1/example.v0.1.1 is incompatible with OpenShift minor versions greater than 4.%d", y), nil}
		},
		func() report {
			gate := fmt.Sprintf("ack-4.%d-kube-1.%d-api-removals-in-4.%d", y, y+14, y+1)
			x := report{"", "AdminAckRequired", "Kubernetes removes several APIs which require admin consideration.", func(w *reported) bool {
				return slices.ContainsFunc(w.done, func(s plan.PlanStep) bool { return s.Kind == plan.Acknowledge && s.Subject == gate })
			}}
			switch r.IntN(3) {
			case 0:
				w.s.Gates, x.ends = nil, nil
			default:
				w.s.Gates = &cvo.AdminGates{Gates: map[string]string{gate: x.message}}
			}
			return x
		},
		func() report {
			return report{"storage", "VSphereProblemDetectorController_VSphereOlderVersionDetected", "VSphereProblemDetectorControllerUpgradeable: Marking cluster un-upgradeable because one or more VMs are on hardware version vmx-13", nil}
		},
		func() report { // a joined one, of which a step ends a half at most
			return report{"kube-apiserver", "FeatureGates_RestrictedFeatureGates_TechPreviewNoUpgrade::KubeletMinorVersion_KubeletMinorVersionUnsupportedNextUpgrade", "FeatureGatesUpgradeable: TechPreviewNoUpgrade does not allow updates\nKubeletMinorVersionUpgradeable: Kubelet versions on 3 nodes will not be supported in the next OpenShift version upgrade.", nil}
		},
		func() report {
			return report{"", "ResourceDeletesInProgress", "Cluster minor level upgrades are not allowed while resource deletions are in progress; resources=configmap", nil}
		},
	}
	for range r.IntN(4) {
		k := r.IntN(len(kinds))
		if (k == 4 || k == 7) && slices.ContainsFunc(list, func(o report) bool { return o.operator == "" }) {
			continue
		}
		x := kinds[k]()
		if !slices.ContainsFunc(list, func(o report) bool { return o.operator == x.operator }) {
			list = append(list, x)
		}
	}
	return list
}

// write writes what is left of the reports into the condition Upgradeable of a
// ClusterVersion, as the cluster-version operator joins them.
func (w *reported) write(cv *cvo.ClusterVersion) {
	var reasons, messages []string
	if len(cv.Spec.Overrides) > 0 {
		reasons, messages = append(reasons, cvo.ReasonOverrides), append(messages, "Disabling ownership via cluster version overrides prevents upgrades.")
	}
	for _, x := range w.reports {
		if x.ends != nil && x.ends(w) {
			continue
		}
		if x.operator != "" {
			x.message = "Cluster operator " + x.operator + " should not be upgraded between minor versions: " + x.message
		}
		reasons, messages = append(reasons, x.reason), append(messages, x.message)
	}
	cv.Status.Conditions = slices.DeleteFunc(cv.Status.Conditions, func(c fairlead.Condition) bool { return c.Type == "Upgradeable" })
	c := fairlead.Condition{Type: "Upgradeable", Status: fairlead.ConditionFalse}
	switch len(reasons) {
	case 0:
		return
	case 1:
		c.Reason, c.Message = reasons[0], messages[0]
	default:
		c.Reason = "MultipleReasons"
		c.Message = fmt.Sprintf("Cluster should not be upgraded between minor versions for multiple reasons: %s\n* %s", strings.Join(reasons, ","), strings.Join(messages, "\n* "))
	}
	cv.Status.Conditions = append(cv.Status.Conditions, c)
}

// A plan never has a step that the cluster-version operator of the running release refuses
// when it comes to it: what operators report counts, unless an earlier step ends it. And
// where only such things are reported, there is a plan.
func TestReports(t *testing.T) {
	planned, refused := 0, 0
	for seed := range uint64(long.N(200, 20_000)) {
		w, goal := drawReports(rand.New(rand.NewPCG(44, seed)))
		p, err := plan.Make(t.Context(), w.s, goal, nil)
		var no *plan.NoPlanError
		if err != nil && !errors.As(err, &no) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if no != nil {
			refused++
			crosses := goal.Release != "" && strings.HasSuffix(goal.Release, ".4")
			stays := slices.ContainsFunc(w.reports, func(x report) bool { return x.ends == nil })
			if !(crosses && stays) && len(w.s.Cluster.Spec.Overrides) == 0 && w.refused == "" && !(crosses && goal.PauseWorkers) {
				t.Fatalf("seed %d: a plan is missed: %v\n%+v", seed, err, w.reports)
			}
			continue
		}
		planned++
		if err := plan.CheckCommands(w.s, p); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, p)
		}
		cv := *w.s.Cluster
		for _, step := range p.Steps {
			if step.Kind == plan.MoveCluster {
				if step.To == w.refused && step.From == p.From {
					t.Fatalf("seed %d: %s was refused\n%v", seed, step.To, p)
				}
				cv.Status.Conditions = slices.Clone(cv.Status.Conditions)
				w.write(&cv)
				cv.Status.AvailableUpdates = []cvo.Release{{Version: step.To}}
				for _, x := range cvo.Preconditions(&cv, cvo.Release{Version: step.To}) {
					if !x.Warning {
						t.Fatalf("seed %d: %s would be refused: %v\n%v\n%+v", seed, step, x, p, w.reports)
					}
				}
				cv.Status.Desired.Version = step.To
			}
			w.done = append(w.done, step)
		}
	}
	t.Logf("%d plans, %d times none", planned, refused)
	if planned < 20 || refused < 20 {
		t.Errorf("%d plans, %d times none", planned, refused)
	}
}
