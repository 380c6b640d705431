package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// Strategy says how the machines of a control plane are replaced.
type Strategy string

// The strategies of a ControlPlaneMachineSet.
const (
	RollingUpdate Strategy = "RollingUpdate" // one machine more than desired at a time
	OnDelete      Strategy = "OnDelete"      // a machine is replaced once somebody deletes it
)

// readyInterval is how often a machine that must become ready is checked.
const readyInterval = 5 * time.Second

// ControlPlane is the input of Replace.
type ControlPlane struct {
	Replicas int      `json:"replicas"` // 3 or 5
	Strategy Strategy `json:"strategy"` // see Strategy
	// Machines are those of the control plane, in any order.
	Machines []ControlPlaneMachine `json:"machines,omitempty"`
	// UnmanagedNodes names nodes of the control plane without a machine.
	UnmanagedNodes []string `json:"unmanagedNodes,omitempty"`
}

// ControlPlaneMachine is a machine of a control plane.
type ControlPlaneMachine struct {
	Name     string    `json:"name"`               // unique
	Index    int       `json:"index"`              // its place, from 0 up
	Created  time.Time `json:"created"`            // when it was created
	Outdated bool      `json:"outdated,omitempty"` // it does not match the set
	Ready    bool      `json:"ready,omitempty"`    // its node is ready
	Deleting bool      `json:"deleting,omitempty"` // it is being deleted
	Failed   string    `json:"failed,omitempty"`   // its error, if any
	// Owner is another controller that already owns it; empty if none.
	Owner string `json:"owner,omitempty"`
}

// Replacement is what Replace decides. It takes one step at a time: at most one
// of Create and Delete is set, except that OnDelete creates any number.
type Replacement struct {
	Create   []int            `json:"create,omitempty"`   // indexes that get a new machine
	Delete   string           `json:"delete,omitempty"`   // the machine to be deleted
	Why      string           `json:"why,omitempty"`      // why, for people
	Degraded string           `json:"degraded,omitempty"` // the reason why nothing is done at all; see Blocked
	Blocked  []fairlead.Block `json:"blocked,omitempty"`  // what it waits for, by index
	Wake     time.Time        `json:"wake,omitzero"`      // when to look again; zero means after an event only
}

// Replace decides the next step towards a control plane of up-to-date machines.
//
//  1. Nothing is done while the control plane is in a state that cannot be
//     handled: an unknown strategy, nodes without machines, machines of another
//     controller, more places than replicas, no ready machine at all.
//  2. An empty place gets a machine. So does one whose machines are all outdated
//     or being deleted, as long as no more than one machine above Replicas
//     exists, including those being deleted.
//  3. An outdated machine is deleted when an up-to-date one of its place is
//     ready, or when it is not ready itself and an up-to-date one exists. Of two
//     up-to-date ones, the older is deleted.
//  4. Places are handled by index; one is finished before the next begins.
//  5. With OnDelete only machines that are being deleted are replaced, all at once.
//
// An up-to-date machine that has failed is reported, and stops the rest.
func Replace(c *ControlPlane, now time.Time) Replacement {
	if r := c.unfit(); r.Degraded != "" {
		return r
	}
	places := make([][]ControlPlaneMachine, c.Replicas)
	for _, m := range c.Machines {
		places[m.Index] = append(places[m.Index], m)
	}
	var r Replacement
	for i := range places {
		slices.SortFunc(places[i], func(a, b ControlPlaneMachine) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
		})
		if c.place(&r, i, places[i]) {
			break
		}
	}
	if len(r.Blocked) > 0 {
		r.Wake = now.Add(readyInterval)
	}
	return r
}

// unfit says why nothing is done about a control plane.
func (c *ControlPlane) unfit() Replacement {
	stop := func(reason, message, unblock string) Replacement {
		return Replacement{Degraded: reason, Blocked: []fairlead.Block{{Subject: "control plane", Reason: reason, Message: message, Unblock: unblock}}}
	}
	if c.Replicas != 3 && c.Replicas != 5 {
		return stop("InvalidReplicas", fmt.Sprintf("replicas: %d is neither 3 nor 5", c.Replicas), "set it to the number of control plane machines")
	}
	if c.Strategy != RollingUpdate && c.Strategy != OnDelete {
		return stop("InvalidStrategy", fmt.Sprintf("strategy: there is no %q", c.Strategy), "write RollingUpdate or OnDelete")
	}
	if len(c.UnmanagedNodes) > 0 {
		return stop("UnmanagedNodes", "nodes without a machine: "+words.First(slices.Sorted(slices.Values(c.UnmanagedNodes)), listed), "create machines for them, or remove them")
	}
	ready, seen := false, map[string]bool{}
	for _, m := range c.Machines {
		switch {
		case m.Owner != "":
			return stop("MachinesAlreadyOwned", "machine "+m.Name+" belongs to "+m.Owner, "release it from that controller")
		case m.Index < 0 || m.Index >= c.Replicas:
			return stop("ExcessIndexes", fmt.Sprintf("machine %s has index %d, and there are %d places", m.Name, m.Index, c.Replicas), "delete the machine, or correct its name")
		case seen[m.Name]:
			return stop("DuplicateMachine", "machine "+m.Name+" is listed twice", "list each machine once")
		}
		seen[m.Name] = true
		ready = ready || m.Ready && !m.Deleting
	}
	if !ready {
		return stop("NoReadyMachines", "no machine is ready, so none could take over", "bring a machine of the control plane back")
	}
	return Replacement{}
}

// place decides about one place, and reports whether the next ones must wait.
func (c *ControlPlane) place(r *Replacement, index int, machines []ControlPlaneMachine) (wait bool) {
	var current, outdated, deleting []ControlPlaneMachine
	for _, m := range machines {
		switch {
		case m.Deleting:
			deleting = append(deleting, m)
		case m.Outdated:
			outdated = append(outdated, m)
		default:
			current = append(current, m)
		}
	}
	subject := fmt.Sprintf("control plane place %d", index)
	block := func(reason, message, owner, unblock string) bool {
		r.Blocked = append(r.Blocked, fairlead.Block{Subject: subject, Reason: reason, Message: message, Owner: owner, Unblock: unblock})
		return true
	}
	for _, m := range current {
		if m.Failed != "" {
			r.Degraded = "FailedReplacement"
			return block("FailedReplacement", "machine "+m.Name+" has failed: "+m.Failed, "machine "+m.Name, "correct the template of the set, and delete the machine")
		}
	}
	onDelete := c.Strategy == OnDelete
	switch {
	case len(current) > 1:
		r.Delete, r.Why = current[0].Name, "place "+fmt.Sprint(index)+" has two machines, and it is the older"
		return true
	case len(current) == 1 && len(outdated) > 0 && !outdated[0].Ready && !onDelete:
		r.Delete, r.Why = outdated[0].Name, "it is not ready, and machine "+current[0].Name+" will take its place"
		return true
	case len(current) == 1 && !current[0].Ready:
		return block("MachineNotReady", "machine "+current[0].Name+" is not ready yet", "machine "+current[0].Name, "wait until its node is ready") && !onDelete
	case len(current) == 1 && len(outdated) > 0 && !onDelete:
		r.Delete, r.Why = outdated[0].Name, "machine "+current[0].Name+" is ready to take its place"
		return true
	case len(current) == 1:
		if len(deleting) > 0 && !onDelete {
			return block("MachineGoing", "machine "+deleting[0].Name+" is being deleted", "machine "+deleting[0].Name, "wait until its deletion ends; see lifecycle.Step")
		}
		return false
	case onDelete && len(outdated) > 0:
		return false // until somebody deletes it
	case len(machines) > 0 && !onDelete && len(c.Machines) > c.Replicas:
		return block("SurgeReached", fmt.Sprintf("%d machines exist, one more than desired", len(c.Machines)), "", "wait until the deletion of a machine ends")
	}
	r.Create = append(r.Create, index)
	r.Why = "no existing machine will stay"
	return !onDelete
}
