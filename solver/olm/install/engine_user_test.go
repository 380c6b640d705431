package install_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// everything is the access of an account that may do everything.
func everything() scope.Access {
	rule := fairlead.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	a := scope.Access{Roles: make([]scope.Role, 1), Bindings: make([]scope.Binding, 1)}
	a.Roles[0].Name, a.Roles[0].Rules = "all", []fairlead.PolicyRule{rule}
	a.Bindings[0].RoleRef = scope.RoleRef{Kind: "ClusterRole", Name: "all"}
	a.Bindings[0].Subjects = []scope.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "scoped"}}
	return a
}

// stored draws the versions of a CRD that a package keeps through all of its
// own: one comes, and an old one may go.
func (p *play) stored(name string, served *[]int) string {
	if p.OneIn(4) {
		*served = (*served)[len(*served)-1:]
	}
	if p.OneIn(3) {
		*served = append(*served, (*served)[len(*served)-1]+1)
	}
	text := ""
	for _, v := range *served {
		text += fmt.Sprintf(",S%s/v%d", name, v)
	}
	return text
}

// user lets a user do one of the rarer things.
func (p *play) user() {
	switch p.IntN(9) {
	case 0:
		p.fix()
	case 1:
		p.migrate()
	case 2:
		p.configure()
	case 3:
		p.remove()
	case 4:
		p.regroup()
	case 5:
		p.lose()
	case 6:
		p.strike = []string{"", "CustomResourceDefinition", "ClusterServiceVersion"}[p.IntN(3)]
	default:
		p.may = !p.may
		p.edit(func(w *install.World) {
			if w.Access = (scope.Access{}); p.may {
				w.Access = everything()
			}
		})
		p.allow()
	}
}

// mayNow reports whether the group's account, if there is one, may do anything.
func (p *play) mayNow(w *install.World) bool {
	return p.may || w.Groups[0].Spec.ServiceAccountName == ""
}

// allow notes that the plans which are there may be carried out now.
func (p *play) allow() {
	if w := p.backend.World(ns); p.mayNow(w) {
		for _, x := range w.Plans {
			p.might[x.Name] = true
		}
	}
}

// migrate has all objects stored in the newest version of each CRD.
func (p *play) migrate() {
	newest := func(c *install.CRD) []string {
		served := c.Served()
		return served[len(served)-1:]
	}
	if !slices.ContainsFunc(p.backend.World(ns).CRDs, func(c install.CRD) bool { return !slices.Equal(c.Status.StoredVersions, newest(&c)) }) {
		return
	}
	p.edit(func(w *install.World) {
		for i := range w.CRDs {
			w.CRDs[i].Status.StoredVersions = newest(&w.CRDs[i])
		}
	})
}

func (p *play) configure() {
	p.edit(func(w *install.World) {
		if n := len(w.Subscriptions); n > 0 {
			s := &w.Subscriptions[p.IntN(n)]
			p.level[s.Name]++
			s.Spec.Config = &config.Config{Env: []config.EnvVar{{Name: "LEVEL", Value: fmt.Sprint(p.level[s.Name])}}}
		}
	})
}

func (p *play) remove() {
	kind := []string{install.RemovalUninstall, install.RemovalRefresh}[p.IntN(2)]
	p.edit(func(w *install.World) {
		if n := len(w.Subscriptions); n > 0 {
			s := &w.Subscriptions[p.IntN(n)]
			s.Annotations = map[string]string{install.RemovalAnnotation: kind}
		}
	})
}

// regroup changes the group, or makes it again: then it lists no APIs until its members are
// judged, and a static one never does.
func (p *play) regroup() {
	targets := [][]string{nil, {ns}, {ns, "other"}}[p.IntN(3)]
	disabled, static, again := p.OneIn(3), p.OneIn(3), p.OneIn(3)
	p.edit(func(w *install.World) {
		if again {
			w.Groups[0].Annotations = nil
		}
		w.Groups[0].Spec.TargetNamespaces, w.Groups[0].Spec.StaticProvidedAPIs = targets, static
		w.Copies = &group.CopyOptions{Disabled: disabled}
	})
}

// lose deletes a CRD behind the back of everyone.
func (p *play) lose() {
	p.edit(func(w *install.World) {
		if n := len(w.CRDs); n > 0 {
			i := p.IntN(n)
			p.lost[w.CRDs[i].Name] = true
			maps.DeleteFunc(p.applied, func(key string, _ int) bool { // a step on its way brings it back
				return strings.HasSuffix(key, " CustomResourceDefinition "+w.CRDs[i].Name)
			})
			w.CRDs = slices.Delete(w.CRDs, i, i+1)
		}
	})
}

// checkCRD: a CRD keeps every version in which objects may be stored.
func (p *play) checkCRD(w *install.World, a install.ApplyStep) {
	i := slices.IndexFunc(w.CRDs, func(c install.CRD) bool { return c.Name == a.Ref.Name })
	if p.lost[a.Ref.Name] {
		p.Reach("repaired")
		delete(p.lost, a.Ref.Name)
	}
	old := slices.IndexFunc(p.before.CRDs, func(c install.CRD) bool { return c.Name == a.Ref.Name })
	if old < 0 {
		return
	}
	for _, v := range p.before.CRDs[old].Status.StoredVersions {
		if !slices.Contains(w.CRDs[i].Served(), v) {
			p.fail("CRD %s has lost version %s, in which objects are stored", a.Ref.Name, v)
		}
	}
}

// checkUninstalled: an operator goes on request when its subscription has.
func (p *play) checkUninstalled(c *install.CSV) {
	p.Reach("uninstalled")
	for _, s := range p.before.Subscriptions {
		if s.Status.CurrentCSV == c.Name {
			p.fail("%s is taken away, and subscription %s is there", c.Name, s.Name)
		}
	}
}
