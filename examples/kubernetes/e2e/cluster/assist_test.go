//go:build unix

package cluster_test

import (
	"context"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

func clientFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// requests returns the selected requests.
func requests(t *testing.T, c *cluster.Cluster, filter cluster.Filter) []cluster.Request {
	t.Helper()
	got, err := c.Requests(filter)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// grant lets a group read the config maps of a namespace.
func grant(ctx context.Context, t *testing.T, admin kubernetes.Interface, namespace, group string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: group, Namespace: namespace}
	_, err := admin.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: meta,
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: group},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: group}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// eventually returns when check returns nil, and fails the test if that takes
// two minutes.
func eventually(ctx context.Context, t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
