package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/fairlead/fairlead/examples/kubernetes/outbound"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
	"github.com/fairlead/fairlead/examples/kubernetes/served"
)

// registrySettings configures how images are read from registries.
type registrySettings struct {
	cache   string
	size    int64
	secret  string
	mirrors string
	local   bool // the addresses of this machine may be dialled
}

func (r *registrySettings) define(flags *flag.FlagSet) {
	flags.StringVar(&r.cache, "registry-cache", "", "`directory` for layers of images; empty means that no registry is used")
	flags.Int64Var(&r.size, "registry-cache-size", 0, "most `bytes` of layers to keep; 0 means 10 GiB")
	flags.StringVar(&r.secret, "registry-pull-secret", "", "`file` with the credentials, a .dockerconfigjson; empty means the configuration of docker or podman")
	flags.BoolVar(&r.local, "catalogs-on-this-host", false, "also connect to loopback and link-local addresses for catalogs and images, which custom resources can name; for tests")
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
	opts := registry.Options{Cache: r.cache, MaxCache: r.size, Credentials: keys, Mirrors: mirrors}
	if !r.local {
		opts.Transport = outbound.Rules{}.Transport()
	}
	return registry.New(opts)
}

// tenants returns a client for the images that tenants name: with smaller limits, with no
// credentials, and for registries with public addresses only. It is nil if no registry is
// used.
func (r *registrySettings) tenants() (*registry.Client, error) {
	if r.cache == "" {
		return nil, nil
	}
	return registry.New(registry.Options{
		Cache: r.cache, MaxCache: r.size, Credentials: nobody{}, MaxImage: 512 << 20, MaxUnpacked: 1 << 30, MaxFiles: 128 << 20,
		Attempts: 2, Timeout: 2 * time.Minute, Transport: outbound.Rules{Local: r.local, Public: !r.local}.Transport(),
	})
}

// nobody has no credentials.
type nobody struct{}

// Resolve implements [authn.Keychain].
func (nobody) Resolve(authn.Resource) (authn.Authenticator, error) { return authn.Anonymous, nil }

// services returns clients of catalog services: for everybody, and for tenants.
func (r *registrySettings) services() (all, tenants *served.Client) {
	rules := outbound.Rules{Local: r.local}
	return served.New(&served.Options{Rules: rules}), served.New(&served.Options{Rules: rules, MaxSize: 128 << 20, Timeout: time.Minute})
}
