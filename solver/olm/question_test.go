package olm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm"
)

// questions are the commands of scripts that ask a resolver for more than what
// to install.
var questions = map[string]func(r *olm.Resolver, s *scenario, words []string) (string, error){
	"update":  askUpdate,
	"what-if": askWhatIf,
}

func askQuestion(s *scenario, c *golden.Command, ask func(*olm.Resolver, *scenario, []string) (string, error)) string {
	r, err := olm.NewResolver(s.sources, &s.options)
	if err != nil {
		return "error: " + err.Error()
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
		return "unsatisfiable\n" + explain(unsat)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

func askUpdate(r *olm.Resolver, s *scenario, words []string) (string, error) {
	u, err := r.UpdateOnly(context.Background(), s.request, words)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(printResult(u.Resolution, nil))
	for _, m := range u.Moved {
		fmt.Fprintf(&b, "moved: %s of subscription %s gives way to %s: %s %s\n", m.From, m.Subscription, m.To, m.From, m.Why)
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
	if e.Mends {
		b.WriteString("mends it\n")
	}
	if e.Breaks {
		b.WriteString("breaks it\n")
	}
	if e.Unsat != nil {
		b.WriteString(explain(e.Unsat))
	}
	if b.Len() == 0 {
		return "changes nothing", nil
	}
	return b.String(), nil
}
