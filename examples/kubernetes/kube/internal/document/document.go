// Package document is shared by the backends that read and change machines.
package document

import (
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Read decodes a machine of the Machine API or the Cluster API, including the
// fields that the engine does not know.
func Read(u *unstructured.Unstructured) (*lifecycle.Document, error) {
	data, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	d, err := lifecycle.ReadDocument(data)
	if err != nil {
		return nil, fmt.Errorf("%s %s: does not have the expected form: %w", u.GetKind(), kube.NameOf(u), err)
	}
	return d, nil
}

// Edit returns a machine with the changes made by edit; see lifecycle.Document
// for the fields that are written.
func Edit(u *unstructured.Unstructured, edit func(*lifecycle.Machine)) (*unstructured.Unstructured, error) {
	d, err := Read(u)
	if err != nil {
		return nil, err
	}
	edit(&d.Machine)
	data, err := d.JSON()
	if err != nil {
		return nil, err
	}
	after := &unstructured.Unstructured{}
	return after, after.UnmarshalJSON(data)
}
