package failure_test

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
)

func ExampleRecognise() {
	f := failure.Recognise(&failure.Sign{
		Kind: "ClusterOperator", Name: "monitoring", Type: "Degraded", Reason: "UpdatingFailed",
		Message: `creating Pod failed: failed calling webhook "pods.policy.example": Post "https://policy.shop.svc:443/mutate": no endpoints available for service "policy"`,
	})
	fmt.Println(f.Code)
	fmt.Println(f.Sentence)
	fmt.Println(f.Command)
	// Output:
	// WebhookWithoutEndpoints
	// a webhook cannot be called: its service shop/policy has no ready pod
	// kubectl -n shop get endpoints policy
}

func ExampleTelling() {
	message := "Progress is slow. SyncFailed: could not reconcile: lookup apps.example.com on 10.0.0.2:53: no such host"
	fmt.Println(failure.Telling(message, 80))
	fmt.Println(failure.Telling(message, 60))
	// Output:
	// could not reconcile: lookup apps.example.com on 10.0.0.2:53: no such host
	// lookup apps.example.com on 10.0.0.2:53: no such host
}
