package live_test

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A program that reports the progress of a cluster's update, and what blocks
// it.
func ExampleInspect() {
	c, err := client.New(ctrl.GetConfigOrDie(), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	report, err := live.Inspect(context.Background(), c, nil, time.Now()) // nil: alerts are unknown
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(report); err != nil {
		log.Fatal(err)
	}
}
