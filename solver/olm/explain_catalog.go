package olm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
)

// Explain explains an answer to a request as [Resolution.Explain] does, and further,
// for each operator that was chosen, why from that catalog, where others have its
// package, too, and who else provides what it was chosen for. The errors are those
// of the catalogs and of a context that ended.
func (r *Resolver) Explain(ctx context.Context, req *Request, res *Resolution) (*Explanation, error) {
	x := res.Explain()
	seen := r.visible(req)
	for i := range res.Chosen {
		c := &res.Chosen[i]
		if text := whyCatalog(seen, req, c); text != "" {
			x.Findings = append(x.Findings, Finding{Text: text})
		}
		for _, n := range c.RequiredBy {
			text, err := otherProviders(ctx, seen, res, c, n)
			if err != nil {
				return nil, err
			}
			if text != "" {
				x.Findings = append(x.Findings, Finding{Text: text})
			}
		}
	}
	return x, nil
}

// whyCatalog says why an operator comes from its catalog; "" if no other that is
// visible has the package.
func whyCatalog(seen []*source, req *Request, c *Choice) string {
	at := slices.IndexFunc(seen, func(s *source) bool { return s.SourceKey == c.Source })
	if at < 0 {
		return ""
	}
	own := seen[at]
	for _, s := range req.Subscriptions {
		if slices.Contains(c.Subscriptions, s.Name) && s.Source() == c.Source {
			return "" // it was requested
		}
	}
	var others []string
	why := ""
	for _, s := range seen {
		if s == own || s.Err != nil || s.pkg(c.Package) == nil {
			continue
		}
		others = append(others, fmt.Sprintf("%s (priority %d)", s.SourceKey, s.Priority))
		why = cmp.Or(why, preference(req, own, s))
	}
	if others == nil {
		return ""
	}
	return fmt.Sprintf("%s is taken from catalog %s (priority %d), %s; package %s is also in %s", c.Name, c.Source, own.Priority, why, c.Package, words.List(others, "and", 3))
}

// preference says why a catalog comes before another.
func preference(req *Request, own, other *source) string {
	switch {
	case own.Priority > other.Priority:
		return "because its priority is higher"
	case own.Priority < other.Priority:
		return "because what the one of higher priority offers cannot be chosen"
	case own.Namespace == req.Namespace && other.Namespace != req.Namespace:
		return "because at equal priority a catalog of the namespace itself comes first"
	case own.Compare(other.SourceKey) < 0:
		return "because at equal priority the order of their names decides"
	}
	return "because what the one before it offers cannot be chosen"
}

// otherProviders says who else could have met a requirement; "" if nobody could.
func otherProviders(ctx context.Context, seen []*source, res *Resolution, c *Choice, r Requirement) (string, error) {
	n := needOf(seen, res, r)
	if n == nil {
		return "", nil // an installed operator has it
	}
	var others []string
	for _, s := range seen {
		if s.Err != nil {
			continue
		}
		m, err := s.match(ctx, n)
		if err != nil {
			return "", err
		}
		for _, e := range m.entries {
			if text := fmt.Sprintf("package %s of catalog %s", e.pkg, s.SourceKey); e.pkg != c.Package && !slices.Contains(others, text) {
				others = append(others, text)
			}
		}
	}
	if others == nil {
		return "", nil
	}
	return fmt.Sprintf("%s, which %s requires, is also met by %s", r.Text, r.Operator, words.List(others, "and", 3)), nil
}

// needOf finds a requirement of an operator that was chosen, too; nil if it was
// not.
func needOf(seen []*source, res *Resolution, r Requirement) *need {
	at := slices.IndexFunc(res.Chosen, func(c Choice) bool { return c.Name == r.Operator })
	if at < 0 {
		return nil
	}
	by := &res.Chosen[at]
	for _, s := range seen {
		if s.SourceKey != by.Source {
			continue
		}
		for _, ch := range s.pkg(by.Package).channels {
			if e := ch.named(by.Name); e != nil && ch.name == by.Channel {
				needs := e.facts().needs
				if i := slices.IndexFunc(needs, func(n *need) bool { return n.String() == r.Text }); i >= 0 {
					return needs[i]
				}
			}
		}
	}
	return nil
}
