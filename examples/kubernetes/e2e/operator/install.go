package operator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/config"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace and Account name the operator's service account.
const (
	Namespace = "fairlead"
	Account   = "operator"
)

// User is the name of that account in the audit log.
const User = "system:serviceaccount:" + Namespace + ":" + Account

// Install applies manifests of package config as the admin: operator.yaml
// without its Deployment, and the given files. ClusterRoles among them are bound
// to the operator's service account; CRDs are served when it returns.
func Install(t testing.TB, c *cluster.Cluster, files ...string) {
	t.Helper()
	admin, err := client.New(c.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append([]string{"operator.yaml"}, files...) {
		data, err := fs.ReadFile(config.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := Decode(data)
		if err != nil {
			t.Fatalf("config/%s: %v", file, err)
		}
		for _, o := range objects {
			if o.GetKind() == "Deployment" {
				continue // the test takes the place of the kubelet, and runs the program itself
			}
			Apply(t, admin, o)
			switch o.GetKind() {
			case "ClusterRole":
				bind(t, admin, o.GetName())
			case "CustomResourceDefinition":
				established(t, admin, o)
			}
		}
	}
}

// Decode decodes the documents of a YAML file.
func Decode(data []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(out)+1, err)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// Apply applies an object with the field manager "e2e".
func Apply(t testing.TB, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("e2e"), client.ForceOwnership)
	if err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

func bind(t testing.TB, c client.Client, role string) {
	t.Helper()
	err := c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: Account}},
	})
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatalf("ClusterRoleBinding %s: %v", role, err)
	}
}

func established(t testing.TB, c client.Client, definition *unstructured.Unstructured) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); err != nil {
			t.Fatal(err)
		}
		conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
				return
			}
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s is not served after a minute: %v", definition.GetName(), conditions)
		}
	}
}
