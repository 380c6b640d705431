// Package document is what the adapters share that read and change machines.
package document

import (
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Read reads a machine of the Machine API or the Cluster API, with what the engine
// does not know of it.
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

// Edit returns a machine with what edit changes of it; see lifecycle.Document for
// what is written.
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
