package clusterversion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRights(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Version: "v1", Kind: "Secret"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "config.openshift.io", Version: "v1", Kind: "ClusterOperator"}, {Group: "batch", Version: "v1", Kind: "Job"},
	} {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	var all []*payload.Manifest
	for _, text := range []string{
		configMap,
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: oxen.example.com}, spec: {group: example.com, names: {kind: Ox, plural: oxen}}}`,
		`{apiVersion: example.com/v1, kind: Ox, metadata: {name: a}}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a}}`,
		`{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: a}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {release.openshift.io/create-only: "true"}}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: a, annotations: {release.openshift.io/delete: "true"}}}`,
	} {
		all = append(all, manifest(t, text))
	}
	rules, err := clusterversion.Rights(all, mapper)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, fmt.Sprintf("%s/%s %s", r.APIGroups[0], r.Resources[0], strings.Join(r.Verbs, ",")))
	}
	want := `/configmaps create,patch
/secrets create
apiextensions.k8s.io/customresourcedefinitions create,patch
batch/jobs delete,get
example.com/oxen create,patch
rbac.authorization.k8s.io/clusterroles bind
rbac.authorization.k8s.io/rolebindings create,patch
rbac.authorization.k8s.io/roles bind,create,escalate,patch`
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s", g)
	}
	_, err = clusterversion.Rights([]*payload.Manifest{manifest(t, `{apiVersion: v1, kind: Nothing, metadata: {name: a}}`)}, mapper)
	if err == nil || !strings.Contains(err.Error(), `nothing "a"`) || !strings.Contains(err.Error(), "0000_50_x_a.yaml:1") {
		t.Errorf("%v", err)
	}
}
