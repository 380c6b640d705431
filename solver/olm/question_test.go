package olm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm"
)

// questions are the commands of scripts that ask a resolver for more than what
// to install.
var questions = map[string]func(r *olm.Resolver, s *scenario, words []string) (string, error){
	"update":  askUpdate,
	"what-if": askWhatIf,
	"path":    askPath,
	"impact":  askImpact,
	"explain": askExplain,
}

func askQuestion(s *scenario, c *golden.Command, ask func(*olm.Resolver, *scenario, []string) (string, error)) string {
	r, err := olm.NewResolver(s.sources, &s.options)
	if err != nil {
		return s.failed(err)
	}
	var words []string
	for _, a := range c.Args {
		words = append(words, a.Key)
		if a.Values != nil {
			words[len(words)-1] += "=" + a.Values[0]
		}
	}
	text, err := ask(r, s, words)
	var unsat *olm.UnsatError
	if errors.As(err, &unsat) {
		return "unsatisfiable\n" + s.explain(unsat)
	}
	if err != nil {
		return s.failed(err)
	}
	return text
}

func askUpdate(r *olm.Resolver, s *scenario, words []string) (string, error) {
	u, err := r.UpdateOnly(context.Background(), s.request, words)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(s.printResult(u.Resolution, nil))
	for _, m := range u.Moved {
		fmt.Fprintf(&b, "moved: %s of subscription %s gives way to %s: %s %s\n", m.From, m.Subscription, m.To, m.From, s.said.Say(m.Why))
	}
	if len(u.Added) > 0 {
		fmt.Fprintf(&b, "added: %s\n", strings.Join(u.Added, ", "))
	}
	return b.String(), nil
}

func askWhatIf(r *olm.Resolver, s *scenario, _ []string) (string, error) {
	base, err := r.Base(context.Background(), s.request)
	if err != nil {
		return "", err
	}
	e, err := base.WhatIf(context.Background(), &s.supposed)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range e.Added {
		fmt.Fprintf(&b, "+ %s from %s\n", c, c.Source)
	}
	for _, c := range e.Removed {
		fmt.Fprintf(&b, "- %s from %s\n", c, c.Source)
	}
	for _, c := range e.Changed {
		fmt.Fprintf(&b, "~ %s from %s, was %s from %s\n", c.After, c.After.Source, c.Before, c.Before.Source)
	}
	for _, o := range e.Subscriptions {
		fmt.Fprintf(&b, "subscription %s: %q -> %q\n", o.Subscription, o.Before, o.After)
	}
	if e.Fixes {
		b.WriteString("fixes it\n")
	}
	if e.Breaks {
		b.WriteString("breaks it\n")
	}
	if e.Unsat != nil {
		b.WriteString(s.explain(e.Unsat))
	}
	if b.Len() == 0 {
		return "changes nothing", nil
	}
	return b.String(), nil
}

// askPath takes targets as PACKAGE, PACKAGE=VERSION or PACKAGE=BUNDLE, and
// limit=STATES.
func askPath(r *olm.Resolver, s *scenario, words []string) (string, error) {
	var targets []olm.Target
	opts := &olm.PathOptions{}
	for _, w := range words {
		pkg, to, _ := strings.Cut(w, "=")
		switch {
		case pkg == "limit":
			opts.MaxStates, _ = strconv.Atoi(to)
		case strings.Contains(to, ".v"):
			targets = append(targets, olm.Target{Package: pkg, Name: to})
		default:
			targets = append(targets, olm.Target{Package: pkg, Version: to})
		}
	}
	p, err := r.UpgradePath(context.Background(), s.request, targets, opts)
	var dead *olm.PathError
	switch {
	case errors.As(err, &dead):
		return s.said.Say(err.Error()) + "\nthe nearest:\n" + printPath(dead.Nearest), nil
	case err != nil:
		return "", err
	}
	return printPath(p), nil
}

func printPath(p *olm.Path) string {
	var b strings.Builder
	for i, h := range p.Hops {
		fmt.Fprintf(&b, "%d:", i+1)
		for _, c := range h.Chosen {
			fmt.Fprintf(&b, " %s", c)
		}
		fmt.Fprintf(&b, "; installed %s\n", strings.Join(h.Installed, " "))
	}
	if len(p.Hops) == 0 {
		b.WriteString("nothing to do\n")
	}
	return b.String()
}

// askImpact asks for the impact of replacing catalogs by the supposed ones of
// the same names.
func askImpact(r *olm.Resolver, s *scenario, _ []string) (string, error) {
	after := slices.DeleteFunc(slices.Clone(s.sources), func(o olm.Source) bool {
		return slices.ContainsFunc(s.supposed.Catalogs, func(n olm.Source) bool { return n.SourceKey == o.SourceKey })
	})
	other, err := olm.NewResolver(append(after, s.supposed.Catalogs...), &s.options)
	if err != nil {
		return "", err
	}
	f, err := olm.Impact(context.Background(), r, other, []olm.Member{{Name: "m", Request: s.request}})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(s.said.Tree(f.String() + "\n"))
	for _, m := range f.Members {
		for _, x := range m.Subscriptions {
			fmt.Fprintf(&b, "%s: subscription %s, installed %q: %q -> %q\n", x.Kind, x.Subscription, x.Installed, x.Before, x.After)
			for _, why := range x.Why {
				fmt.Fprintf(&b, "  %s\n", s.said.Say(why))
			}
		}
		for _, c := range slices.Concat(m.Diff.Added, m.Diff.Removed) {
			fmt.Fprintf(&b, "chosen otherwise: %s\n", c)
		}
	}
	return b.String(), nil
}

// A request that names no namespace but has a subscription in one is rejected.
func TestNoNamespace(t *testing.T) {
	req := &olm.Request{Subscriptions: make([]olm.Subscription, 1)}
	req.Subscriptions[0].Name, req.Subscriptions[0].Namespace = "a", "team"
	_, err := olm.Resolve(t.Context(), nil, req, nil)
	const want = "the request names no namespace, and subscription a is of namespace team; set Namespace to the one to resolve"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func askExplain(r *olm.Resolver, s *scenario, _ []string) (string, error) {
	res, err := r.Resolve(context.Background(), s.request)
	if err != nil {
		return "", err
	}
	x, err := r.Explain(context.Background(), s.request, res)
	if err != nil {
		return "", err
	}
	return s.said.Tree(x.String()), nil
}
