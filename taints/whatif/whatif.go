package whatif

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// Question is what [Predict] is asked.
type Question struct {
	// Start is when the story begins. Zero means the latest time in the cluster's
	// objects.
	Start time.Time `json:"start,omitzero"`
	// Events are what happens, in any order.
	Events []Event `json:"events"`
	// Horizon is how far to look. Zero means 24 hours; a story in which nothing more
	// happens ends earlier.
	Horizon time.Duration `json:"horizon,omitempty"`
	// Replacement is how long it takes until another pod is ready in place of an
	// evicted one that has a controller and somewhere to go. Zero means that none
	// ever is, which is the worst case for disruption budgets.
	Replacement time.Duration `json:"replacement,omitempty"`
}

// MarshalJSON writes durations as in "5m0s".
func (q Question) MarshalJSON() ([]byte, error) { return durations.Marshal(q) }

// UnmarshalJSON reads durations as in "5m0s". An unknown field is an error.
func (q *Question) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, q) }

// Event is something that happens to nodes: a taint is added or removed, or they
// stop reporting.
type Event struct {
	// After is how long after the start it happens.
	After time.Duration `json:"after,omitempty"`
	// Nodes are the names of the nodes.
	Nodes []string `json:"nodes,omitempty"`
	// Zone adds all nodes of a zone: one of this name in any region, or
	// "region/zone".
	Zone string `json:"zone,omitempty"`
	// Taint is put on the nodes and replaces one of its key and effect.
	Taint *fairlead.Taint `json:"taint,omitempty"`
	// Untaint is removed from the nodes: key and effect, or every effect if it has
	// none.
	Untaint *fairlead.Taint `json:"untaint,omitempty"`
	// Dark is how long the nodes do not report; a negative value means forever.
	Dark time.Duration `json:"dark,omitempty"`
}

// MarshalJSON writes durations as in "5m0s".
func (e Event) MarshalJSON() ([]byte, error) { return durations.Marshal(e) }

// UnmarshalJSON reads durations as in "5m0s". An unknown field is an error.
func (e *Event) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, e) }

// Prediction is the result of [Predict].
type Prediction struct {
	// Start is when the story begins.
	Start time.Time `json:"start"`
	// End is when nothing more happens or the horizon is reached.
	End time.Time `json:"end"`
	// Open says that more would have happened after the horizon.
	Open bool `json:"open,omitempty"`
	// Entries are what happens, in order; at the same time, nodes come in the order
	// of the cluster, each with its pods in the order in which they are due, then
	// zones.
	Entries []Entry `json:"entries"`
	// Evicted is how many pods are evicted.
	Evicted int `json:"evicted"`
	// Last is when the last pod is evicted; zero if none is.
	Last time.Time `json:"last,omitzero"`
	// Stranded are the evicted pods with nowhere to go, in the order of Entries.
	Stranded []eviction.PodRef `json:"stranded,omitempty"`
	// Held are the evicted pods of StatefulSets that are not replaced because their node is
	// silent, in the order of Entries. See FateHeld.
	Held []eviction.PodRef `json:"held,omitempty"`
	// Lost are the evicted pods that no controller manages, in the order of Entries.
	Lost []eviction.PodRef `json:"lost,omitempty"`
	// Violations is how many evictions a disruption budget would have refused.
	Violations int `json:"violations"`
	// Workloads are those whose pods are evicted, or no longer ready, in the order in which that begins.
	Workloads []Workload `json:"workloads,omitempty"`
}

// EntryKind is what an Entry reports.
type EntryKind string

// The kinds of entries.
const (
	EntryEvent     EntryKind = "Event"     // an event of the question
	EntryZone      EntryKind = "Zone"      // a zone changes its mode
	EntryCondition EntryKind = "Condition" // a node has not reported for too long, or reports again
	EntryTaint     EntryKind = "Taint"     // a node gets a taint
	EntryUntaint   EntryKind = "Untaint"   // a node loses a taint
	EntryEvict     EntryKind = "Evict"     // a pod is evicted
)

// Fate is what becomes of a pod that is evicted.
type Fate string

// The fates.
const (
	FateElsewhere Fate = "Elsewhere"     // its controller creates another one, which fits on a node
	FateStranded  Fate = "NowhereToGo"   // its controller creates another one, which fits on no node
	FateLost      Fate = "NobodyMakesIt" // it has no controller
	// FateHeld is a pod of a StatefulSet on a node that is silent: it stays Terminating,
	// and no other one is created, until the node reports again, is deleted, or is
	// tainted out-of-service, after which its pods are deleted by force.
	FateHeld  Fate = "HeldByItsNode"
	FateBound Fate = "BoundToItsNode" // it belongs to its node, as the pods of a DaemonSet do
)

// Entry is one thing that happens.
type Entry struct {
	At         time.Time            `json:"at"`                   // when
	Kind       EntryKind            `json:"kind"`                 // what
	Zone       string               `json:"zone,omitempty"`       // which, of EntryZone
	Mode       eviction.ZoneMode    `json:"mode,omitempty"`       // the new one, of EntryZone
	Node       string               `json:"node,omitempty"`       // which
	Text       string               `json:"text,omitempty"`       // of EntryEvent the event, of EntryCondition the status of Ready
	Taint      *fairlead.Taint      `json:"taint,omitempty"`      // the one that is added, is removed, or is the cause
	Pod        *eviction.PodRef     `json:"pod,omitempty"`        // of EntryEvict
	Toleration *fairlead.Toleration `json:"toleration,omitempty"` // what let the pod stay so far
	Fate       Fate                 `json:"fate,omitempty"`       // of EntryEvict
	Violates   []string             `json:"violates,omitempty"`   // the budgets that would have refused it, "namespace/name"
}

// QuestionError says what is wrong with a question.
type QuestionError struct {
	Field   string // such as events[0].nodes[2]
	Problem string // what is wrong, and what to write
}

// Error implements error.
func (e *QuestionError) Error() string { return "what if: " + e.Field + ": " + e.Problem }

// Predict returns which pods would be evicted, and when, if something happened to a
// cluster. It simulates the passing of time for [eviction.Step] and
// [eviction.ZoneStep], so its result is what an [eviction.Runner] with the policy
// would do. If the policy has no NodeLifecycle, the defaults are used; a nil policy
// means the defaults.
//
// Nodes that are ready report all the time unless an event makes them dark;
// everything else in the cluster stays as it is. A pod has somewhere to go if
// another ready node passes the scheduler's filters for it: taints, selectors and
// affinity, ports, spread, and the room left by pods that went there before. Nodes
// that do not report their allocatable resources have room for everything.
//
// It is a pure function of its arguments, and does not change them. The error is a
// *QuestionError, or that of Policy.Check.
func Predict(cluster *taints.Cluster, q *Question, policy *eviction.Policy) (*Prediction, error) {
	if err := policy.Check(); err != nil {
		return nil, err
	}
	s := newStory(cluster, q, policy)
	if err := s.plan(q); err != nil {
		return nil, err
	}
	s.run()
	s.out.Workloads = s.levels.workloads()
	return &s.out, nil
}

// plan puts the events of a question on the agenda.
func (s *story) plan(q *Question) error {
	if len(q.Events) == 0 {
		return &QuestionError{"events", "there are none; say what happens to which nodes"}
	}
	if q.Horizon < 0 || q.Replacement < 0 {
		return &QuestionError{"horizon, replacement", "neither may be negative"}
	}
	for i := range q.Events {
		e := &q.Events[i]
		field := fmt.Sprintf("events[%d]", i)
		nodes, err := s.nodesOf(e, field)
		if err != nil {
			return err
		}
		switch {
		case e.After < 0:
			return &QuestionError{field + ".after", "it is negative; the story begins at start"}
		case e.Taint == nil && e.Untaint == nil && e.Dark == 0:
			return &QuestionError{field, "nothing happens; give taint, untaint or dark"}
		case e.Taint != nil && (e.Taint.Key == "" || e.Taint.Effect == ""):
			return &QuestionError{field + ".taint", "it needs a key and an effect"}
		case e.Untaint != nil && e.Untaint.Key == "":
			return &QuestionError{field + ".untaint", "it needs a key"}
		}
		s.happen(e.After, func() { s.begin(e, nodes) })
		if e.Dark > 0 {
			s.happen(e.After+e.Dark, func() { s.endDark(nodes) })
		}
	}
	return nil
}

// nodesOf returns the nodes of an event, in the cluster's order.
func (s *story) nodesOf(e *Event, field string) ([]int, error) {
	var nodes []int
	names := make([]string, 0, len(s.nodes))
	for i := range s.nodes {
		names = append(names, s.nodes[i].node.Name)
	}
	for i, name := range e.Nodes {
		n := slices.Index(names, name)
		if n < 0 {
			problem := fmt.Sprintf("there is no node %q", name)
			if meant := words.Nearest(name, names); meant != "" {
				problem += fmt.Sprintf("; did you mean %q?", meant)
			}
			return nil, &QuestionError{fmt.Sprintf("%s.nodes[%d]", field, i), problem}
		}
		nodes = append(nodes, n)
	}
	var zones []string
	for i := range s.nodes {
		n := s.nodes[i].node
		zone := n.Labels[eviction.LabelZone]
		if e.Zone != "" && (zone == e.Zone || eviction.ZoneOf(n) == e.Zone) {
			nodes = append(nodes, i)
		}
		zones = append(zones, zone)
	}
	switch {
	case len(nodes) > 0:
	case e.Zone != "":
		slices.Sort(zones)
		zones = slices.Compact(zones)
		const listed = 8
		problem := fmt.Sprintf("no node is in zone %q by its label %s; there are %q", e.Zone, eviction.LabelZone, zones[:min(len(zones), listed)])
		return nil, &QuestionError{field + ".zone", problem}
	default:
		return nil, &QuestionError{field, "it names no node; give nodes or zone"}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}
