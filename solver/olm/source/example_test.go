package source_test

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/solver/olm/source"
)

// A catalog whose image follows the version of the cluster.
func ExampleCatalogSource_Image() {
	c := source.CatalogSource{
		ObjectMeta: source.ObjectMeta{Name: "example", Namespace: "shops", Annotations: map[string]string{
			source.ImageTemplateAnnotation: "quay.io/example/catalog:v{kube_major_version}.{kube_minor_version}",
		}},
		Spec: source.Spec{SourceType: source.TypeGRPC},
	}
	fmt.Println(c.Image("v1.32.5"))
	_, _, err := c.Image("")
	fmt.Println(err)
	// Output:
	// quay.io/example/catalog:v1.32 FromTemplate <nil>
	// catalog source shops/example: template "quay.io/example/catalog:v{kube_major_version}.{kube_minor_version}" gives no image: {kube_major_version} is not known, since the cluster's version is ""; correct the annotation olm.catalogImageTemplate, or set spec.image to fall back to
}

// When the registry is polled next.
func ExampleCatalogSource_Poll() {
	c := source.CatalogSource{
		Spec: source.Spec{
			SourceType: source.TypeGRPC, Image: "quay.io/example/catalog:v1",
			UpdateStrategy: &source.UpdateStrategy{RegistryPoll: &source.RegistryPoll{Interval: "30m"}},
		},
		Status: source.Status{LatestImageRegistryPoll: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
	}
	p := c.Poll(time.Date(2026, 5, 1, 12, 10, 0, 0, time.UTC))
	fmt.Println(p.Due, p.Next)
	// Output:
	// false 2026-05-01 12:30:00 +0000 UTC
}
