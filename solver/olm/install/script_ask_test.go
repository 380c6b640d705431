package install_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// ask does what users ask before they do something.
func (s *script) ask(c *golden.Command) bool {
	switch c.Name {
	case "preview":
		p, err := s.backend.World(s.ns).Preview(c.Args[0].Key)
		if err != nil {
			fmt.Fprintln(&s.out, "error"+s.words.Data("Error", err.Error()))
			return true
		}
		s.words.Data("Preview", p.String())
		for _, o := range p.Operators {
			line, _ := json.Marshal(o)
			fmt.Fprintf(&s.out, "%s\n", line)
		}
	case "adopt":
		channel := ""
		if len(c.Args) > 1 {
			channel = c.Args[1].Key
		}
		a, err := s.resolver.Adopt(s.t.Context(), s.backend.World(s.ns).Request(), c.Args[0].Key, channel)
		if err != nil {
			fmt.Fprintln(&s.out, "error"+s.words.Data("Error", err.Error()))
			return true
		}
		spec := a.Subscription.Spec
		fmt.Fprintf(&s.out, "subscription %s to %s/%s of %s starting at %s, %s; next is %s\n", a.Subscription.Name, spec.Package, spec.Channel, spec.Source, spec.StartingCSV, spec.InstallPlanApproval, a.Next)
		s.edit(func(w *install.World) {
			w.Subscriptions = append(w.Subscriptions, install.Subscription{Subscription: a.Subscription})
		})
	default:
		return false
	}
	return true
}

// approve approves a plan, or a part of it.
func (s *script) approve(c *golden.Command) {
	var part []string
	for _, a := range c.Args[1:] {
		part = append(part, a.Key)
	}
	s.edit(func(w *install.World) {
		for i := range w.Plans {
			switch p := &w.Plans[i]; {
			case p.Name != c.Args[0].Key:
			case part != nil:
				p.Annotations = map[string]string{install.ApproveAnnotation: strings.Join(part, ", ")}
			default:
				p.Spec.Approved = true
			}
		}
	})
}
