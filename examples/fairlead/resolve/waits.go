package resolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// printWaits prints what the subscriptions of a namespace wait for in the cluster,
// and reports whether one of them is blocked.
func (c *command) printWaits(n *olm.NamespaceResolution, to io.Writer) (blocked bool, err error) {
	known := c.held.Cluster
	known.Global = c.global
	known.Answers = map[string]*explain.Answer{}
	if n.Resolution != nil {
		known.Answers[n.Namespace] = explain.AnswerOf(n.Resolution)
	}
	for _, v := range known.Operators() {
		if v.Namespace != n.Namespace || v.Kind != explain.KindSubscription {
			continue
		}
		blocked = blocked || v.Blocked()
		if n.Resolution == nil { // why there is none is told after this
			v.Waits = slices.DeleteFunc(v.Waits, func(w explain.Wait) bool { return w.Reason == explain.ReasonNotKnown })
		}
		if len(v.Waits)+len(v.Notes) == 0 {
			continue
		}
		if err := v.WriteText(to); err != nil {
			return false, err
		}
	}
	return blocked, nil
}

// ofNamespace returns the subscriptions of a namespace, as the diagnosis names them.
func (c *command) ofNamespace(namespace string) (ids []string) {
	for i := range c.held.Subscriptions {
		if s := &c.held.Subscriptions[i]; s.Namespace == namespace {
			ids = append(ids, diagnosis.ID(string(explain.KindSubscription), s.Namespace, s.Name))
		}
	}
	return ids
}

// learn adds what resolution says of the namespaces and the extensions of the
// cluster. It returns notes about those of which that is not known.
func (c *command) learn(ctx context.Context, r *olm.Resolver) (notes []string, err error) {
	c.held.Global = c.global
	c.held.Answers = map[string]*explain.Answer{}
	spaces, _ := c.held.spaces("") // none is no error here
	for _, name := range spaces {
		req, _ := c.held.request(name)
		res, err := r.Resolve(ctx, req)
		var unsat *olm.UnsatError
		switch {
		case errors.As(err, &unsat):
			x, err := unsat.Explain(ctx)
			if err != nil {
				return nil, err
			}
			c.held.Answers[name] = refusal(x)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			notes = append(notes, fmt.Sprintf("namespace %s: what comes next is not known: %v", name, err))
		default:
			c.held.Answers[name] = explain.AnswerOf(res)
		}
	}
	return notes, c.learnExtensions()
}

// refusal is what an explanation says first, and what would help.
func refusal(x *olm.Explanation) *explain.Answer {
	a := &explain.Answer{}
	for _, f := range x.Findings {
		text := f.Text
		for _, why := range f.Because {
			between := "; "
			if strings.HasSuffix(text, ":") || strings.HasSuffix(text, ", but") { // its first reason ends the clause
				between = " "
			}
			text += between + why.Text
		}
		a.Refused = append(a.Refused, text)
	}
	if len(x.Advice) > 0 {
		a.Advice, a.Steps = x.Advice[0], x.Steps
	}
	return a
}

// learnExtensions adds what the catalogs offer to the extensions.
func (c *command) learnExtensions() error {
	if len(c.held.Extensions) == 0 {
		return nil
	}
	r, err := c.extensionResolver(c.held.given)
	if err != nil {
		return err
	}
	for i := range c.held.Extensions {
		x := &c.held.Extensions[i]
		a := answerExtension(r, &x.ClusterExtension)
		if a.Bundle != nil {
			x.Next = a.Bundle.Name
			continue
		}
		x.Refused, x.NoWay, x.Similar, x.Highest = a.Problem, a.noWay, a.similar, a.highest
		q, err := extension.QuestionOf(&x.ClusterExtension)
		if err != nil {
			continue // the problem says so
		}
		path, err := r.ExtensionPath(q)
		if err != nil {
			continue
		}
		for i, step := range path {
			x.Path = append(x.Path, step.Version)
			if i == 0 {
				x.PathChannel = step.Channel
			}
		}
	}
	return nil
}

// inNamespace keeps the views of one namespace, or all.
func inNamespace(views []*explain.View, namespace string) []*explain.View {
	if namespace == "" {
		return views
	}
	return slices.DeleteFunc(views, func(v *explain.View) bool { return v.Namespace != namespace })
}
