package lifecycle

// standing is how the observed node relates to the machine.
type standing int

const (
	absent   standing = iota // the machine has no node
	foreign                  // the machine names it, and it runs on another instance
	doubtful                 // it has the name, was created since, and nothing says where it runs
	own
)

// NodeOf returns the node of a machine among nodes: the one on its instance, by
// providerID, or else the one that its nodeRef names. Use it for World.Node. Nil
// means that there is none.
func NodeOf(m *Machine, nodes []Node) *Node {
	var named *Node
	for i := range nodes {
		n := &nodes[i]
		if n.Spec.ProviderID != "" && n.Spec.ProviderID == m.Spec.ProviderID {
			return n
		}
		if ref := m.Status.NodeRef; ref != nil && ref.Name == n.Name {
			named = n
		}
	}
	return named
}

// lookUp classifies the observed node. What is remembered counts only if neither
// the machine nor the node says more.
func (s *stepper) lookUp() {
	s.node = s.stands()
	if n, old := s.Node, s.State.Node; s.node == own && (old == nil || old.Name != n.Name || old.UID != n.UID) {
		s.State.Node = &NodeRef{Kind: "Node", Name: n.Name, UID: n.UID}
	}
}

func (s *stepper) stands() standing {
	n, ref, known := s.Node, s.Machine.Status.NodeRef, s.State.Node
	if n == nil {
		return absent
	}
	named := ref != nil && ref.Name == n.Name
	switch a, b := n.Spec.ProviderID, s.Machine.Spec.ProviderID; {
	case a != "" && a == b:
		return own
	case a != "" && b != "" && named:
		return foreign
	case a != "" && b != "":
		return absent
	case named && (ref.UID == "" || ref.UID == n.UID), known != nil && known.Name == n.Name && known.UID == n.UID:
		return own
	case named:
		return doubtful
	}
	return absent
}
