package e2e_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// told returns everything that the namespace reports about its state; it is
// never empty.
func (e *episode) told() string {
	e.Helper()
	all := []string{"what the namespace reports:"}
	add := func(o *unstructured.Unstructured, fields ...string) {
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range list {
			if c, ok := c.(map[string]any); ok {
				all = append(all, fmt.Sprintf("%s %s: %v=%v %v: %v", o.GetKind(), o.GetName(), c["type"], c["status"], c["reason"], c["message"]))
			}
		}
		for _, field := range fields {
			text, _, _ := unstructured.NestedString(o.Object, "status", field)
			all = append(all, o.GetKind()+" "+o.GetName()+": "+text)
		}
	}
	for _, o := range e.list("v1alpha1", "Subscription") {
		add(&o)
	}
	for _, o := range e.list("v1alpha1", "InstallPlan") {
		add(&o, "phase")
	}
	for _, o := range e.list("v1alpha1", "ClusterServiceVersion") {
		unstructured.RemoveNestedField(o.Object, "status", "conditions")
		add(&o, "phase", "reason", "message")
	}
	var events eventsv1.EventList
	if err := e.admin.List(e.Context(), &events, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	for _, v := range events.Items {
		if v.ReportingController != "" && strings.Contains(v.ReportingController, "fairlead") {
			all = append(all, fmt.Sprintf("event %s %s: %s", v.Regarding.Name, v.Reason, v.Note))
		}
	}
	return strings.Join(all, "\n")
}

// objects returns the names of all objects of the cluster, except events, leases,
// plans, the roles of operator groups, and the operator's own objects.
func (e *episode) objects() map[string]bool {
	e.Helper()
	c, err := metadata.NewForConfig(e.Config())
	if err != nil {
		e.Fatal(err)
	}
	groups, err := e.client().Discovery().ServerPreferredResources()
	if err != nil {
		e.Log(err) // an API service that is being removed
	}
	all := map[string]bool{}
	for _, g := range groups {
		gv, err := schema.ParseGroupVersion(g.GroupVersion)
		if err != nil {
			e.Fatal(err)
		}
		for _, r := range g.APIResources {
			switch {
			case !slices.Contains(r.Verbs, "list"), r.Name == "events", r.Name == "leases", r.Name == "installplans":
				continue
			}
			list, err := c.Resource(gv.WithResource(r.Name)).List(e.Context(), metav1.ListOptions{})
			if err != nil {
				continue // it is gone meanwhile
			}
			for _, o := range list.Items {
				if o.Namespace != operator.Namespace && !strings.HasPrefix(o.Name, "olm.og.") {
					all[strings.TrimSpace(gv.Group+"/"+r.Name+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))] = true
				}
			}
		}
	}
	return all
}
