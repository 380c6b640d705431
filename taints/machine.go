package taints

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// AddMachineTaints returns the taints of a node together with those of its
// machine that it lacks, and whether there are any: the rule of OpenShift's
// machine API. An existing taint stays unchanged, even if its value differs, and
// so does one that the machine no longer has. Hence a change to the template of a
// machine set affects only new machines. The arguments are not changed.
func AddMachineTaints(node, machine []fairlead.Taint) (list []fairlead.Taint, changed bool) {
	list = slices.Clone(node)
	for _, t := range machine {
		if Find(list, t.Key, t.Effect) == nil {
			list, changed = append(list, t), true
		}
	}
	return list, changed
}

// Propagation says how long a machine's taint is kept on its node.
type Propagation string

// The propagations of Cluster API.
const (
	PropagateAlways           Propagation = "Always"           // as long as the machine has it, with its value
	PropagateOnInitialization Propagation = "OnInitialization" // put there once
)

// MachineTaint is a taint of a machine of Cluster API.
type MachineTaint struct {
	Key         string               `json:"key"`             // as in Taint
	Value       string               `json:"value,omitempty"` // as in Taint
	Effect      fairlead.TaintEffect `json:"effect"`          // as in Taint
	Propagation Propagation          `json:"propagation"`     // how long it is kept
}

// AnnotationMachineTaints is the annotation of a node that lists the taints kept
// on it for its machine: "key:Effect", sorted, separated by commas. Once the node
// has been initialized it exists, even if it is empty.
const AnnotationMachineTaints = "cluster.x-k8s.io/taints-from-machine"

// Taints that Cluster API itself sets.
const (
	// KeyMachineUninitialized, with effect NoSchedule, is on a node until it has
	// the labels of its machine.
	KeyMachineUninitialized = "node.cluster.x-k8s.io/uninitialized"
	// KeyOutdatedRevision, with effect PreferNoSchedule, is on the nodes of old
	// machine sets.
	KeyOutdatedRevision = "node.cluster.x-k8s.io/outdated-revision"
)

// MachineSync is what a node should have, given the taints of its machine.
type MachineSync struct {
	Taints     []fairlead.Taint `json:"taints,omitempty"` // all of the node's
	Annotation string           `json:"annotation"`       // the text of AnnotationMachineTaints
	Changed    bool             `json:"changed"`          // whether one of the two has changed
}

// SyncMachineTaints returns what a node should have, given the taints of its
// machine, by the rule of Cluster API:
//
//  1. A taint with propagation Always is on the node, with its value, and noted.
//     One that somebody else put there is taken over.
//  2. A taint with propagation OnInitialization is put on a node without the
//     annotation, and ignored after that.
//  3. A noted taint that the machine no longer has is removed. One whose
//     propagation is no longer Always is not noted any more, and stays.
//
// The error is a [FieldErrors] about the node's annotation or the machine's
// taints. The node is not changed.
func SyncMachineTaints(n *fairlead.Node, machine []MachineTaint) (*MachineSync, error) {
	text, initialized := n.Annotations[AnnotationMachineTaints]
	noted, err := readNoted(n, text)
	if err != nil {
		return nil, err
	}
	if err := checkMachine(machine); err != nil {
		return nil, err
	}
	var note []string
	list := slices.Clone(n.Spec.Taints)
	changed := !initialized
	for _, m := range machine {
		t := fairlead.Taint{Key: m.Key, Value: m.Value, Effect: m.Effect}
		always := m.Propagation == PropagateAlways
		if always {
			note = append(note, fairlead.Taint{Key: t.Key, Effect: t.Effect}.String())
		}
		switch there := Find(list, t.Key, t.Effect); {
		case there == nil && (always || !initialized):
			list, changed = append(list, t), true
		case there != nil && always && there.Value != t.Value:
			*there, changed = t, true
		}
	}
	for _, old := range noted {
		kept := func(m MachineTaint) bool { return m.Key == old.Key && m.Effect == old.Effect }
		if i := slices.IndexFunc(list, old.Same); i >= 0 && !slices.ContainsFunc(machine, kept) {
			list, changed = slices.Delete(list, i, i+1), true
		}
	}
	slices.Sort(note)
	s := &MachineSync{Taints: list, Annotation: strings.Join(note, ",")}
	s.Changed = changed || s.Annotation != text
	return s, nil
}

// readNoted reads the annotation.
func readNoted(n *fairlead.Node, text string) ([]fairlead.Taint, error) {
	if text == "" {
		return nil, nil
	}
	var noted []fairlead.Taint
	for word := range strings.SplitSeq(text, ",") {
		c, err := ParseChange(word)
		if err != nil || c.Remove || c.Value != "" || c.Equals {
			var f findings
			f.add("metadata.annotations["+AnnotationMachineTaints+"]", CodeInvalid, word,
				"it is not of the form key:Effect", "write the taints that are kept for the machine, or remove the annotation to start over")
			return nil, f.err(nodeTitle(n))
		}
		noted = append(noted, c.Taint())
	}
	return noted, nil
}

func checkMachine(machine []MachineTaint) error {
	list := make([]fairlead.Taint, len(machine))
	for i, m := range machine {
		list[i] = fairlead.Taint{Key: m.Key, Value: m.Value, Effect: m.Effect}
	}
	f := checkTaints(list, nil)
	for i, m := range machine {
		if m.Propagation != PropagateAlways && m.Propagation != PropagateOnInitialization {
			f.add(taintField(i)+".propagation", CodeNotSupported, string(m.Propagation), "there is no such propagation; there are Always and OnInitialization", "")
		}
	}
	return f.err("machine")
}
