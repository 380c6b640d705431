package resolve

import (
	"errors"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// extensionAnswer is the answer about a ClusterExtension.
type extensionAnswer struct {
	Extension string         // its name
	Installed string         // the bundle that it has, or ""
	Bundle    *olm.Candidate // what it gets, or nil
	Problem   string         // why nothing
	noWay     bool           // nothing leads on from what it has
	similar   []string       // packages that may be meant
	highest   string         // the version that there is, if none is in the range
}

// runExtensions answers about the ClusterExtensions of a cluster, from the given
// catalogs, with the labels and priorities of its ClusterCatalogs.
func (c *command) runExtensions(given []olm.Source) ([]extensionAnswer, error) {
	r, err := c.extensionResolver(given)
	if err != nil {
		return nil, err
	}
	var all []extensionAnswer
	for i := range c.held.Extensions {
		all = append(all, answerExtension(r, &c.held.Extensions[i].ClusterExtension))
	}
	return all, nil
}

// extensionResolver resolves with the given catalogs, as ClusterCatalogs.
func (c *command) extensionResolver(given []olm.Source) (*olm.Resolver, error) {
	var sources []olm.Source
	for _, s := range given {
		if s.Catalog == nil {
			continue
		}
		own := olm.Source{SourceKey: olm.SourceKey{Name: s.Name}, Priority: s.Priority}
		for i := range c.held.Served {
			if x := &c.held.Served[i]; x.Name == s.Name {
				own = extension.SourceOf(x)
			}
		}
		own.Catalog = s.Catalog
		sources = append(sources, own)
	}
	return olm.NewResolver(sources, nil)
}

func answerExtension(r *olm.Resolver, x *extension.ClusterExtension) extensionAnswer {
	a := extensionAnswer{Extension: x.Name}
	if x.Status.Install != nil {
		a.Installed = x.Status.Install.Bundle.Name
	}
	q, err := extension.QuestionOf(x)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	choice, err := r.ResolveExtension(q)
	if err != nil {
		var none *olm.ExtensionError
		if a.Problem = err.Error(); errors.As(err, &none) {
			a.noWay, a.similar = none.Why != "", none.Similar
			if none.InRange == 0 {
				a.highest = none.Highest
			}
		}
		return a
	}
	a.Bundle = &choice.Candidate
	return a
}

// printExtensions prints answers, and reports whether all extensions have a bundle.
func printExtensions(w io.Writer, all []extensionAnswer) (fine bool, err error) {
	var b strings.Builder
	fine = true
	for _, a := range all {
		words.Fprintf(&b, "clusterextension %s\n", a.Extension)
		switch {
		case a.Problem != "":
			fine = false
			words.Fprintf(&b, "  %s\n", a.Problem)
		case a.Bundle.Name == a.Installed:
			words.Fprintf(&b, "  %s, as installed\n", a.Installed)
		default:
			words.Fprintf(&b, "  %s from catalog %s\n", a.Bundle.Name, a.Bundle.Source)
			if a.Installed != "" {
				words.Fprintf(&b, "  updates %s\n", a.Installed)
			}
		}
	}
	_, err = io.WriteString(w, b.String())
	return fine, err
}

// extensionsToo adds the answers about extensions to a status.
func (c *command) extensionsToo(status int, err error, text io.Writer) (int, error) {
	if err != nil || len(c.held.Extensions) == 0 {
		return status, err
	}
	all, err := c.runExtensions(c.held.given)
	if err != nil {
		return 0, err
	}
	fine, err := printExtensions(text, all)
	if !fine {
		status = statusNoSolution
	}
	return status, err
}
