package drain

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// Limit bounds how many nodes are out of service at the same time.
type Limit struct {
	Name string `json:"name"` // unique among the limits
	// Selector picks the nodes that it bounds by their labels: a pool, a role. An
	// empty one picks all.
	Selector LabelSelector `json:"selector,omitzero"`
	// Per is a label by whose value nodes are counted apart, as in
	// topology.kubernetes.io/zone; those without it are counted together. Empty
	// counts all together.
	Per string `json:"per,omitempty"`
	// Max is how many of the nodes that are counted together: a number, or a
	// percentage, which is rounded down but stands for one node at least. 0 and 0%
	// allow no disruption.
	Max IntOrString `json:"max"`
	// Surge is how many may have a replacement beside them at the same time, as
	// Max. Where it is not 0, a node that can be replaced first is; it takes a place
	// of Surge and none of Max, and is drained when its replacement is in service.
	Surge IntOrString `json:"surge,omitzero"`
}

// Replacement is how far a node is that comes in another one's stead.
type Replacement string

// The replacements. Empty means that none can come first.
const (
	ReplacementPossible Replacement = "Possible" // one can come first
	ReplacementComing   Replacement = "Coming"   // it was made, and is not in service yet
	ReplacementReady    Replacement = "Ready"    // it is in service
)

// Member is a node that limits count, or a machine in its stead. One that
// somebody asks to go has a time in Asked, until it is back in service or gone.
type Member struct {
	Kind   string            `json:"kind,omitempty"`   // what it is, for people; empty means node
	Name   string            `json:"name"`             // unique
	UID    string            `json:"uid"`              // of the same object
	Labels map[string]string `json:"labels,omitempty"` // by which limits pick it
	// Down says why it is out of service whoever asked for that: it is cordoned, or
	// not ready. Empty means that it serves, or that nobody looked. What is down
	// takes a place of Max.
	Down      string    `json:"down,omitempty"`
	DownSince time.Time `json:"downSince,omitzero"` // since when
	// Asked is when it was first asked to go; zero if nobody asks.
	Asked time.Time `json:"asked,omitzero"`
	// Priority puts it before those with a lower one.
	Priority int `json:"priority,omitempty"`
	// Begun is whether it cannot be held up any more: it is being drained, or was.
	// It takes its slots even beyond a limit.
	Begun bool `json:"begun,omitempty"`
	// Held says what keeps it from going on although it has its slots, in words for
	// those who wait for them.
	Held string `json:"held,omitempty"`
	// Replacement is whether another one can come first, and how far that is.
	Replacement Replacement `json:"replacement,omitempty"`
}

// Slot is a place that a limit gives to one member.
type Slot struct {
	Limit  string    `json:"limit"`            // its name
	Domain string    `json:"domain,omitempty"` // the value of the label Per, where there is one
	Holder string    `json:"holder"`           // who holds it
	UID    string    `json:"uid"`              // the holder's
	Since  time.Time `json:"since"`            // when it got it
	Surge  bool      `json:"surge,omitempty"`  // it is a place of Surge
}

// Admission is what [Admit] decides.
type Admission struct {
	// Slots are those taken, by limit, domain and holder: the state, to be saved
	// before anything is drained. See [Gate].
	Slots []Slot `json:"slots,omitempty"`
	// Admitted names the members that may be drained, by name.
	Admitted []string `json:"admitted,omitempty"`
	// Replace names those that a replacement is to be made for now, in the order of
	// turn. They have their slots, and are admitted once it is in service.
	Replace []string `json:"replace,omitempty"`
	// Waiting are the other members that are asked to go, with what they wait for,
	// in the order of turn.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Blocked says the same to people, in the same order.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
}

// Waiting is a member that may not be drained yet.
type Waiting struct {
	Name  string      `json:"name"`  // the member's
	Slots []TakenSlot `json:"slots"` // one for each limit that it waits for, in the order of the limits
}

// TakenSlot is a place of a limit that a node would need and does not have.
type TakenSlot struct {
	Limit string `json:"limit"` // the limit that it is of
	// Holder is who has had it for longest; empty if nobody can have it at present,
	// or if Replacement.
	Holder string    `json:"holder,omitempty"`
	Since  time.Time `json:"since,omitzero"` // since when
	// Replacement is whether the slot is there, and the node's replacement is to
	// come first.
	Replacement bool `json:"replacement,omitempty"`
}

// SlotsOf returns what a member waits for, as World.Slots has it; nil for one that
// is admitted, or is not asked to go.
func (a *Admission) SlotsOf(name string) []TakenSlot {
	for i := range a.Waiting {
		if a.Waiting[i].Name == name {
			return a.Waiting[i].Slots
		}
	}
	return nil
}

// checkLimits adds what is wrong with limits.
func checkLimits(limits []Limit, errs *fairlead.FieldErrors) {
	names := map[string]bool{}
	for i, l := range limits {
		path := fmt.Sprintf("limits[%d]", i)
		switch {
		case l.Name == "":
			errs.Add(path+".name", "is empty; give each limit a name")
		case names[l.Name]:
			errs.Add(path+".name", "%q is the name of another limit, too", l.Name)
		}
		names[l.Name] = true
		if err := l.Selector.Check(); err != nil {
			errs.Add(path+".selector", "%v", err)
		}
		if _, err := l.Max.Scale(1, false); err != nil {
			errs.Add(path+".max", "%v; write how many, or a percentage; 0 stops all", err)
		}
		if _, err := l.Surge.Scale(1, false); err != nil {
			errs.Add(path+".surge", "%v; write how many, or a percentage", err)
		}
	}
}

// checkMembers adds what is wrong with members.
func checkMembers(members []Member, errs *fairlead.FieldErrors) {
	names, uids := make(map[string]bool, len(members)), make(map[string]bool, len(members))
	for i := range members {
		m := &members[i]
		switch {
		case m.UID == "":
			errs.Add(fmt.Sprintf("members[%d].uid", i), "is empty; another one of the same name could be taken for it")
		case uids[m.UID]:
			errs.Add(fmt.Sprintf("members[%d].uid", i), "%q is that of another member, too", m.UID)
		case names[m.Name]:
			errs.Add(fmt.Sprintf("members[%d].name", i), "%q is the name of another member, too", m.Name)
		}
		names[m.Name], uids[m.UID] = true, true
	}
}

// scale returns how many of total a number or percentage stands for.
func scale(v IntOrString, total int) int {
	n, err := v.Scale(total, false)
	if err != nil {
		return 0 // checkLimits has told
	}
	if most, _ := v.Scale(100, false); n == 0 && v.Percentage() && most > 0 {
		return 1
	}
	return n
}
