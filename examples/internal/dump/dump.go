// Package dump reads the output of kubectl get.
package dump

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Object is one object of a dump.
type Object struct {
	Kind string              // as its document says
	Meta fairlead.ObjectMeta // of a list: nothing
	JSON json.RawMessage     // all of it
}

// Read calls a function with the objects of JSON or YAML documents, single ones and those
// of lists, in order. Items of a PodList without a kind are Pods. A list is also passed,
// after its objects, because an empty one means that there are none. Errors name the
// file, the document's position and the object.
func Read(src io.Reader, file string, take func(Object) error) error {
	return Documents(src, file, func(document json.RawMessage) error { return Each(document, "", take) })
}

// Documents calls a function with JSON or YAML documents as JSON, in order. Errors name
// the file and the document's position.
func Documents(src io.Reader, file string, take func(json.RawMessage) error) error {
	r := doc.NewReader(src, file, doc.Limits{Size: 256 << 20, Nodes: 16 << 20})
	r.YAML11()
	for {
		document, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(document.JSON); err != nil {
			return fmt.Errorf("%s: %w", document.Start, err)
		}
	}
}

// Each calls a function with an object, or with those of a list. An object without a kind
// has the given one. Objects of other APIs that use the same kind, such as the Nodes of
// Longhorn, are skipped.
func Each(raw json.RawMessage, kind string, take func(Object) error) error {
	var head struct {
		API      string            `json:"apiVersion"`
		Kind     string            `json:"kind"`
		Metadata json.RawMessage   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	o := Object{Kind: cmp.Or(head.Kind, kind), JSON: raw}
	if foreign(o.Kind, head.API) {
		return nil
	}
	if strings.HasSuffix(head.Kind, "List") {
		for i, item := range head.Items {
			if err := Each(item, strings.TrimSuffix(head.Kind, "List"), take); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return take(o)
	}
	var err error
	if head.Metadata != nil {
		err = json.Unmarshal(head.Metadata, &o.Meta)
	}
	if err == nil {
		err = take(o)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.Kind, o.Meta, err)
	}
	return nil
}

// Append decodes an object and adds it to a list.
func Append[T any](o Object, list *[]T) error {
	var v T
	if err := json.Unmarshal(o.JSON, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}

// Replicas returns how many replicas the owner of pods requests; 1 if it does not
// specify a number.
func Replicas(o Object) (drain.Replicas, error) {
	var x struct {
		Spec struct {
			Replicas *int `json:"replicas"`
		} `json:"spec"`
	}
	err := json.Unmarshal(o.JSON, &x)
	r := drain.Replicas{Namespace: o.Meta.Namespace, Kind: o.Kind, Name: o.Meta.Name, Count: 1}
	if x.Spec.Replicas != nil {
		r.Count = *x.Spec.Replicas
	}
	return r, err
}
