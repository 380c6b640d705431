package extension

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
)

// World is what is observed about one extension. Lists are in any order.
type World struct {
	Extension *ClusterExtension `json:"extension,omitempty"` // nil if there is no such object
	Revisions []Revision        `json:"revisions,omitempty"` // those that it owns
	// Objects are the existing objects that a revision names, and all others whose
	// OwnerNameLabel names the extension.
	Objects  []Observed `json:"objects,omitempty"`
	Contents []Content  `json:"contents,omitempty"` // unpacked contents; at least that of Answer
	Cluster  Cluster    `json:"cluster"`            // what preflights check against; Existing is not read
	// Answer is that of the resolver. The runner fills it in; nil means that it was
	// not asked.
	Answer   *Answer            `json:"answer,omitempty"`
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"` // the runner's
}

// Observed is an object of the cluster.
type Observed struct {
	Ref
	UID             string `json:"uid,omitempty"`             // the object's
	ResourceVersion string `json:"resourceVersion,omitempty"` // the object's
	Owner           string `json:"owner,omitempty"`           // the extension that its OwnerNameLabel names
	Controller      string `json:"controller,omitempty"`      // the name of its controller: of a revision, or of something else
	// Digest is that of the ApplyObject that wrote it; empty if somebody has since
	// changed what it wrote.
	Digest   string `json:"digest,omitempty"`
	Ready    bool   `json:"ready,omitempty"`    // see Probe
	Detail   string `json:"detail,omitempty"`   // why it is not
	Deleting bool   `json:"deleting,omitempty"` // it is being deleted, and finalizers keep it
}

// Content is what is known about the content of a bundle.
type Content struct {
	Bundle    string            `json:"bundle"`              // its name
	Reference string            `json:"reference,omitempty"` // its image
	Manifests []json.RawMessage `json:"manifests,omitempty"` // its objects, none until it is unpacked
	Error     string            `json:"error,omitempty"`     // why the last attempt failed, empty if none did
}

// Answer is what the resolver says about an extension.
type Answer struct {
	Choice  *Choice `json:"choice,omitempty"`  // what to install; nil if Refusal says why not
	Refusal string  `json:"refusal,omitempty"` // in words
	// Again means that the same question may have another answer soon; otherwise
	// only a change of catalogs or extensions brings one.
	Again bool `json:"again,omitempty"`
	// Catalogs is how many catalogs the extension selects.
	Catalogs int `json:"catalogs"`
	// Deprecations are those of the package; Known means that they are known.
	Deprecations []catalog.Deprecation `json:"deprecations,omitempty"`
	Known        bool                  `json:"known,omitempty"` // deprecations were read from the catalogs
}

// Choice is a bundle that was chosen.
type Choice struct {
	BundleName
	Package   string `json:"package"`             // the package's name
	Reference string `json:"reference,omitempty"` // its image
	Catalog   string `json:"catalog"`             // the catalog that lists it
}

func (w *World) content(c *Choice) *Content {
	for i := range w.Contents {
		if o := &w.Contents[i]; o.Bundle == c.Name && o.Reference == c.Reference {
			return o
		}
	}
	return nil
}

func (w *World) object(r Ref) *Observed {
	for i := range w.Objects {
		if w.Objects[i].Ref == r {
			return &w.Objects[i]
		}
	}
	return nil
}
