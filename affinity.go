package fairlead

// Affinity says which nodes a pod must be on, and which pods it must be near
// to, or far from. Only what is required is kept: preferences change the order
// of the remaining nodes, but never which nodes remain.
type Affinity struct {
	NodeAffinity    *NodeAffinity `json:"nodeAffinity,omitempty"`    // by the node's labels
	PodAffinity     *PodAffinity  `json:"podAffinity,omitempty"`     // near pods like these
	PodAntiAffinity *PodAffinity  `json:"podAntiAffinity,omitempty"` // away from pods like these
}

// NodeAffinity is what a pod requires of its node.
type NodeAffinity struct {
	// Required is checked when a pod is placed, and not again while it runs. Nil
	// requires nothing.
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeSelector matches a node that one of its terms matches. Without terms it
// matches none.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"` // any of which is enough
}

// NodeSelectorTerm matches a node that meets all of its requirements. Without
// requirements it matches none.
type NodeSelectorTerm struct {
	MatchExpressions []NodeRequirement `json:"matchExpressions,omitempty"` // on labels
	MatchFields      []NodeRequirement `json:"matchFields,omitempty"`      // on fields; metadata.name is the only one
}

// NodeRequirement is a requirement on one label or field of a node.
type NodeRequirement struct {
	Key      string   `json:"key"`              // the label or field
	Operator string   `json:"operator"`         // In, NotIn, Exists, DoesNotExist, Gt or Lt; for a field In or NotIn
	Values   []string `json:"values,omitempty"` // what it is compared with; one whole number for Gt and Lt
}

// PodAffinity is what a pod requires of the pods around it.
type PodAffinity struct {
	// Required terms must all hold. They are checked when a pod is placed, and not
	// again while it runs.
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// PodAffinityTerm selects pods, and says how far "near" reaches.
type PodAffinityTerm struct {
	LabelSelector *LabelSelector `json:"labelSelector,omitempty"` // which pods; nil selects none, empty all
	Namespaces    []string       `json:"namespaces,omitempty"`    // where they are
	// NamespaceSelector adds namespaces by their labels; nil adds none, empty all.
	// Without it and Namespaces, the pod's own namespace is used.
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitempty"`
	TopologyKey       string         `json:"topologyKey"` // nodes with the same value of this label are near each other
}

// SpreadConstraint limits how unevenly pods are spread over the values of a node
// label.
type SpreadConstraint struct {
	MaxSkew           int32          `json:"maxSkew"`                  // how many more pods a value may have than the value with the fewest
	TopologyKey       string         `json:"topologyKey"`              // the label
	WhenUnsatisfiable string         `json:"whenUnsatisfiable"`        // DoNotSchedule, or ScheduleAnyway for a preference
	LabelSelector     *LabelSelector `json:"labelSelector,omitempty"`  // which pods of the pod's namespace are counted; nil selects none
	MatchLabelKeys    []string       `json:"matchLabelKeys,omitempty"` // labels whose values must also be those of the pod
	MinDomains        *int32         `json:"minDomains,omitempty"`     // with fewer values than this, the lowest count is taken as 0; nil means 1
	// NodeAffinityPolicy is Honor or Ignore: whether only nodes that the pod's
	// selector and affinity match are counted. Empty means Honor.
	NodeAffinityPolicy string `json:"nodeAffinityPolicy,omitempty"`
	// NodeTaintsPolicy is Honor or Ignore: whether only nodes whose taints the pod
	// tolerates are counted. Empty means Ignore.
	NodeTaintsPolicy string `json:"nodeTaintsPolicy,omitempty"`
}

// DoNotSchedule is the WhenUnsatisfiable of a constraint that must hold.
const DoNotSchedule = "DoNotSchedule"
