package diagnosis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// misaimed adds the services that lead nowhere because a name in them is wrong: that of a port, or a label of
// their selector that a workload has almost.
func (b *builder) misaimed() {
	for i := range b.net.services {
		s := &b.net.services[i]
		if len(s.Spec.Selector) == 0 || s.DeletionTimestamp != nil || s.Spec.Type == "ExternalName" || b.have[ID("Service", s.Namespace, s.Name)] {
			continue
		}
		x := Node{Kind: "Service", Namespace: s.Namespace, Name: s.Name, State: Faulty, Reason: Misaimed, Since: s.CreationTimestamp, Sure: Derived, Owner: "owner of the service"}
		if b.wrongPort(s, &x) || b.misspelt(s, &x) {
			b.add(x)
		}
	}
}

// wrongPort tells of a service whose target port none of its pods has.
func (b *builder) wrongPort(s *snapshot.Service, x *Node) bool {
	pods := b.selected(s)
	if len(pods) == 0 {
		return false
	}
	names := map[string]bool{}
	for _, p := range pods {
		for i := range p.Spec.Containers {
			for _, port := range p.Spec.Containers[i].Ports {
				names[port.Name] = true
			}
		}
		for i := range p.Spec.InitContainers {
			for _, port := range p.Spec.InitContainers[i].Ports {
				names[port.Name] = true
			}
		}
	}
	delete(names, "")
	for _, port := range s.Spec.Ports {
		if _, err := strconv.Atoi(port.TargetPort); err == nil || port.TargetPort == "" || names[port.TargetPort] {
			continue
		}
		x.Says = fmt.Sprintf("service %s leads to port %s, which its pods do not have", s.ObjectMeta.String(), port.TargetPort)
		if have := slices.Sorted(maps.Keys(names)); len(have) > 0 {
			x.Says += " (they have " + words.List(have, "and", 4) + ")"
		}
		x.do, x.command = "correct its targetPort, or name the port in the pods", shell.Command("kubectl -n %s edit service %s", s.Namespace, s.Name)
		return true
	}
	return false
}

// misspelt tells of a service that selects nothing, and that would select the pods of a workload if one label
// were spelt as there.
func (b *builder) misspelt(s *snapshot.Service, x *Node) bool {
	if b.pods == nil || b.net.covers == nil || !b.net.covers("Pod", s.Namespace) || len(b.selected(s)) > 0 {
		return false
	}
	says := ""
	for kind, list := range b.workloadLists() {
		for i := range list {
			d := &list[i]
			if d.Namespace != s.Namespace {
				continue
			}
			key, near := almost(s.Spec.Selector, d.Spec.Template.Labels)
			switch {
			case key == "" && near:
				return false // it selects the pods that are to come
			case near && says == "":
				says = fmt.Sprintf("service %s selects no pod: its selector has %s=%s, and %s %s has %s=%s", s.ObjectMeta.String(), key, s.Spec.Selector[key], strings.ToLower(kind), d.ObjectMeta.String(), key, d.Spec.Template.Labels[key])
			}
		}
	}
	x.Says = says
	x.do, x.command = "correct its selector", shell.Command("kubectl -n %s edit service %s", s.Namespace, s.Name)
	return says != ""
}

// almost reports whether labels have all of a selector but for the spelling of one value, whose key it returns;
// the key is empty if they have all.
func almost(selector, labels map[string]string) (key string, near bool) {
	for k, v := range selector {
		is, has := labels[k]
		switch {
		case has && is == v:
		case !has, key != "", words.Nearest(v, []string{is}) == "":
			return "", false
		default:
			key = k
		}
	}
	return key, true
}
