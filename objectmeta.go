package fairlead

import "time"

// TypeMeta says what an object is. Lists of one kind leave it out of their items.
type TypeMeta struct {
	APIVersion string `json:"apiVersion,omitempty"` // group/version, or version in the core group
	Kind       string `json:"kind,omitempty"`       // as in "Pod"
}

// ObjectMeta is the part of an object's metadata that the engines read. Its JSON
// names are those of the API, so objects printed by a cluster can be decoded into it.
type ObjectMeta struct {
	Name string `json:"name,omitempty"` // unique in its namespace
	// GenerateName is the prefix of the name that the server generates for an object
	// without one. Name is empty until then.
	GenerateName string `json:"generateName,omitempty"`
	Namespace    string `json:"namespace,omitempty"`  // its namespace; empty for cluster-scoped objects
	UID          string `json:"uid,omitempty"`        // never used twice, not even for an object of the same name
	Generation   int64  `json:"generation,omitempty"` // counts the changes of its spec
	// ResourceVersion changes whenever the object does, and never repeats. It is
	// opaque; empty if unknown.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// CreationTimestamp is when it was created; zero if unknown.
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// DeletionTimestamp is when it should be gone: the time of the request plus the
	// grace period. Nil if nobody has requested its deletion.
	DeletionTimestamp *time.Time `json:"deletionTimestamp,omitempty"`
	// DeletionGracePeriodSeconds is the grace period that DeletionTimestamp includes.
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`          // what selectors look at
	Annotations                map[string]string `json:"annotations,omitempty"`     // other data on it
	OwnerReferences            []OwnerReference  `json:"ownerReferences,omitempty"` // what it belongs to
	Finalizers                 []string          `json:"finalizers,omitempty"`      // what must be removed before it is deleted
}

// OwnerReference names an object that another one belongs to.
type OwnerReference struct {
	APIVersion string `json:"apiVersion"`           // of the owner: group/version, or version in the core group
	Kind       string `json:"kind"`                 // of the owner
	Name       string `json:"name"`                 // of the owner, in the same namespace
	UID        string `json:"uid"`                  // of the owner
	Controller *bool  `json:"controller,omitempty"` // whether the owner manages the object; at most one does
}

// same reports whether two references are to the same owner.
func (r *OwnerReference) same(o *OwnerReference) bool {
	return r.UID == o.UID && r.Name == o.Name && r.Kind == o.Kind && r.APIVersion == o.APIVersion
}

// ControllerOf returns the owner that manages the object, or nil. It points
// into the object.
func (m *ObjectMeta) ControllerOf() *OwnerReference {
	for i := range m.OwnerReferences {
		if c := m.OwnerReferences[i].Controller; c != nil && *c {
			return &m.OwnerReferences[i]
		}
	}
	return nil
}

// String returns "namespace/name", or the name alone where there is no
// namespace.
func (m ObjectMeta) String() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}
