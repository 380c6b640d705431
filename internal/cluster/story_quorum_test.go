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

// voters is how many members the control plane is to have.
const voters = 3

// vote has the machines of the control plane vote, and their quorum guarded.
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

// replaceable reports whether people would delete a machine: one with a voter only
// while the hook of the quorum is on it.
func (y *story) replaceable(m *lifecycle.Machine) bool {
	return !m.Deleting() && (y.voter(m) == nil || len(m.Spec.LifecycleHooks.PreDrain) > 0)
}

// voter returns the member of a machine that votes, or nil.
func (y *story) voter(m *lifecycle.Machine) *quorum.Member {
	for _, x := range y.etcd.Members() {
		if !x.Learner && slices.ContainsFunc(m.Status.Addresses, func(a lifecycle.NodeAddress) bool { return slices.Contains(x.Addresses, a.Address) }) {
			return &x
		}
	}
	return nil
}

// quorate says what is not as it is to be with the voters in the end.
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
