package olm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestScripts runs the scenarios of testdata. The commands:
//
//	resolve   resolves the scenario and prints the answer, or the explanation
//	core      prints a minimal set of conflicting facts
//	extension resolves the scenario's extension
//	why-not   says why the named bundle is not chosen
//	cluster   resolves the namespaces of all subscriptions and CSVs
//	update    resolves so that only the named packages move
//	what-if   reports what the supposition changes
//	impact    reports what the supposed catalogs do to the request
//	explain   resolves, and explains the answer
//	path      finds a path to targets: PACKAGE, PACKAGE=VERSION or PACKAGE=BUNDLE
//
// See type scenario for the format.
func TestScripts(t *testing.T) {
	said := golden.NewWords(t, "testdata/words/olm.txt")
	said.Name(letters...)
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			s := parseScenario(t, c.Input)
			s.said = said
			if c.Name == "extension" {
				return printExtension(s)
			}
			if c.Name == "why-not" {
				return printWhyNot(s, c.Args[0].Key)
			}
			if c.Name == "cluster" {
				return printCluster(s)
			}
			if ask := questions[c.Name]; ask != nil {
				return askQuestion(s, c, ask)
			}
			res, err := olm.Resolve(context.Background(), s.sources, s.request, &s.options)
			switch c.Name {
			case "resolve":
				return s.printResult(res, err)
			case "core":
				var unsat *olm.UnsatError
				if !errors.As(err, &unsat) {
					return fmt.Sprintf("not unsatisfiable: %v", err)
				}
				core, _, err := unsat.Core(context.Background())
				if err != nil {
					return err.Error()
				}
				return s.said.Tree(strings.Join(core, "\n"))
			}
			t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
			return ""
		}
	})
}

func (s *scenario) printResult(res *olm.Resolution, err error) string {
	var b strings.Builder
	var unsat *olm.UnsatError
	switch {
	case errors.As(err, &unsat):
		return "unsatisfiable\n" + s.explain(unsat)
	case err != nil:
		return s.failed(err)
	}
	for _, c := range res.Chosen {
		fmt.Fprintf(&b, "install %s from %s", c.Candidate, c.Source)
		if c.Updates != "" {
			fmt.Fprintf(&b, " in place of %s", c.Updates)
		}
		if c.Updates != "" && c.Replaces != c.Updates {
			fmt.Fprintf(&b, " replacing %s", c.Replaces)
		}
		if len(c.Subscriptions) > 0 {
			fmt.Fprintf(&b, " for %s", strings.Join(c.Subscriptions, ", "))
		}
		if c.StartingCSV != "" {
			b.WriteString(" as startingCSV")
		}
		b.WriteString("\n")
		for _, r := range c.RequiredBy {
			fmt.Fprintf(&b, "  required by %s: %s\n", r.Operator, s.said.Say(r.Text))
		}
	}
	for _, g := range res.Generated {
		fmt.Fprintf(&b, "generate subscription %s starting at %s\n", g.Name, g.Spec.StartingCSV)
	}
	for _, o := range res.Subscriptions {
		if o.New && len(o.Why) == 0 || o.Blocked != nil {
			continue
		}
		fmt.Fprintf(&b, "%s: %s", o.Subscription, o.Operator)
		if o.Head != "" && o.Head != o.Operator {
			fmt.Fprintf(&b, " below %s", o.Head)
		}
		b.WriteString("\n")
		for _, why := range o.Why {
			fmt.Fprintf(&b, "  %s\n", s.said.Say(why))
		}
	}
	for _, x := range res.Blocked {
		fmt.Fprintf(&b, "blocked\n%s\n", s.explain(x))
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(&b, "warning: %s: %s\n", w.Subject, s.said.Say(w.Text))
	}
	if b.Len() == 0 {
		return "nothing to do"
	}
	return b.String()
}

func printWhyNot(s *scenario, name string) string {
	r, err := olm.NewResolver(s.sources, &s.options)
	if err != nil {
		return s.failed(err)
	}
	all, err := r.WhyNot(context.Background(), s.request, name)
	if err != nil {
		return s.failed(err)
	}
	var b strings.Builder
	for _, j := range all {
		why := "is chosen"
		if !j.Chosen {
			why = s.said.Say(j.Why)
		}
		fmt.Fprintf(&b, "%s from %s %s\n", j.Candidate, j.Source, why)
	}
	if b.Len() == 0 {
		return "no catalog has it"
	}
	return b.String()
}

func printCluster(s *scenario) string {
	r, err := olm.NewResolver(s.sources, &s.options)
	if err != nil {
		return s.failed(err)
	}
	var reqs []*olm.Request
	add := func(namespace string) {
		if !slices.ContainsFunc(reqs, func(req *olm.Request) bool { return req.Namespace == namespace }) {
			reqs = append(reqs, &olm.Request{Namespace: namespace, Subscriptions: s.request.Subscriptions, Installed: s.request.Installed})
		}
	}
	for _, sub := range s.request.Subscriptions {
		add(sub.Namespace)
	}
	for _, csv := range s.request.Installed {
		add(csv.Namespace)
	}
	out, err := r.ResolveNamespaces(context.Background(), reqs)
	if err != nil {
		return s.failed(err)
	}
	var b strings.Builder
	for _, n := range out.Namespaces {
		text := ""
		if n.Unsat != nil {
			text = "unsatisfiable\n" + s.explain(n.Unsat)
		} else {
			text = s.printResult(n.Resolution, nil)
		}
		fmt.Fprintf(&b, "namespace %s\n  %s\n", n.Namespace, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
	}
	for _, c := range out.Conflicts {
		fmt.Fprintf(&b, "conflict: %s\n", s.said.Say(c.Text))
		if c.Advice != "" {
			fmt.Fprintf(&b, "  %s\n", s.said.Say(c.Advice))
		}
	}
	return b.String()
}

func printExtension(s *scenario) string {
	r, err := olm.NewResolver(s.sources, nil)
	if err != nil {
		return s.failed(err)
	}
	choice, err := r.ResolveExtension(s.extension)
	if err != nil {
		return s.failed(err)
	}
	text := fmt.Sprintf("%s %s from %s", choice.Name, choice.Version, choice.Source)
	if choice.Installed {
		text += ", as installed"
	}
	for _, d := range choice.Deprecations {
		text += fmt.Sprintf("\n%s is deprecated: %s", d.Reference.Name, d.Message)
	}
	return text
}

// letters are the names of packages, channels and so on in the scenarios.
var letters = strings.Fields("a b c d e f g h i j k m n o p q r s t u v w x y z")

// failed prints an error.
func (s *scenario) failed(err error) string { return "error: " + s.said.Say(err.Error()) }

func (s *scenario) explain(unsat *olm.UnsatError) string {
	x, err := unsat.Explain(context.Background())
	if err != nil {
		return s.failed(err)
	}
	return s.said.Tree(x.String())
}
