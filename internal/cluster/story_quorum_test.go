package cluster_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// The roles of machines.
const (
	master = "master"
	worker = "worker"
)

// voters is how many members the control plane should have.
const voters = 3

// vote makes the machines of the control plane voters, and adds the engine that
// guards their quorum.
func (y *story) vote() error {
	var errs []error
	for _, m := range y.machines.List() {
		if m.Labels[quorum.RoleLabel] == master {
			errs = append(errs, y.etcd.AddVoter(m.String()))
		}
	}
	add(y, "quorum", "etcd", y.etcd, func(s quorum.State, w *quorum.World, o []fairlead.Outcome, now time.Time) (quorum.Decision, error) {
		w.Outcomes = o
		return quorum.Step(s, w, now, nil), nil
	})
	return errors.Join(errs...)
}

// replaceable reports whether users may delete a machine: one with a voter only
// while it has the quorum's hook.
func (y *story) replaceable(m *lifecycle.Machine) bool {
	return !m.Deleting() && (y.voter(m) == nil || len(m.Spec.LifecycleHooks.PreDrain) > 0)
}

// voter returns the voting member of a machine, or nil.
func (y *story) voter(m *lifecycle.Machine) *quorum.Member {
	for _, x := range y.etcd.Members() {
		if !x.Learner && slices.ContainsFunc(m.Status.Addresses, func(a lifecycle.NodeAddress) bool { return slices.Contains(x.Addresses, a.Address) }) {
			return &x
		}
	}
	return nil
}

// quorate reports how the voters differ from the expected final state.
func (y *story) quorate() error {
	n := 0
	for _, m := range y.machines.List() {
		if x := y.voter(m); x != nil && x.Healthy {
			n++
		}
	}
	if all := y.etcd.Members(); n != voters || len(all) != voters {
		return fmt.Errorf("%d healthy machines vote, and %d are to: %+v", n, voters, all)
	}
	return nil
}
