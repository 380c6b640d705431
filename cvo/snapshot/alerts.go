package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/doc"
)

// special reads documents that are no objects of Kubernetes and yet say something about
// the cluster: the response of Prometheus to /api/v1/alerts or /api/v1/rules, and what etcdctl
// said about its members.
func (f *file) special(d *doc.Document) bool {
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   *struct {
			Alerts []cvo.Alert `json:"alerts"`
			Groups []struct {
				Rules []struct {
					Alerts []cvo.Alert `json:"alerts"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"data"`
	}
	if _, ok := d.Field(d.Root(), "data"); !ok && !f.hint.alerts {
		return false
	}
	err := json.Unmarshal(d.JSON, &answer)
	where := f.position(d, 0)
	none := answer.Data == nil || answer.Data.Alerts == nil && answer.Data.Groups == nil
	switch {
	case !f.hint.alerts && (err != nil || none):
		return false
	case err != nil:
		f.unalerted(where, err.Error())
		return true
	case answer.Status == "error":
		f.unalerted(where, fmt.Sprintf("Prometheus answered with an error, %q; query it again", answer.Error))
		return true
	case none:
		f.unalerted(where, "it contains neither data.alerts nor data.groups; save the response of Prometheus to /api/v1/alerts")
		return true
	}
	all := answer.Data.Alerts
	for _, g := range answer.Data.Groups {
		for _, rule := range g.Rules {
			all = append(all, rule.Alerts...)
		}
	}
	f.s.Alerts.Scope.All = true
	for _, a := range all {
		f.alert(a, Ref{Kind: "Alert", Name: a.Labels["alertname"], Namespace: a.Labels["namespace"], Where: where})
	}
	return true
}

// unalerted records that the alerts could not be read.
func (f *file) unalerted(where Position, why string) {
	f.warn(Warning{Where: where, Problem: why, Unread: true})
	f.gap(&f.s.Alerts, Gap{Where: where, Why: why})
}

// alert adds an alert once.
func (f *file) alert(a cvo.Alert, r Ref) {
	if !slices.ContainsFunc(f.s.Alerts.Items, func(b cvo.Alert) bool {
		return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && a.ActiveAt.Equal(b.ActiveAt)
	}) {
		f.s.Alerts.Items, f.s.Alerts.Refs = append(f.s.Alerts.Items, a), append(f.s.Alerts.Refs, r)
	}
}

// plain reads the elements of a list that have no kind: members of etcd, and alerts.
func (f *file) plain(d *doc.Document, text []byte, base int) bool {
	var x struct {
		Endpoint *string           `json:"endpoint"`
		Health   *bool             `json:"health"`
		Labels   map[string]string `json:"labels"`
		Error    string            `json:"error"`
	}
	if json.Unmarshal(text, &x) != nil {
		return false
	}
	switch {
	case x.Endpoint != nil && x.Health != nil:
		f.s.Etcd.Scope.All = true
		f.s.Etcd.Items = append(f.s.Etcd.Items, EtcdMember{*x.Endpoint, *x.Health, x.Error})
		f.s.Etcd.Refs = append(f.s.Etcd.Refs, Ref{Kind: "Endpoint", Name: *x.Endpoint, Where: f.position(d, base)})
		return true
	case x.Labels["alertname"] != "":
		var a cvo.Alert
		if json.Unmarshal(text, &a) != nil {
			return false
		}
		f.s.Alerts.Scope.All = true
		f.alert(a, Ref{Kind: "Alert", Name: a.Labels["alertname"], Namespace: a.Labels["namespace"], Where: f.position(d, base)})
		return true
	}
	return false
}

// status reads what the API server answers instead of objects.
func (f *file) status(d *doc.Document) {
	var answer struct {
		Message, Reason string
		Details         struct{ Kind string }
	}
	where := f.position(d, 0)
	if json.Unmarshal(d.JSON, &answer) != nil || answer.Message == "" {
		f.skip(d, 0)
		return
	}
	resource, namespace := answer.Details.Kind, ""
	if m := refusal.FindStringSubmatch(answer.Message); m != nil {
		resource, namespace = m[1], m[2]
	}
	f.refused(where, "the API server answered: "+answer.Message, resource, namespace)
}

// watched reads an event of a watch, as of kubectl get --output-watch-events: the object is inside.
func (f *file) watched(d *doc.Document) bool {
	kind, _ := d.Field(d.Root(), "type")
	is, _ := d.Text(kind)
	n, ok := d.Field(d.Root(), "object")
	if !ok || n.Kind != '{' || string(is) != "ADDED" && string(is) != "MODIFIED" {
		return false
	}
	f.objects++
	h := headOf(&d.Outline, d.Children(n))
	if l := f.object(d, d.Value(n), n.Start, h, ""); l != nil {
		f.lone = append(f.lone, loneObject{l, key(h.namespace, h.name)})
	}
	return true
}
