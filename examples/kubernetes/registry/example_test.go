package registry_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

// A catalog is opened from a registry, and read as it would be from a directory.
func Example() {
	secret, err := os.ReadFile("/run/secrets/pull/.dockerconfigjson")
	if err != nil {
		log.Fatal(err)
	}
	keys, err := registry.PullSecrets(secret)
	if err != nil {
		log.Fatal(err)
	}
	client, err := registry.New(registry.Options{Cache: "/var/cache/images", Credentials: keys})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	files, err := client.Open(ctx, "registry.example/acme/shelf:v1")
	if err != nil {
		log.Fatal(err)
	}
	c, err := catalog.Open(ctx, files, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(files.(*registry.Image).Digest)
	for p := range c.Packages() {
		fmt.Println(p.Name())
	}
}
