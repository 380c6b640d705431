package drain

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// Limit limits how many nodes are out of service at the same time.
type Limit struct {
	Name string `json:"name"` // unique among the limits
	// Selector selects, by their labels, the nodes that it applies to: a pool, a
	// role. An empty one selects all.
	Selector LabelSelector `json:"selector,omitzero"`
	// Per is a label whose values are counted separately, as in
	// topology.kubernetes.io/zone; nodes without it are counted together. Empty
	// counts all together.
	Per string `json:"per,omitempty"`
	// Max is how many of the nodes that are counted together may be out of service:
	// a number, or a percentage, which is rounded down but means at least one node.
	// 0 and 0% allow no disruption.
	Max IntOrString `json:"max"`
	// Surge is how many may have a replacement beside them at the same time,
	// written like Max. If it is not 0, a node that can be replaced first is; it
	// takes a slot of Surge and none of Max, and is drained when its replacement is
	// in service.
	Surge IntOrString `json:"surge,omitzero"`
}

// Replacement is the progress of a node that replaces another one.
type Replacement string

// The replacements. Empty means that none can come first.
const (
	ReplacementPossible Replacement = "Possible" // one can come first
	ReplacementComing   Replacement = "Coming"   // it was created, and is not in service yet
	ReplacementReady    Replacement = "Ready"    // it is in service
)

// Member is a node that limits count, or a machine in its place. If it was
// requested to go, Asked is set, until it is back in service or gone.
type Member struct {
	Kind   string            `json:"kind,omitempty"`   // what it is, for people; empty means node
	Name   string            `json:"name"`             // unique
	UID    string            `json:"uid"`              // of the same object
	Labels map[string]string `json:"labels,omitempty"` // by which limits select it
	// Down says why it is out of service regardless of requests: it is cordoned, or
	// not ready. Empty means that it is in service, or that this is not checked. A
	// member that is down takes a slot of Max.
	Down      string    `json:"down,omitempty"`
	DownSince time.Time `json:"downSince,omitzero"` // since when
	// Asked is when it was first requested to go; zero if it is not.
	Asked time.Time `json:"asked,omitzero"`
	// Priority puts it before those with a lower one.
	Priority int `json:"priority,omitempty"`
	// Begun is whether it can no longer be held up: it is being drained, or was. It
	// takes its slots even beyond a limit.
	Begun bool `json:"begun,omitempty"`
	// Held says what holds it up although it has its slots, as a text for those who
	// wait for them.
	Held string `json:"held,omitempty"`
	// Replacement is whether another one can come first, and its progress.
	Replacement Replacement `json:"replacement,omitempty"`
}

// Slot is a slot of a limit that one member holds.
type Slot struct {
	Limit  string    `json:"limit"`            // its name
	Domain string    `json:"domain,omitempty"` // the value of the label Per, if there is one
	Holder string    `json:"holder"`           // who holds it
	UID    string    `json:"uid"`              // the holder's
	Since  time.Time `json:"since"`            // when it got it
	Surge  bool      `json:"surge,omitempty"`  // it is a slot of Surge
}

// Admission is what [Admit] decides.
type Admission struct {
	// Slots are those taken, by limit, domain and holder: the state, which must be
	// saved before anything is drained. See [Gate].
	Slots []Slot `json:"slots,omitempty"`
	// Admitted names the members that may be drained, by name.
	Admitted []string `json:"admitted,omitempty"`
	// Replace names those that must get a replacement now, in order of turn. They
	// have their slots, and are admitted once it is in service.
	Replace []string `json:"replace,omitempty"`
	// Waiting are the other members that should go, with what they wait for, in
	// order of turn.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Blocked says the same to people, in the same order.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
}

// Waiting is a member that may not be drained yet.
type Waiting struct {
	Name  string      `json:"name"`  // the member's
	Slots []TakenSlot `json:"slots"` // one for each limit that it waits for, in the order of the limits
}

// TakenSlot is a slot of a limit that a node needs and does not have.
type TakenSlot struct {
	Limit string `json:"limit"` // the limit
	// Holder is who has had it longest; empty if nobody can have it at present, or
	// if Replacement.
	Holder string    `json:"holder,omitempty"`
	Since  time.Time `json:"since,omitzero"` // since when
	// Replacement is whether the slot is available, but the node's replacement must
	// come first.
	Replacement bool `json:"replacement,omitempty"`
}

// SlotsOf returns what a member waits for, as in World.Slots; nil if it is
// admitted, or should not go.
func (a *Admission) SlotsOf(name string) []TakenSlot {
	for i := range a.Waiting {
		if a.Waiting[i].Name == name {
			return a.Waiting[i].Slots
		}
	}
	return nil
}

// checkLimits adds the errors in limits.
func checkLimits(limits []Limit, errs *fairlead.FieldErrors) {
	names := map[string]bool{}
	for i, l := range limits {
		path := fmt.Sprintf("limits[%d]", i)
		switch {
		case l.Name == "":
			errs.Add(path+".name", "is empty; give each limit a name")
		case names[l.Name]:
			errs.Add(path+".name", "%q is also the name of another limit", l.Name)
		}
		names[l.Name] = true
		if err := l.Selector.Check(); err != nil {
			errs.Add(path+".selector", "%v", err)
		}
		if _, err := l.Max.Scale(1, false); err != nil {
			errs.Add(path+".max", "%v; write a number or a percentage; 0 stops all", err)
		}
		if _, err := l.Surge.Scale(1, false); err != nil {
			errs.Add(path+".surge", "%v; write a number or a percentage", err)
		}
	}
}

// checkMembers adds the errors in members.
func checkMembers(members []Member, errs *fairlead.FieldErrors) {
	names, uids := make(map[string]bool, len(members)), make(map[string]bool, len(members))
	for i := range members {
		m := &members[i]
		switch {
		case m.UID == "":
			errs.Add(fmt.Sprintf("members[%d].uid", i), "is empty; another one of the same name could be mistaken for it")
		case uids[m.UID]:
			errs.Add(fmt.Sprintf("members[%d].uid", i), "%q is also that of another member", m.UID)
		case names[m.Name]:
			errs.Add(fmt.Sprintf("members[%d].name", i), "%q is also the name of another member", m.Name)
		}
		names[m.Name], uids[m.UID] = true, true
	}
}

// scale returns how many of total a number or percentage stands for.
func scale(v IntOrString, total int) int {
	n, err := v.Scale(total, false)
	if err != nil {
		return 0 // reported by checkLimits
	}
	if most, _ := v.Scale(100, false); n == 0 && v.Percentage() && most > 0 {
		return 1
	}
	return n
}
