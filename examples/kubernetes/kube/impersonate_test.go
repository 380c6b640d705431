package kube_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAccounts: each request is made in the name of the account that was named, and of no other, also
// when clients are used again; without a name there is no client.
func TestAccounts(t *testing.T) {
	var as []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		as = append(as, fmt.Sprint(r.Header.Values("Impersonate-User"), r.Header.Values("Impersonate-Group")))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"x"}}`)
	}))
	defer server.Close()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	to := &rest.Config{Host: server.URL}
	to.ContentType = "application/json"
	all := &kube.Accounts{Config: to, Options: client.Options{Scheme: scheme.Scheme, Mapper: mapper}}
	var want []string
	for _, account := range [][2]string{{"shop", "small"}, {"bank", "small"}, {"shop", "large"}, {"shop", "small"}, {"bank", "small"}} {
		c, err := all.As(account[0], account[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint([]string{"system:serviceaccount:" + account[0] + ":" + account[1]}, []string{}))
	}
	if !slices.Equal(as, want) {
		t.Errorf("requests as %q, want %q", as, want)
	}
	for _, account := range [][2]string{{"", "small"}, {"shop", ""}, {"", ""}} {
		if c, err := all.As(account[0], account[1]); err == nil || c != nil {
			t.Errorf("%q: a client: %v", account, err)
		}
	}
	if to.Impersonate.UserName != "" {
		t.Error("the configuration of the controller is changed")
	}
}
