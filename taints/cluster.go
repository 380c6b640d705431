package taints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Cluster is the part of a cluster that matters to decisions on taints.
type Cluster struct {
	Nodes   []fairlead.Node       `json:"nodes"`             // in the order in which they were read
	Pods    []fairlead.Pod        `json:"pods"`              // in the order in which they were read
	Budgets []PodDisruptionBudget `json:"budgets,omitempty"` // in the order in which they were read
}

// PodDisruptionBudget limits how many pods of a set may be down because of
// evictions.
type PodDisruptionBudget = fairlead.PodDisruptionBudget

// A ReadError says what is wrong with an object that was read.
type ReadError struct {
	Object  string // such as pod/shop/web-0, or items[3] if it has no name
	Field   string // path in the object, such as spec.taints[0].key; empty if it is the whole
	Problem string // what is wrong there
}

// Error implements error.
func (e *ReadError) Error() string {
	if e.Field == "" {
		return e.Object + ": " + e.Problem
	}
	return e.Object + ": " + e.Field + ": " + e.Problem
}

// ReadCluster reads the output of "kubectl get nodes,pods,pdb -A -o json": a
// list, or one object, or several of these in sequence. Objects of other kinds
// are ignored. Every node and pod must have a name, and none may occur twice;
// taints and tolerations are not validated here.
//
// Only one object at a time is held as text. The error is a [*ReadError], or
// that of the reader or of the JSON syntax.
func ReadCluster(r io.Reader) (*Cluster, error) {
	c := &clusterReader{seen: map[string]bool{}}
	d := json.NewDecoder(r)
	for documents := 0; ; documents++ {
		err := c.document(d)
		switch {
		case err == io.EOF && documents > 0:
			return &c.cluster, nil
		case err == io.EOF:
			return nil, errors.New("the input is empty; give it the output of kubectl get nodes,pods -A -o json")
		case err != nil:
			return nil, err
		}
	}
}

type clusterReader struct {
	cluster Cluster
	seen    map[string]bool // titles of what was read
	items   int             // how many items were read
}

// document reads one list or one object, member by member, so that a list is
// never held as a whole.
func (c *clusterReader) document(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		if err == io.EOF {
			return err
		}
		return syntax(d, err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("the input does not begin with an object; give it the output of kubectl get nodes,pods -A -o json")
	}
	members := map[string]json.RawMessage{}
	kind, list := "", false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return syntax(d, err)
		}
		if name == "items" {
			list = true
			if err := c.list(d, itemKind(kind)); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return syntax(d, err)
		}
		members[name.(string)] = value
		if name == "kind" && json.Unmarshal(value, &kind) != nil {
			return &ReadError{"the document", "kind", "it is not a string"}
		}
	}
	if _, err := d.Token(); err != nil {
		return syntax(d, err)
	}
	if list {
		return nil
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return c.object(whole, kind, "the document")
}

// itemKind returns the kind of the items of a list, which need not state it.
func itemKind(list string) string {
	switch list {
	case "NodeList":
		return "Node"
	case "PodList":
		return "Pod"
	case "PodDisruptionBudgetList":
		return "PodDisruptionBudget"
	}
	return ""
}

func (c *clusterReader) list(d *json.Decoder, kind string) error {
	open, err := d.Token()
	if err != nil {
		return syntax(d, err)
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('[') {
		return &ReadError{"the document", "items", "it is not a list"}
	}
	for d.More() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return syntax(d, err)
		}
		title := fmt.Sprintf("items[%d]", c.items)
		c.items++
		if err := c.object(item, kind, title); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return syntax(d, err)
	}
	return nil
}

// object adds one object; kind is its kind if it does not state one.
func (c *clusterReader) object(data []byte, kind, title string) error {
	var head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return typeError(data, &head, title)
	}
	if head.Kind == "" {
		head.Kind = kind
	}
	name := fairlead.ObjectMeta{Name: head.Metadata.Name, Namespace: head.Metadata.Namespace}
	switch head.Kind {
	case "Node":
		c.cluster.Nodes = append(c.cluster.Nodes, fairlead.Node{})
		return c.take(data, &c.cluster.Nodes[len(c.cluster.Nodes)-1], title, "node/", name)
	case "Pod":
		c.cluster.Pods = append(c.cluster.Pods, fairlead.Pod{})
		return c.take(data, &c.cluster.Pods[len(c.cluster.Pods)-1], title, "pod/", name)
	case "PodDisruptionBudget":
		c.cluster.Budgets = append(c.cluster.Budgets, PodDisruptionBudget{})
		return c.take(data, &c.cluster.Budgets[len(c.cluster.Budgets)-1], title, "pdb/", name)
	case "":
		return &ReadError{title, "kind", "it is missing; it says whether this is a Node or a Pod"}
	}
	return nil
}

// take decodes and checks an object with a name.
func (c *clusterReader) take(data []byte, into any, title, prefix string, name fairlead.ObjectMeta) error {
	if name.Name == "" {
		return &ReadError{title, "metadata.name", "the name is missing"}
	}
	title = prefix + name.String()
	if c.seen[title] {
		return &ReadError{title, "", "it appears twice; the input may contain two lists of the same cluster"}
	}
	c.seen[title] = true
	if json.Unmarshal(data, into) != nil {
		return typeError(data, into, title)
	}
	return nil
}

// syntax returns an error of the decoder with the position where it stopped.
func syntax(d *json.Decoder, err error) error {
	var s *json.SyntaxError
	known := errors.As(err, &s)
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF), known && strings.HasPrefix(s.Error(), "unexpected end"):
		return errors.New("the input ends in the middle of an object; it may have been cut off")
	case known:
		return fmt.Errorf("byte %d of the input: it is not JSON: %w", d.InputOffset(), err)
	}
	return err
}

// typeError returns the first field that does not decode, by its path.
func typeError(data []byte, into any, title string) error {
	field, problem := object.Mismatch(bytes.TrimSpace(data), into)
	return &ReadError{title, field, problem}
}
