package diagnosis

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// network is what leads to pods. Nil lists are not known.
type network struct {
	services  []snapshot.Service
	ingresses []snapshot.Ingress
	routes    []snapshot.Route
	hooks     []hooks
	classes   []snapshot.Object                 // IngressClasses; nil: not known
	at        map[objectKey]int                 // by service, its position
	backed    map[objectKey]int                 // by service, how many of its addresses are ready, as its endpoints say
	covers    func(kind, namespace string) bool // whether all objects of a kind in a namespace are known
}

// hooks are the webhooks of a configuration.
type hooks struct {
	kind string
	of   *snapshot.WebhookConfiguration
}

// networkOf returns what a snapshot knows of it.
func networkOf(s *snapshot.Snapshot) network {
	n := network{services: s.Services.Items, ingresses: s.Ingresses.Items, routes: s.Routes.Items, at: map[objectKey]int{}, backed: map[objectKey]int{}}
	for i := range n.services {
		n.at[objectKey{n.services[i].Namespace, n.services[i].Name}] = i
	}
	for i := range s.Endpoints.Items {
		e := &s.Endpoints.Items[i]
		ready := 0
		for k := range e.Subsets {
			ready += len(e.Subsets[k].Addresses)
		}
		n.backed[objectKey{e.Namespace, e.Name}] = ready
	}
	for i := range s.EndpointSlices.Items {
		e := &s.EndpointSlices.Items[i]
		ready := 0
		for k := range e.Endpoints {
			if is := e.Endpoints[k].Conditions.Ready; is == nil || *is {
				ready++
			}
		}
		n.backed[objectKey{e.Namespace, e.Labels[snapshot.ServiceLabel]}] += ready
	}
	for i := range s.ValidatingWebhooks.Items {
		n.hooks = append(n.hooks, hooks{"ValidatingWebhookConfiguration", &s.ValidatingWebhooks.Items[i]})
	}
	for i := range s.MutatingWebhooks.Items {
		n.hooks = append(n.hooks, hooks{"MutatingWebhookConfiguration", &s.MutatingWebhooks.Items[i]})
	}
	if l := s.Others["IngressClass.networking.k8s.io"]; l != nil && l.Scope.Whole() {
		n.classes = append([]snapshot.Object{}, l.Items...)
	}
	n.covers = func(kind, namespace string) bool {
		if kind == "Pod" {
			return s.Pods.Scope.Covers(namespace)
		}
		return s.Services.Scope.Covers(namespace)
	}
	return n
}

// serving adds the ways into the cluster, webhooks and APIs behind which nobody answers.
func (b *builder) serving() {
	b.loadBalancers()
	for i := range b.net.ingresses {
		b.ingress(&b.net.ingresses[i])
	}
	for i := range b.net.routes {
		b.route(&b.net.routes[i])
	}
	for _, h := range b.net.hooks {
		b.webhooks(h)
	}
	for i := range b.apis {
		if of := b.apis[i].Spec.Service; of != nil && b.have[ID("APIService", "", b.apis[i].Name)] {
			b.behind(ID("APIService", "", b.apis[i].Name), of.Namespace, of.Name)
		}
	}
}

// loadBalancers adds the services that wait for a load balancer.
func (b *builder) loadBalancers() {
	for i := range b.net.services {
		s := &b.net.services[i]
		if s.Spec.Type != "LoadBalancer" || len(s.Status.LoadBalancer.Ingress) > 0 || s.DeletionTimestamp != nil || b.age(s.CreationTimestamp) < startTime && !s.CreationTimestamp.IsZero() {
			continue
		}
		id := ID("Service", s.Namespace, s.Name)
		x := Node{Kind: "Service", Namespace: s.Namespace, Name: s.Name, State: Faulty, Reason: NoLoadBalancer, Since: s.CreationTimestamp, Sure: Seen, Owner: "cloud controller manager"}
		x.Says = "service " + s.ObjectMeta.String() + " has no load balancer"
		x.do, x.command = "see whether anything makes load balancers here: a cloud controller manager, or a controller such as MetalLB", "kubectl get pods -A -o wide"
		if class := s.Spec.LoadBalancerClass; class != "" {
			x.Says += " of class " + class
		}
		if all := b.said[id]; len(all) > 0 {
			x.Quote = all[0]
			if f := failure.Recognise(&failure.Sign{Kind: "Service", Namespace: s.Namespace, Name: s.Name, Message: x.Quote}); f != nil {
				x.Reason, x.do = f.Code, f.Do
			}
			if said := failure.Telling(x.Quote, 160); said != "" {
				x.Says += ": " + said
			}
			x.command = shell.Command("kubectl -n %s describe service %s", s.Namespace, s.Name)
		}
		for k := range b.g.Nodes {
			n := &b.g.Nodes[k]
			if n.Kind == "Pod" && n.State == Faulty && slices.ContainsFunc([]string{"cloud-controller-manager", "metallb", "kube-vip"}, func(who string) bool { return strings.Contains(n.Name, who) || strings.Contains(n.Namespace, who) }) {
				b.wait(id, n.ID, "Provides", Assumed)
				x.State = Waiting
			}
		}
		b.add(x)
	}
}

// ingress adds an Ingress behind which nobody answers, or of a class that does not exist.
func (b *builder) ingress(g *snapshot.Ingress) {
	var names []string
	see := func(k *snapshot.Backend) {
		if k != nil && k.Service != nil && k.Service.Name != "" && !slices.Contains(names, k.Service.Name) {
			names = append(names, k.Service.Name)
		}
	}
	see(g.Spec.DefaultBackend)
	for i := range g.Spec.Rules {
		if http := g.Spec.Rules[i].HTTP; http != nil {
			for k := range http.Paths {
				see(&http.Paths[k].Backend)
			}
		}
	}
	x := Node{Kind: "Ingress", Namespace: g.Namespace, Name: g.Name, State: Waiting, Reason: NoBackend, Sure: Derived, Owner: "owner of the Ingress"}
	what := "ingress " + g.ObjectMeta.String()
	if class := g.Spec.ClassName; class != nil && b.net.classes != nil && !slices.ContainsFunc(b.net.classes, func(o snapshot.Object) bool { return o.Name == *class }) {
		x.State, x.Reason, x.Says = Faulty, NoClass, what+" is of class "+*class+", which does not exist"
		var have []string
		for i := range b.net.classes {
			have = append(have, b.net.classes[i].Name)
		}
		x.do, x.command = "correct its ingressClassName"+listed(have)+", or install the controller of that class", "kubectl get ingressclasses"
		b.add(x)
		return
	}
	b.leads(&x, what, names)
}

// route adds a Route that no router admits, or behind which nobody answers.
func (b *builder) route(r *snapshot.Route) {
	what := "route " + r.ObjectMeta.String()
	x := Node{Kind: "Route", Namespace: r.Namespace, Name: r.Name, State: Waiting, Reason: NoBackend, Sure: Derived, Owner: "owner of the Route"}
	for i := range r.Status.Ingress {
		c := fairlead.FindCondition(r.Status.Ingress[i].Conditions, "Admitted")
		if c != nil && c.Status == fairlead.ConditionFalse {
			x.State, x.Reason, x.Says, x.Quote, x.Since, x.Sure = Faulty, NotAdmitted, what+" is not admitted by router "+r.Status.Ingress[i].RouterName, c.Message, c.LastTransitionTime, Seen
			if said := failure.Telling(c.Message, 140); said != "" {
				x.Says += ": " + said
			}
			x.do, x.command = "correct what the router names", shell.Command("oc -n %s describe route %s", r.Namespace, r.Name)
			b.add(x)
			return
		}
	}
	if k := r.Spec.To.Kind; k == "" || k == "Service" {
		b.leads(&x, what, []string{r.Spec.To.Name})
	}
}

// leads adds something that leads to services, if nobody answers for one of them.
func (b *builder) leads(x *Node, what string, services []string) {
	id := ID(x.Kind, x.Namespace, x.Name)
	var empty []string
	for _, name := range services {
		if name != "" && b.behind(id, x.Namespace, name) {
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 {
		x.Says = what + " leads to service " + words.List(empty, "and", 3) + ", for which nobody answers"
		b.add(*x)
	}
}

// webhooks adds a configuration whose webhooks refuse what they are asked about because nobody answers.
func (b *builder) webhooks(h hooks) {
	id := ID(h.kind, "", h.of.Name)
	x := Node{Kind: h.kind, Name: h.of.Name, State: Waiting, Reason: WebhookClosed, Sure: Derived, Owner: "administrator"}
	for i := range h.of.Webhooks {
		w := &h.of.Webhooks[i]
		of := w.ClientConfig.Service
		if w.FailurePolicy == "Ignore" || of == nil || !b.behind(id, of.Namespace, of.Name) {
			continue
		}
		var what []string
		for k := range w.Rules {
			for _, r := range w.Rules[k].Resources {
				if !slices.Contains(what, r) {
					what = append(what, r)
				}
			}
		}
		if x.Says == "" {
			x.Says = "webhook " + w.Name + " of " + h.kind + " " + h.of.Name + " refuses all changes of " + words.First(what, 3) + ", because nobody answers for its service " + of.Namespace + "/" + of.Name
		}
	}
	if x.Says != "" {
		b.add(x)
	}
}

// behind reports whether it is known that nobody answers for a service; then it adds the service, and
// what waits for it waits for it.
func (b *builder) behind(id, namespace, name string) bool {
	service := ID("Service", namespace, name)
	if !b.have[service] && !b.emptyService(namespace, name) {
		return false
	}
	b.wait(id, service, "LeadsTo", Derived)
	for k := range b.g.Nodes {
		if n := &b.g.Nodes[k]; n.ID == id {
			n.State = Waiting
		}
	}
	return true
}

// emptyService adds a service for which nobody answers, if that is known.
func (b *builder) emptyService(namespace, name string) bool {
	k, is := b.net.at[objectKey{namespace, name}]
	full := namespace + "/" + name
	id := ID("Service", namespace, name)
	x := Node{Kind: "Service", Namespace: namespace, Name: name, State: Faulty, Reason: ServiceMissing, Sure: Derived, Owner: "owner of the service"}
	if !is {
		if b.net.covers == nil || !b.net.covers("Service", namespace) {
			return false
		}
		x.Says = "service " + full + " does not exist"
		x.do, x.command = "create it, or delete what leads to it", shell.Command("kubectl -n %s get services", namespace)
		b.add(x)
		return true
	}
	s := &b.net.services[k]
	if len(s.Spec.Selector) == 0 || s.Spec.Type == "ExternalName" {
		return false
	}
	ready, stated := b.net.backed[objectKey{namespace, name}]
	all := b.pods != nil && b.net.covers("Pod", namespace)
	if stated && ready > 0 || !stated && !all {
		return false
	}
	x.Reason = NoEndpoints
	x.do, x.command = "see which pods it selects", shell.Command("kubectl -n %s get endpoints %s", namespace, name)
	found := b.selected(s)
	if slices.ContainsFunc(found, func(p *fairlead.Pod) bool { return p.Ready() && p.DeletionTimestamp == nil }) {
		return false
	}
	x.Says = "service " + full + " has no ready pod"
	for _, p := range found {
		if pod := ID("Pod", p.Namespace, p.Name); b.have[pod] {
			b.wait(id, pod, "Serves", Derived)
			x.State = Waiting
		}
	}
	if len(found) == 0 && all {
		b.selectsNone(s, &x)
	}
	b.add(x)
	return true
}

// selected returns the pods of a service that have not ended.
func (b *builder) selected(s *snapshot.Service) (pods []*fairlead.Pod) {
	for _, i := range b.podsOfNamespace(s.Namespace) {
		if p := &b.pods[i]; !p.Finished() && within(s.Spec.Selector, p.Labels) {
			pods = append(pods, p)
		}
	}
	return pods
}

// podsOfNamespace returns the positions of the pods of a namespace.
func (b *builder) podsOfNamespace(namespace string) []int {
	if b.podsIn == nil {
		b.podsIn = map[string][]int{}
		for i := range b.pods {
			b.podsIn[b.pods[i].Namespace] = append(b.podsIn[b.pods[i].Namespace], i)
		}
	}
	return b.podsIn[namespace]
}

// within reports whether labels have all of a selector.
func within(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// selectsNone says why a service selects no pod: its workload is scaled to none, or is in trouble, or
// nothing has its labels.
func (b *builder) selectsNone(s *snapshot.Service, x *Node) {
	id := ID("Service", s.Namespace, s.Name)
	for kind, list := range b.workloadLists() {
		for i := range list {
			d := &list[i]
			if d.Namespace != s.Namespace || !within(s.Spec.Selector, d.Spec.Template.Labels) {
				continue
			}
			if of := ID(kind, d.Namespace, d.Name); b.have[of] {
				b.wait(id, of, "Serves", Derived)
				x.State = Waiting
				return
			}
			if n := d.Spec.Replicas; n != nil && *n == 0 {
				x.Reason, x.Alike = ScaledToNone, kind+"/"+d.Name
				x.Says += ": " + strings.ToLower(kind) + " " + d.ObjectMeta.String() + " is scaled to none"
				x.do, x.command = "run at least one pod of it", shell.Command("kubectl -n %s scale %s %s --replicas=1", d.Namespace, strings.ToLower(kind), d.Name)
				return
			}
		}
	}
	var labels []string
	for key, value := range s.Spec.Selector {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	x.Says = "service " + s.ObjectMeta.String() + " selects no pod: none has the labels " + words.List(labels, "and", 4)
	x.do, x.command = "correct its selector, or the labels of the pods", shell.Command("kubectl -n %s get pods --show-labels", s.Namespace)
}

// workloadLists yields the workloads of each kind that keeps pods, in this order.
func (b *builder) workloadLists() func(func(string, []snapshot.Workload) bool) {
	return func(yield func(string, []snapshot.Workload) bool) {
		_ = yield("Deployment", b.apps.deployments) && yield("StatefulSet", b.apps.statefulSets) && yield("DaemonSet", b.apps.daemonSets)
	}
}
