package readiness_test

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/readiness"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
)

// The check on its own: what to do with this cluster to update it to a release, or
// what blocks it. The cluster-version operator calls Run the same way.
func ExampleCheck() {
	client, err := dynamic.NewForConfig(ctrl.GetConfigOrDie())
	if err != nil {
		log.Fatal(err)
	}
	check := &readiness.Check{Policy: &plan.Policy{}, PauseWorkers: true}
	answer, err := check.Run(context.Background(), client, "4.18.3", "4.19.1")
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(answer); err != nil {
		log.Fatal(err)
	}
}
