package diagnosis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/solver/olm/explain"
)

// Graph is what waits for what. It holds only what is not as it should be, and what waits.
type Graph struct {
	Nodes []Node `json:"nodes"` // by ID
	Edges []Edge `json:"edges"` // by From, To and Rule
}

// State says what a node of the graph means if it waits for nothing else.
type State string

// The states.
const (
	Faulty  State = "faulty"  // something is wrong with it, and it does not end by itself
	Going   State = "going"   // it ends by itself, in a time that is normal
	Waiting State = "waiting" // it waits for something; without an edge, for what is not known
)

// Certainty says how a fact is known.
type Certainty string

// The certainties, the best first.
const (
	Seen    Certainty = "seen"    // an object says so
	Derived Certainty = "derived" // an engine computed it from objects
	Assumed Certainty = "assumed" // it is usual; nothing in the snapshot shows it
)

// Node is an object, or a fact about one.
type Node struct {
	ID        string    `json:"id"`                  // see ID; with #fact after it if it is a fact
	Kind      string    `json:"kind"`                // such as Node
	Namespace string    `json:"namespace,omitempty"` // empty if it has none
	Name      string    `json:"name"`                // of the object
	State     State     `json:"state"`               // what it means if it waits for nothing else
	Reason    string    `json:"reason"`              // a stable word in CamelCase, see Reasons
	Says      string    `json:"says"`                // what is wrong, or what it waits for, without a full stop
	Quote     string    `json:"quote,omitempty"`     // what others wrote about it, whole
	Since     time.Time `json:"since,omitzero"`      // zero if not known
	Sure      Certainty `json:"sure"`                // how it is known
	Owner     string    `json:"owner,omitempty"`     // who can end it
	Danger    bool      `json:"danger,omitempty"`    // data is in danger
	// Alike is what nodes with the same cause have in common beside kind and reason, such as
	// the name of an image.
	Alike string `json:"alike,omitempty"`

	do, command string // what helps, if the failure is a known one
	plain       string // the command where there is no oc
	told        bool   // others reported it

	changes []explain.Change // that help, of objects of OLM
}

// Edge says that From waits for To.
type Edge struct {
	From string    `json:"from"` // ID of a node
	To   string    `json:"to"`   // ID of a node
	Rule string    `json:"rule"` // why, as a word in CamelCase
	Sure Certainty `json:"sure"` // how it is known
	// Since is when the wait began; zero if not known.
	Since time.Time `json:"since,omitzero"`
}

// ID returns the identity of an object in a graph: its kind in lower case, its namespace if it
// has one, and its name, with slashes between.
func ID(kind, namespace, name string) string {
	if namespace == "" {
		return strings.ToLower(kind) + "/" + name
	}
	return strings.ToLower(kind) + "/" + namespace + "/" + name
}

// Node returns the node with an ID, or nil. It points into the graph.
func (g *Graph) Node(id string) *Node {
	at, ok := slices.BinarySearchFunc(g.Nodes, id, func(n Node, id string) int { return strings.Compare(n.ID, id) })
	if !ok {
		return nil
	}
	return &g.Nodes[at]
}

// Normal sorts a graph. Of nodes with one ID, the first that is Faulty stays, or else the first;
// equal edges, and those that lead from or to nothing, or from a node to itself, are dropped.
func (g *Graph) Normal() {
	slices.SortStableFunc(g.Nodes, func(a, b Node) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(rank(a.State), rank(b.State)))
	})
	g.Nodes = slices.CompactFunc(g.Nodes, func(a, b Node) bool { return a.ID == b.ID })
	g.Edges = slices.DeleteFunc(g.Edges, func(e Edge) bool { return e.From == e.To || g.Node(e.From) == nil || g.Node(e.To) == nil })
	slices.SortStableFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Rule, b.Rule))
	})
	g.Edges = slices.CompactFunc(g.Edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To && a.Rule == b.Rule })
}

func rank(s State) int { return slices.Index([]State{Faulty, Waiting, Going}, s) }

// From returns the edges from a node, by To. They point into the graph.
func (g *Graph) From(id string) []Edge {
	at, _ := slices.BinarySearchFunc(g.Edges, id, func(e Edge, id string) int { return strings.Compare(e.From, id) })
	end := at
	for end < len(g.Edges) && g.Edges[end].From == id {
		end++
	}
	return g.Edges[at:end:end]
}

// To returns the edges to a node, by From.
func (g *Graph) To(id string) (edges []Edge) {
	for _, e := range g.Edges {
		if e.To == id {
			edges = append(edges, e)
		}
	}
	return edges
}
