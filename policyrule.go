package fairlead

// PolicyRule is one permission: any of the verbs on any of the resources. "*"
// stands for all verbs, groups or resources.
type PolicyRule struct {
	Verbs           []string `json:"verbs"`                     // what may be done
	APIGroups       []string `json:"apiGroups,omitempty"`       // groups of the resources; "" is the core group
	Resources       []string `json:"resources,omitempty"`       // plurals, followed by "/subresource" for a subresource
	ResourceNames   []string `json:"resourceNames,omitempty"`   // empty means every name
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"` // paths of the API server
}
