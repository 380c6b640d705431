package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
)

// explanationBytes is the longest explanation in the status of objects.
const explanationBytes = 1 << 10

// answer is what the resolver says about a namespace.
type answer struct {
	resolution *olm.Resolution // see World
	refusal    *Refusal        // see World
	cause      error           // the resolver's error behind the refusal
}

// ask resolves. A failed resolution is also an answer; the error is that of
// ctx.
func (r *asking) ask(ctx context.Context, req *olm.Request) (*answer, error) {
	within, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	a, err := r.answer(within, req)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		text := fmt.Sprintf("the resolver did not finish within %v; it is asked again", r.limit)
		return &answer{cause: within.Err(), refusal: &Refusal{Reason: ReasonResolutionError, Message: text, Again: true}}, nil
	}
	return a, err
}

func (r *asking) answer(ctx context.Context, req *olm.Request) (*answer, error) {
	res, err := r.resolve(ctx, req)
	if err == nil {
		return &answer{resolution: res}, explainBlocked(ctx, res)
	}
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	a := &answer{cause: err}
	var conflict *ConflictError
	var unsat *olm.UnsatError
	switch {
	case errors.As(err, &conflict):
		a.refusal = &Refusal{Reason: ReasonNamespaces, Message: err.Error()}
	case errors.As(err, &unsat):
		x, err := unsat.Explain(ctx)
		if err != nil {
			return nil, err
		}
		a.refusal = &Refusal{Reason: ReasonUnsatisfiable, Message: x.Within(explanationBytes)}
		a.resolution, err = r.owed(ctx, req)
		return a, err
	default:
		text := err.Error()
		var source *olm.SourceError
		if errors.As(err, &source) {
			text += "; nothing of the namespace is resolved until the catalog can be used again, or is deleted"
		}
		a.refusal = &Refusal{Reason: ReasonResolutionError, Message: text}
	}
	return a, nil
}

// explainBlocked says why subscriptions are left out.
func explainBlocked(ctx context.Context, res *olm.Resolution) error {
	for i := range res.Subscriptions {
		o := &res.Subscriptions[i]
		if o.Blocked == nil {
			continue
		}
		x, err := o.Blocked.Explain(ctx)
		if err != nil {
			return err
		}
		o.Why = []string{x.Within(explanationBytes)}
	}
	return nil
}

// owed returns, if not all subscriptions can be served, what the installed
// operators require and lack. It is nil if that cannot be resolved either, or
// a subscription asks for something else. The error is that of ctx.
func (r *asking) owed(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
	alone := *req
	alone.Subscriptions = nil
	res, err := r.resolve(ctx, &alone)
	if err != nil {
		return nil, ctx.Err()
	}
	for i := range res.Chosen {
		c := &res.Chosen[i]
		named := false
		for j := range req.Subscriptions {
			if sub := &req.Subscriptions[j]; sub.Spec.Package == c.Package {
				if named = true; mayBring(sub, c) {
					c.Subscriptions = append(c.Subscriptions, sub.Name)
				}
			}
		}
		if named && c.Subscriptions == nil {
			return nil, nil
		}
		res.Generated = slices.DeleteFunc(res.Generated, func(g olm.Subscription) bool { return named && g.Spec.Package == c.Package })
	}
	return res, nil
}

// mayBring reports whether a subscription asks for what was chosen, or might.
func mayBring(sub *olm.Subscription, c *olm.Choice) bool {
	fits := func(asked, is string) bool { return asked == "" || asked == is }
	return fits(sub.Spec.Channel, c.Channel) && fits(sub.Spec.Source, c.Source.Name) &&
		fits(sub.Spec.SourceNamespace, c.Source.Namespace) && fits(sub.Spec.StartingCSV, c.Name)
}
