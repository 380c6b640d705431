package diagnosis

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/shell"
)

// alertLabels are the labels by which alerts name objects, with their kinds.
var alertLabels = []struct{ label, kind string }{
	{"pod", "Pod"}, {"poddisruptionbudget", "PodDisruptionBudget"}, {"persistentvolumeclaim", "PersistentVolumeClaim"}, {"horizontalpodautoscaler", "HorizontalPodAutoscaler"},
	{"deployment", "Deployment"}, {"statefulset", "StatefulSet"}, {"daemonset", "DaemonSet"}, {"job_name", "Job"}, {"node", "Node"}, {"name", "ClusterOperator"},
}

// alertsFire adds the alerts that fire and matter: with an edge to what is wrong with the object that
// they name, or as a fault of their own if they are critical and no engine says why they fire.
func (b *builder) alertsFire() {
	for i := range b.alerts {
		a := &b.alerts[i]
		matters, critical := a.Serious()
		if !matters {
			continue
		}
		name := a.Labels["alertname"]
		to, about := b.alertAbout(a)
		x := Node{
			Kind: "Alert", Namespace: a.Labels["namespace"], Name: name, State: Waiting, Reason: AlertFires, Since: a.ActiveAt, Sure: Seen, Owner: "administrator",
			Quote: cmp.Or(a.Annotations["description"], a.Annotations["message"]),
		}
		x.ID = ID(x.Kind, x.Namespace, name)
		if about != "" {
			x.ID += "#" + about
		}
		x.Says = "alert " + name + " fires: " + cmp.Or(failure.Telling(cmp.Or(a.Annotations["summary"], x.Quote), 120), a.Labels["severity"])
		switch {
		case to != "":
			b.wait(x.ID, to, "Reports", Seen)
		case len(b.before.From(x.ID)) > 0:
			x.State = Going // what explained it is over, and it ends after that
		case !critical:
			x.State = Going // it is told before an update, and nothing that is known waits for it
		default:
			x.State = Faulty
			x.do, x.command = alertHelp(a)
		}
		b.add(x)
	}
}

// alertAbout returns the ID of what is wrong with an object that an alert names, "" for nothing, and the
// names of all objects that it names, whatever is wrong with them.
func (b *builder) alertAbout(a *cvo.Alert) (to, about string) {
	var names []string
	for _, l := range alertLabels {
		name := a.Labels[l.label]
		if name == "" {
			continue
		}
		namespace := a.Labels["namespace"]
		if l.kind == "Node" || l.kind == "ClusterOperator" {
			namespace = ""
		}
		names = append(names, name)
		if id := ID(l.kind, namespace, name); to == "" && b.have[id] {
			to = id
		}
	}
	return to, strings.Join(names, ",")
}

// alertHelp is what to do about an alert that nothing explains.
func alertHelp(a *cvo.Alert) (do, command string) {
	name := a.Labels["alertname"]
	do = "look at what alert " + name + " measures"
	if book := cmp.Or(a.Annotations["runbook_url"], a.Annotations["runbook"]); strings.HasPrefix(book, "https://") {
		do = "follow the runbook of alert " + name + ", " + book
	}
	query := "ALERTS{alertname=" + strconv.Quote(name) + `,alertstate="firing"}`
	return do, shell.Command("oc -n openshift-monitoring exec -c prometheus prometheus-k8s-0 -- promtool query instant http://localhost:9090 %s", query)
}
