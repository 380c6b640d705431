package install_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// Heal implements fairlead.Healer. All is well in the end, plans are approved, and those
// that have failed are deleted.
func (p *play) Heal(string) {
	if !p.healed {
		p.healed, p.may, p.strike, p.published = true, true, "", versions-1
		clear(p.health)
		p.edit(func(w *install.World) {
			w.Conditions = nil
			w.Access = everything()
			w.Groups[0].Spec.StaticProvidedAPIs = false
			for i := range w.Subscriptions {
				w.Subscriptions[i].Annotations = nil // what may not be removed stays
			}
		})
	}
	p.allow()
	p.approve()
	p.fix()
	p.migrate()
}

// Settled implements fairlead.Trial.
func (p *play) Settled(string) error {
	if len(p.last.Actions) > 0 || !p.last.Wake.IsZero() {
		return errors.New("it has not come to rest")
	}
	return p.atRest(&p.last)
}

func (p *play) atRest(d *install.Decision) error {
	w := p.backend.World(ns)
	for _, c := range w.CSVs {
		if c.Status.Phase != olm.PhaseSucceeded {
			p.fail("at rest, %s is %s", c.Name, c.Status.Phase)
		}
	}
	if slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Reason == install.ReasonUnsafeCRD }) {
		p.Reach("refused for a CRD at rest") // an update that skips the version which has both
		p.consequences(w)
		return p.wrong
	}
	if d.State.Plan != nil || d.State.Removal != nil {
		p.fail("at rest, something is under way: %+v", d.State)
	}
	p.consequences(w)
	res, err := p.resolvers[p.published].Resolve(context.Background(), w.Request())
	if err != nil {
		if len(d.Blocked) == 0 {
			p.fail("at rest and nothing blocked, but: %v", err)
		}
		p.Reach("unsatisfiable at rest")
		return p.wrong
	}
	if len(res.Chosen) > 0 {
		p.fail("at rest, but %s could be installed", res.Chosen[0].Name)
	}
	for _, s := range w.Subscriptions {
		if s.Status.InstalledCSV == "" || s.Status.InstalledCSV != s.Status.CurrentCSV || findCSV(w, s.Status.InstalledCSV) == nil {
			p.fail("at rest, subscription %s has %+v", s.Name, s.Status)
		}
	}
	return p.wrong
}

// consequences checks, at rest, what follows from the group and the
// subscriptions: no more, and no less.
func (p *play) consequences(w *install.World) {
	g := &w.Groups[0]
	other := slices.Contains(g.Status.Namespaces, "other") || slices.Contains(g.Status.Namespaces, "") && (w.Copies == nil || !w.Copies.Disabled)
	var provided []group.API
	copies, held := 0, false
	for i := range w.CSVs {
		c := &w.CSVs[i]
		op, err := c.Member()
		if err != nil {
			p.fail("%v", err)
			continue
		}
		provided = append(provided, op.Provided()...)
		held = held || strings.Contains(c.Annotations[olm.PropertiesAnnotation], `"4.18"`)
		for _, r := range op.ClusterRoles() {
			if !slices.ContainsFunc(w.Generated, func(o install.Object) bool { return o.Ref.Name == r.Name }) {
				p.fail("at rest, there is no cluster role %s", r.Name)
			}
		}
		if c.Annotations[group.NameAnnotation] != "g" || c.Annotations[group.TargetsAnnotation] != strings.Join(g.Status.Namespaces, ",") {
			p.fail("at rest, %s says of its group: %v", c.Name, c.Annotations)
		}
		p.configured(w, c)
	}
	for _, o := range w.Generated {
		if o.Ref.Kind == "ClusterServiceVersion" {
			if copies++; findCSV(w, o.Ref.Name) == nil || !other {
				p.fail("at rest, there is the copy %s", o.Ref)
			}
		}
	}
	if other && copies != len(w.CSVs) {
		p.fail("at rest, there are %d copies of %d CSVs", copies, len(w.CSVs))
	}
	if got, want := g.Annotations[group.ProvidedAPIsAnnotation], group.NewAPIs(provided...).String(); got != want {
		p.fail("at rest, the group lists %s, and its members provide %s", got, want)
	}
	for _, o := range w.Objects {
		if o.Owner != "" && findCSV(w, o.Owner) == nil {
			p.fail("at rest, %s is there, and its owner %s is not", o.Ref, o.Owner)
		}
	}
	if u := w.Upgradeable; u == nil || (u.Status == "False") != held {
		p.fail("at rest, the cluster is told %+v", u)
	}
}

// configured checks that an operator runs with the config of its subscription: of the
// first by name, where several have one.
func (p *play) configured(w *install.World, c *install.CSV) {
	by := ""
	for _, s := range w.Subscriptions {
		if s.Status.InstalledCSV == c.Name && s.Spec.Config != nil && (by == "" || s.Name < by) {
			by = s.Name
		}
	}
	if by == "" {
		return
	}
	want := fmt.Sprintf(`{"name":"LEVEL","value":"%d"}`, p.level[by])
	d := p.deployed[c.Name]
	if len(d.Deployments) != 1 || !strings.Contains(string(d.Deployments[0]), want) {
		p.fail("at rest, %s runs as %s, without %s", c.Name, d.Deployments, want)
	}
}

// conditions are those of a subscription that hold.
func (s *script) conditions(a install.UpdateSubscription) string {
	var all []string
	for _, c := range a.Status.Conditions {
		if c.Status == "True" {
			all = append(all, fmt.Sprintf("\n  %s: %s%s", c.Type, c.Reason, s.words.Data(c.Type+" "+c.Reason, c.Message)))
		}
	}
	return strings.Join(all, "")
}
