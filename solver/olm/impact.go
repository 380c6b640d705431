package olm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// Member is one namespace of one cluster of a fleet.
type Member struct {
	Name    string   `json:"name"`    // identifies it, such as "cluster/namespace"
	Request *Request `json:"request"` // its state; it must not be changed during the call
}

// ImpactKind is a kind of effect that other catalogs have on a subscription.
type ImpactKind string

// The kinds of impact, the worst first.
const (
	Broken   ImpactKind = "Broken"   // it is no longer served
	Stranded ImpactKind = "Stranded" // its installed operator can no longer reach a head of its channel, in any number of hops
	Changed  ImpactKind = "Changed"  // another operator serves it
	Freed    ImpactKind = "Freed"    // it was stranded and no longer is
	Mended   ImpactKind = "Mended"   // it is served and was not before
)

var impactOrder = []ImpactKind{Broken, Stranded, Changed, Freed, Mended}

// SubscriptionImpact is the effect of other catalogs on one subscription.
type SubscriptionImpact struct {
	Subscription string     `json:"subscription"`     // its name
	Kind         ImpactKind `json:"kind"`             // the worst that applies
	Installed    string     `json:"installed"`        // the CSV that it has, or ""
	Before       string     `json:"before,omitempty"` // the CSV that serves it with the old catalogs, or "" if none does
	After        string     `json:"after,omitempty"`  // and with the new ones
	Why          []string   `json:"why,omitempty"`    // the reason, as lines
}

// MemberImpact is the effect of other catalogs on a namespace.
type MemberImpact struct {
	Name          string               `json:"name"`                    // the name of the Member
	Subscriptions []SubscriptionImpact `json:"subscriptions,omitempty"` // those concerned, in the order served
	Diff          Diff                 `json:"diff"`                    // what changes in the choice, including dependencies
}

// FleetImpact is the effect of other catalogs on a fleet.
type FleetImpact struct {
	// Members are the affected ones, in the order given.
	Members []MemberImpact `json:"members"`
	// Unaffected is the number of other members.
	Unaffected int `json:"unaffected"`
}

// Count returns the number of subscriptions of the fleet that have an impact of
// that kind.
func (f *FleetImpact) Count(kind ImpactKind) int {
	n := 0
	for i := range f.Members {
		for _, s := range f.Members[i].Subscriptions {
			if s.Kind == kind {
				n++
			}
		}
	}
	return n
}

// String counts the impacts in one line, such as "2 of 40 members are affected:
// 1 subscription broken, 3 changed".
func (f *FleetImpact) String() string {
	var parts []string
	for _, kind := range impactOrder {
		n := f.Count(kind)
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, strings.ToLower(string(kind)))
		if parts == nil {
			text = fmt.Sprintf("%d subscription%s %s", n, words.Plural(n, "", "s"), strings.ToLower(string(kind)))
		}
		parts = append(parts, text)
	}
	all := len(f.Members) + f.Unaffected
	text := fmt.Sprintf("%d of %d member%s affected", len(f.Members), all, words.Plural(all, "", "s"))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// Impact returns the effect of changed catalogs on a fleet: it resolves every
// member with both resolvers and compares the answers. It resolves as with
// Options.PartialOK, so that one conflict does not hide another.
//
// Equal requests are resolved once. Impact is safe for concurrent use with the
// same resolvers, also for parts of one fleet: the impact on a member does not
// depend on the others. The errors are those of Resolve, with the member's
// name, except *UnsatError, which is an impact.
func Impact(ctx context.Context, before, after *Resolver, fleet []Member) (*FleetImpact, error) {
	x := &assessor{before: before.partial(), after: after.partial(), known: make(map[[sha256.Size]byte]*MemberImpact)}
	out := &FleetImpact{Members: []MemberImpact{}}
	for _, m := range fleet {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		impact, err := x.member(ctx, m.Request)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.Name, err)
		}
		if len(impact.Subscriptions) == 0 && impact.Diff.Empty() {
			out.Unaffected++
			continue
		}
		own := *impact
		own.Name = m.Name
		out.Members = append(out.Members, own)
	}
	return out, nil
}

// partial returns the resolver with Options.PartialOK set; it shares what is
// known about the catalogs.
func (r *Resolver) partial() *Resolver {
	opts := r.opts
	opts.PartialOK = true
	return &Resolver{opts: opts, sources: r.sources, needs: r.needs}
}

// assessor is the state of a call of Impact.
type assessor struct {
	before, after *Resolver
	known         map[[sha256.Size]byte]*MemberImpact // by the request's JSON
}

// member assesses one request with the budget of one question.
func (x *assessor) member(ctx context.Context, req *Request) (*MemberImpact, error) {
	ctx, end := x.before.budgeted(ctx)
	m, err := x.assess(ctx, req)
	return m, end(err)
}

func (x *assessor) assess(ctx context.Context, req *Request) (*MemberImpact, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(text)
	if known := x.known[key]; known != nil {
		return known, nil
	}
	a, err := x.before.assess(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("with the catalogs before: %w", err)
	}
	b, err := x.after.assess(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("with the catalogs after: %w", err)
	}
	m := &MemberImpact{Diff: *a.res.Diff(b.res)}
	for i, s := range a.q.subs { // both queries have the same, in the same order
		impact, err := compareServed(ctx, a, b, i)
		if err != nil {
			return nil, err
		}
		if impact.Kind == "" {
			continue
		}
		impact.Subscription = s.Name
		if s.current != nil {
			impact.Installed = s.current.name
		}
		m.Subscriptions = append(m.Subscriptions, *impact)
	}
	x.known[key] = m
	return m, nil
}

// assessment is a request with its answer.
type assessment struct {
	q       *query
	res     *Resolution
	served  map[string]*Outcome
	blocked map[string]*UnsatError
}

func (r *Resolver) assess(ctx context.Context, req *Request) (*assessment, error) {
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	a := &assessment{q: q, served: make(map[string]*Outcome), blocked: make(map[string]*UnsatError)}
	if a.res, err = q.resolve(ctx); err != nil {
		return nil, err
	}
	for i := range a.res.Subscriptions {
		o := &a.res.Subscriptions[i]
		if o.Blocked != nil {
			a.blocked[o.Subscription] = o.Blocked
			continue
		}
		a.served[o.Subscription] = o
	}
	return a, nil
}

// compareServed compares how the subscription at a position is served.
func compareServed(ctx context.Context, a, b *assessment, at int) (*SubscriptionImpact, error) {
	sa, sb := a.q.subs[at], b.q.subs[at]
	oa, ob := a.served[sa.Name], b.served[sb.Name]
	i := &SubscriptionImpact{}
	if oa != nil {
		i.Before = oa.Operator
	}
	if ob != nil {
		i.After = ob.Operator
	}
	switch {
	case ob == nil && oa == nil:
		return i, nil
	case ob == nil:
		x, err := b.blocked[sb.Name].Explain(ctx)
		if err != nil {
			return nil, err
		}
		i.Kind, i.Why = Broken, x.lines(ExplanationLines)
		return i, nil
	case oa == nil:
		i.Kind = Mended
		return i, nil
	}
	was, is := a.q.stranded(sa), b.q.stranded(sb)
	switch {
	case is && !was:
		i.Kind, i.Why = Stranded, []string{b.q.whyStranded(sb)}
	case i.Before != i.After:
		i.Kind, i.Why = Changed, whyServedSo(oa, ob)
	case was && !is:
		i.Kind = Freed
	}
	return i, nil
}

// whyServedSo returns why another operator serves a subscription.
func whyServedSo(before, after *Outcome) []string {
	var why []string
	if before.Head != after.Head {
		why = append(why, fmt.Sprintf("the head of its channel is %s, and was %s", cmp.Or(after.Head, "nothing"), cmp.Or(before.Head, "nothing")))
	}
	return append(why, after.Why...)
}

// stranded reports whether the installed operator of a subscription cannot
// reach the head of any of its channels: no chain of edges leads there.
func (q *query) stranded(s *subscription) bool {
	if s.current == nil {
		return false
	}
	channels := q.channelsOf(s)
	heads := make(map[string]bool)
	for _, ch := range channels {
		if len(ch.chain) > 0 {
			heads[ch.chain[0].name] = true
		}
	}
	if heads[s.current.name] {
		return false
	}
	passed := make(map[*entry]bool)
	ahead := slices.Clone(s.candidates)
	for ; len(ahead) > 0; ahead = ahead[1:] {
		e := ahead[0]
		if heads[e.name] {
			return false
		}
		if passed[e] {
			continue
		}
		passed[e] = true
		for _, ch := range channels {
			for _, next := range ch.chain {
				if !passed[next] && next.updates(e.name, e.facts().version) {
					ahead = append(ahead, next)
				}
			}
		}
	}
	return len(channels) > 0
}

func (q *query) whyStranded(s *subscription) string {
	if len(s.candidates) == 0 {
		return whyNoUpdate(s, q.channelOf(s, nil))
	}
	names := make([]string, len(s.candidates))
	for i, e := range s.candidates {
		names[i] = e.name
	}
	return fmt.Sprintf("%s leads to %s, but no chain of replaces, skips and skipRange from there to the head of the channel", s.current.name, orNames(names))
}
