package cvo

import (
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
)

// Issue is what prevents a release from being applied, as a tree: several errors have
// children for the kinds of errors, errors of one kind about several operators have a
// child for each, and each of those has its details. Its JSON names are those of the
// cluster-version operator, plus reason.
type Issue struct {
	Message  string         `json:"message"`            // what and why
	Reason   string         `json:"reason,omitempty"`   // a stable word in CamelCase; empty for a detail
	Effect   Effect         `json:"effect,omitempty"`   // what it does to the update; empty for a detail
	Manifest *IssueManifest `json:"manifest,omitempty"` // which manifest it is about; nil for several, for all, and for a detail
	// TransitionStart is when the wait for a ClusterOperator began; zero if there is no
	// wait.
	TransitionStart time.Time `json:"transitionStart,omitzero"`
	// Children are its parts: errors that are not about a ClusterOperator in the order
	// of the tasks, then the others by reason, and those of one reason in the order of
	// the tasks.
	Children []*Issue `json:"children,omitempty"`
}

// IssueManifest names a manifest.
type IssueManifest struct {
	OriginalFilename string `json:"originalFilename,omitempty"` // in the payload
	Group            string `json:"group"`                      // of its kind; empty for the core
	Kind             string `json:"kind"`                       // what it is
	Namespace        string `json:"namespace,omitempty"`        // its namespace; empty for cluster-scoped resources
	Name             string `json:"name"`                       // its name
}

// Explain returns what prevents a release from being applied, as Step would find it, or
// nil if nothing does. It is a pure function like Step.
func Explain(state State, w *World, now time.Time, policy *Policy) *Issue {
	s := decide(state, w, now, policy)
	if s == nil {
		return nil
	}
	about := map[*TaskError]int{}
	for i, e := range s.errors {
		about[e] = s.keeps[i]
	}
	leaf := func(e *TaskError) *Issue {
		i := &Issue{Message: e.Message, Reason: e.Reason, Effect: e.Effect}
		if task := about[e]; task >= 0 {
			m := s.prep.graph.Tasks[task]
			if i.Manifest = manifestOf(m); m.ClusterOperator() {
				i.TransitionStart = s.started[m.ID.Name]
			}
		}
		if e.Detail != "" {
			i.Children = []*Issue{{Message: e.Detail}}
		}
		return i
	}
	return issueOf(s.errors, leaf)
}

func manifestOf(m *payload.Manifest) *IssueManifest {
	return &IssueManifest{OriginalFilename: m.File, Group: m.ID.Group, Kind: m.ID.Kind, Namespace: m.ID.Namespace, Name: m.ID.Name}
}

// issueOf builds the tree of errors. leaf turns one error into an Issue.
func issueOf(errs []*TaskError, leaf func(*TaskError) *Issue) *Issue {
	root := &Issue{}
	for _, kind := range kinds(errs) {
		if len(kind) == 1 {
			root.Children = append(root.Children, leaf(kind[0]))
			continue
		}
		e := joined(kind)
		node := &Issue{Message: e.Message, Reason: e.Reason, Effect: e.Effect}
		for _, one := range kind {
			node.Children = append(node.Children, leaf(one))
		}
		root.Children = append(root.Children, node)
	}
	switch len(root.Children) {
	case 0:
		return nil
	case 1:
		return root.Children[0]
	}
	e := Summarize(errs)
	root.Message, root.Reason, root.Effect = e.Message, e.Reason, e.Effect
	return root
}
