package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/fairlead/fairlead/lifecycle"
)

// A validating webhook of machines: the handler, for a server of your own.
func ExampleAdmit() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Request    struct {
				UID       string             `json:"uid"`
				Object    *lifecycle.Machine `json:"object"`
				OldObject *lifecycle.Machine `json:"oldObject"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response := map[string]any{"uid": review.Request.UID, "allowed": true}
		if err := lifecycle.Admit(review.Request.OldObject, review.Request.Object); err != nil {
			response["allowed"], response["status"] = false, map[string]any{"message": err.Error(), "code": http.StatusUnprocessableEntity}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": response}) // the server logs what a client did not take
	}
	answer := httptest.NewRecorder()
	handler(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
		"object": {"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "metadata": {"name": "worker-1"}, "spec": {"lifecycleHooks": {"preDrain": [{"name": "Wait"}]}}}}}`)))
	var out struct {
		Response struct {
			Allowed bool
			Status  struct{ Message string }
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
		fmt.Println(err)
	}
	fmt.Println(out.Response.Allowed)
	fmt.Println(out.Response.Status.Message)
	// Output:
	// false
	// spec.providerSpec: it is missing; without it no instance can be created
	// spec.lifecycleHooks.preDrain[0].owner: it is empty; name who removes the hook, as in clusteroperator/etcd
}
