package payload

import (
	"cmp"
	"path"
	"strconv"
	"strings"
)

// ID identifies a resource. The version of its API is not part of
// it: apps/v1 and apps/v1beta1 name the same Deployments.
type ID struct {
	Group     string `json:"group,omitempty"`     // of its API; empty for the core group
	Kind      string `json:"kind"`                // such as Deployment
	Namespace string `json:"namespace,omitempty"` // its namespace; empty for cluster-scoped resources
	Name      string `json:"name"`                // unique for its kind there
}

// Compare orders resources by group, kind, namespace and name.
func (id ID) Compare(other ID) int {
	return cmp.Or(strings.Compare(id.Group, other.Group), strings.Compare(id.Kind, other.Kind),
		strings.Compare(id.Namespace, other.Namespace), strings.Compare(id.Name, other.Name))
}

// String returns kind and name as in the labels of tasks: deployment "ns/name".
func (id ID) String() string {
	name := id.Name
	if id.Namespace != "" {
		name = id.Namespace + "/" + name
	}
	return strings.ToLower(id.Kind) + ` "` + name + `"`
}

// Manifest is one document of a payload's file: one resource.
type Manifest struct {
	ID          ID                // which resource it is
	APIVersion  string            // group/version, or version in the core group; may be empty
	Annotations map[string]string // as written; nil if the manifest has no such field
	File        string            // path in the payload
	Document    int               // which document of the file, from 0; empty ones do not count
	Pos         Position          // where the document begins
	Name        FileName          // what the file's name says
	JSON        []byte            // the whole resource; it is shared, do not change it
	asWritten   bool              // JSON is the text of the file, which begins with JSON
}

// Annotations that a release gives its manifests.
const (
	AnnotationDelete     = "release.openshift.io/delete"        // "true": the resource is deleted
	AnnotationCreateOnly = "release.openshift.io/create-only"   // "true": the resource is created and never updated
	AnnotationFeatureSet = "release.openshift.io/feature-set"   // names, separated by commas
	AnnotationGate       = "release.openshift.io/feature-gate"  // names, separated by commas, a dash before those that must be off
	AnnotationMajor      = "release.openshift.io/major-version" // numbers, separated by commas, a dash before excluded ones
	AnnotationCapability = "capability.openshift.io/name"       // names, joined by +
	annotationProfile    = "include.release.openshift.io/"      // and a profile: "true"
	annotationExclude    = "exclude.release.openshift.io/"      // and an identifier: "true"
)

// Delete reports whether the manifest requests the deletion of its resource.
func (m *Manifest) Delete() bool { return m.Annotations[AnnotationDelete] == "true" }

// CreateOnly reports whether the resource is left alone once it exists.
func (m *Manifest) CreateOnly() bool {
	return strings.EqualFold(m.Annotations[AnnotationCreateOnly], "true")
}

// ClusterOperator reports whether the resource is the report of an operator,
// which an update waits for.
func (m *Manifest) ClusterOperator() bool {
	return m.ID.Kind == "ClusterOperator" && m.ID.Group == "config.openshift.io"
}

// Job reports whether the resource is a batch Job, before and after which an
// ordered update waits for everything else.
func (m *Manifest) Job() bool { return m.ID.Kind == "Job" && m.ID.Group == "batch" }

// Label returns the name of the manifest in messages as one of total tasks,
// counted from 1: deployment "ns/name" (3 of 12). Without a name it uses that
// of the file.
func (m *Manifest) Label(i, total int) string {
	id := m.ID
	if id.Name == "" {
		id.Namespace, id.Name = "", path.Base(m.File)
	}
	return id.String() + " (" + strconv.Itoa(i) + " of " + strconv.Itoa(total) + ")"
}
