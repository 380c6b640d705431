package status_test

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/status"
)

// A subscription whose install plan waits for approval.
func ExampleUpdate() {
	sub := olm.Subscription{
		ObjectMeta: olm.ObjectMeta{Name: "shop", Namespace: "shops"},
		Spec:       olm.SubscriptionSpec{Package: "shop", Source: "example", SourceNamespace: "shops"},
		Status: olm.SubscriptionStatus{
			CurrentCSV: "shop.v2.0.0", InstalledCSV: "shop.v1.0.0",
			InstallPlanRef: &olm.PlanReference{Name: "install-abcde"},
		},
	}
	got := status.Update(&sub, &status.Facts{
		Catalogs: []olm.CatalogHealth{{Source: olm.SourceKey{Name: "example", Namespace: "shops"}, Healthy: true}},
		Plan:     &status.Plan{Phase: "RequiresApproval"},
		CSVs:     []string{"shop.v1.0.0"},
	}, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	fmt.Println(got.State)
	for _, c := range got.Conditions {
		fmt.Printf("%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	// Output:
	// UpgradePending
	// CatalogSourcesUnhealthy=False CatalogSourcesAdded: all available catalogs are healthy
	// InstallPlanPending=True RequiresApproval: install plan install-abcde waits for approval; set its spec.approved to true
}

// The reason distinguishes what may be retried from what waits for a change.
func ExampleUpdate_resolutionFailed() {
	var sub olm.Subscription
	got := status.Update(&sub, &status.Facts{
		Catalogs:   []olm.CatalogHealth{{Source: olm.SourceKey{Name: "example"}, Healthy: true}},
		Resolution: &status.Refusal{Reason: status.ReasonErrorPrevented, Message: "catalog example: connection refused"},
	}, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	for _, c := range got.Conditions {
		if c.Type == status.ResolutionFailed {
			fmt.Println(c.Status, c.Reason, c.Message)
		}
	}
	// Output:
	// True ErrorPreventedResolution catalog example: connection refused
}
