package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

// registrySettings configures how images are read from registries.
type registrySettings struct {
	cache   string
	size    int64
	secret  string
	mirrors string
}

func (r *registrySettings) define(flags *flag.FlagSet) {
	flags.StringVar(&r.cache, "registry-cache", "", "`directory` for layers of images; empty means that no registry is used")
	flags.Int64Var(&r.size, "registry-cache-size", 0, "most `bytes` of layers to keep; 0 means 10 GiB")
	flags.StringVar(&r.secret, "registry-pull-secret", "", "`file` with the credentials, a .dockerconfigjson; empty means the configuration of docker or podman")
	flags.StringVar(&r.mirrors, "registry-mirrors", "", "`file` with ImageDigestMirrorSets and ImageTagMirrorSets, as \"oc get imagedigestmirrorset,imagetagmirrorset -o yaml\" prints them; empty means none")
}

// client returns a client, or nil if no registry is used.
func (r *registrySettings) client() (*registry.Client, error) {
	if r.cache == "" {
		if r.secret != "" || r.mirrors != "" {
			return nil, errors.New("-registry-pull-secret and -registry-mirrors need -registry-cache")
		}
		return nil, nil
	}
	keys := authn.Keychain(authn.DefaultKeychain)
	var mirrors []registry.Mirror
	if r.secret != "" {
		data, err := os.ReadFile(r.secret)
		if err == nil {
			keys, err = registry.PullSecrets(data)
		}
		if err != nil {
			return nil, fmt.Errorf("-registry-pull-secret: %w", err)
		}
	}
	if r.mirrors != "" {
		data, err := os.ReadFile(r.mirrors)
		if err == nil {
			mirrors, err = registry.ReadMirrors(data)
		}
		if err != nil {
			return nil, fmt.Errorf("-registry-mirrors: %s: %w", r.mirrors, err)
		}
	}
	return registry.New(registry.Options{Cache: r.cache, MaxCache: r.size, Credentials: keys, Mirrors: mirrors})
}
