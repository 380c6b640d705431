package diagnosis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// telling are the kinds beside pods and claims whose events say why something is missing.
var telling = []string{"StatefulSet", "DaemonSet", "Deployment", "ReplicaSet", "Job", "CronJob", "Service", "Ingress"}

// recent is how old an event may be.
const recent = 2 * time.Hour

// view returns the part of a snapshot that the engines are asked about.
func view(s *snapshot.Snapshot, now time.Time) *world {
	w := &world{
		now: now, version: s.Version(), operators: s.ClusterOperators.Known(), pools: s.Pools.Known(), alerts: s.Alerts.Known(),
		nodes: s.Nodes.Known(), pods: s.Pods.Known(), budgets: s.Budgets.Known(), machines: s.Machines.Known(), checks: s.HealthChecks.Known(),
		listed: s.DaemonSets.Scope.Whole(), namespaces: map[string]map[string]string{}, events: map[string][]string{}, said: map[string][]string{},
	}
	w.olm = operators.Of(s)
	w.olm.Now = now
	w.configs, w.gates = s.ConfigReleases(), s.AdminGates()
	for i := range s.DaemonSets.Items {
		w.daemonSets = append(w.daemonSets, s.DaemonSets.Items[i].ObjectMeta)
	}
	for i := range s.Namespaces.Items {
		w.namespaces[s.Namespaces.Items[i].Name] = s.Namespaces.Items[i].Labels
	}
	scales(w, "ReplicaSet", s.ReplicaSets.Items)
	scales(w, "StatefulSet", s.StatefulSets.Items)
	scales(w, "ReplicationController", s.Controllers.Items)
	w.partly = s.UpdateDump().Partly
	w.unseen = s.Partly("Pod", "PodDisruptionBudget", "Machine")
	w.storage = storage{claims: s.Claims.Items, claimed: s.Claims.Scope.Whole(), classes: s.StorageClasses.Known(), attachments: s.Attachments.Items, volumes: s.Volumes.Items, known: s.Storage(), events: map[string][]string{}}
	w.apis = s.APIServices.Items
	w.net, w.leases = networkOf(s), s.Leases.Items
	w.apps = apps{
		deployments: s.Deployments.Items, statefulSets: s.StatefulSets.Items, daemonSets: s.DaemonSets.Items,
		jobs: s.Jobs.Items, cronJobs: s.CronJobs.Items, autoscalers: s.Autoscalers.Items, quotas: s.Quotas.Items,
	}
	if l := s.Others["CertificateSigningRequest.certificates.k8s.io"]; l != nil {
		for i := range l.Items {
			if len(l.Items[i].Status.Conditions) == 0 {
				w.csrs = append(w.csrs, l.Items[i])
			}
		}
	}
	w.identify()
	w.notice(s)
	w.listen(s)
	return w
}

// identify gives pods without a UID one: in a dump of one moment, names are unique.
func (w *world) identify() {
	copied := false
	for i := range w.pods {
		if w.pods[i].UID != "" {
			continue
		}
		if !copied {
			w.pods, copied = slices.Clone(w.pods), true
		}
		w.pods[i].UID = w.pods[i].ObjectMeta.String()
	}
}

// scales adds how many pods controllers should have.
func scales(w *world, kind string, list []snapshot.Workload) {
	for i := range list {
		count := 1
		if n := list[i].Spec.Replicas; n != nil {
			count = *n
		}
		w.replicas = append(w.replicas, drain.Replicas{Namespace: list[i].Namespace, Kind: kind, Name: list[i].Name, Count: count})
	}
}

// ofClaims are the reasons of events that say why a claim has no volume, or not the size that it should have.
var ofClaims = []string{"ProvisioningFailed", "FailedBinding", "VolumeResizeFailed", "ExternalExpanding"}

// notice keeps recent events about pods and claims.
func (w *world) notice(s *snapshot.Snapshot) {
	order := make([]*snapshot.Event, 0, len(s.Events.Items))
	for i := range s.Events.Items {
		e := &s.Events.Items[i]
		pod := e.Type == "Warning" && e.Object().Kind == "Pod"
		claim := e.Object().Kind == "PersistentVolumeClaim" && slices.Contains(ofClaims, e.Reason)
		other := e.Type == "Warning" && slices.Contains(telling, e.Object().Kind)
		if (pod || claim || other) && w.now.Sub(e.Last()) < recent {
			order = append(order, e)
		}
	}
	slices.SortStableFunc(order, func(a, b *snapshot.Event) int { return b.Last().Compare(a.Last()) })
	for _, e := range order {
		of := e.Object().Namespace + "/" + e.Object().Name
		switch e.Object().Kind {
		case "Pod":
			w.events[of] = append(w.events[of], cmp.Or(e.Message, e.Note))
		case "PersistentVolumeClaim":
			w.storage.events[of] = append(w.storage.events[of], cmp.Or(e.Message, e.Note))
		default:
			id := ID(e.Object().Kind, e.Object().Namespace, e.Object().Name)
			w.said[id] = append(w.said[id], cmp.Or(e.Message, e.Note))
		}
	}
}

// listen keeps what other objects say about themselves.
func (w *world) listen(s *snapshot.Snapshot) {
	say := func(kind string, m *fairlead.ObjectMeta, c fairlead.Condition) {
		w.signs = append(w.signs, sign{failure.Sign{Kind: kind, Namespace: m.Namespace, Name: m.Name, Type: c.Type, Reason: c.Reason, Message: c.Message}, c.LastTransitionTime})
	}
	for i := range s.Namespaces.Items {
		n := &s.Namespaces.Items[i]
		var one fairlead.Condition // what holds its objects, and which they are
		for _, c := range n.Status.Conditions {
			switch {
			case n.DeletionTimestamp == nil || c.Status != fairlead.ConditionTrue:
			case c.Type == "NamespaceFinalizersRemaining":
				c.Message = strings.TrimSpace(c.Message + "\n" + one.Message)
				one = c
			case c.Type == "NamespaceContentRemaining" && one.Type != "":
				one.Message += "\n" + c.Message
			case c.Type == "NamespaceContentRemaining":
				one = c
			default:
				say("Namespace", &n.ObjectMeta, c)
			}
		}
		switch {
		case one.Type == "" && n.DeletionTimestamp != nil && len(n.Finalizers) > 0:
			w.held = append(w.held, n.ObjectMeta)
		case one.Type != "":
			say("Namespace", &n.ObjectMeta, one)
		}
	}
	for i := range s.APIServices.Items {
		a := &s.APIServices.Items[i]
		if c := fairlead.FindCondition(a.Status.Conditions, "Available"); c != nil && c.Status == fairlead.ConditionFalse {
			say("APIService", &a.ObjectMeta, *c)
		}
	}
	for i := range s.CRDs.Items {
		d := &s.CRDs.Items[i]
		if c := fairlead.FindCondition(d.Status.Conditions, "Terminating"); c != nil && c.Status == fairlead.ConditionTrue {
			say("CustomResourceDefinition", &d.ObjectMeta, *c)
		}
	}
	for _, kind := range [...]string{"Certificate.cert-manager.io", "Issuer.cert-manager.io", "ClusterIssuer.cert-manager.io"} {
		if l := s.Others[kind]; l != nil {
			for i := range l.Items {
				if c := fairlead.FindCondition(l.Items[i].Status.Conditions, "Ready"); c != nil && c.Status == fairlead.ConditionFalse {
					say(l.Refs[i].Kind, &l.Items[i].ObjectMeta, *c)
				}
			}
		}
	}
	failing := func(kind string, all []snapshot.Workload) {
		for i := range all {
			if c := fairlead.FindCondition(all[i].Status.Conditions, "ReplicaFailure"); c != nil && c.Status == fairlead.ConditionTrue {
				say(kind, &all[i].ObjectMeta, *c)
			}
		}
	}
	if failing("ReplicaSet", s.ReplicaSets.Items); len(s.ReplicaSets.Items) == 0 { // a Deployment repeats what its ReplicaSet says
		failing("Deployment", s.Deployments.Items)
	}
}
