package extension

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// Together returns a Resolve that resolves an extension together with all others:
// other extensions meet the requirements of its bundle, and no two conflict. See
// [olm.Resolver.ResolveExtensions]; extensions are served in the order of their
// names. Others returns all other extensions, with what is installed in their
// status, even if their spec has changed since; it is called each time. Trigger all
// extensions when one of them has changed.
//
// If bundles of packages are needed that no extension asks for, the refusal names
// them: create extensions for these.
func Together(resolver func() *olm.Resolver, others func(ctx context.Context, name string) ([]ClusterExtension, error)) Resolve {
	return func(ctx context.Context, x *ClusterExtension) (*Answer, error) {
		rest, err := others(ctx, x.Name)
		if err != nil {
			return nil, err
		}
		all := append(slices.Clone(rest), *x)
		slices.SortFunc(all, func(a, b ClusterExtension) int { return strings.Compare(a.Name, b.Name) })
		var questions []*olm.Extension
		mine := 0
		for i := range all {
			q, err := QuestionOf(&all[i])
			if all[i].Name == x.Name {
				if err != nil {
					return &Answer{Refusal: err.Error()}, nil
				}
				mine = len(questions)
			}
			if err == nil { // an invalid one is reported by its own Step
				questions = append(questions, q)
			}
		}
		r := resolver()
		a := &Answer{}
		a.Deprecations, a.Catalogs, a.Known = r.Deprecations(questions[mine])
		set, err := r.ResolveExtensions(ctx, questions, false)
		if err != nil {
			a.Refusal, a.Again = err.Error(), true
			return a, ctx.Err()
		}
		got := set.Choices[mine]
		if got.Choice != nil {
			a.Choice = choiceOf(&got.Choice.Candidate)
			return a, nil
		}
		var source *olm.SourceError
		a.Refusal, a.Again = got.Err.Error(), errors.As(got.Err, &source)
		more, err := r.ResolveExtensions(ctx, questions, true)
		if err == nil && more.Choices[mine].Choice != nil {
			var names []string
			for _, d := range more.Dependencies {
				names = append(names, d.Package+" ("+d.Name+")")
			}
			a.Refusal += "\nTo do: create extensions for " + cmp.Or(strings.Join(names, ", "), "nothing more") + "; then it gets " + more.Choices[mine].Choice.Name
		}
		return a, ctx.Err()
	}
}
