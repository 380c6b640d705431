package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tenants limits the catalog sources of namespaces that are not the administrator's. The
// zero value is usable.
type Tenants struct {
	// Images and Services are used in place of those of BackendOptions, if not nil:
	// clients with smaller limits that connect to fewer addresses.
	Images   Images
	Services Services // see Images
	// Hosts are hosts that spec.address may name, beside the services of the source's
	// own namespace; "*" means any.
	Hosts []string
	// MaxSize limits the bytes of the catalogs of one namespace. Zero means 256 MiB.
	MaxSize int64
}

const (
	timeToRead = 5 * time.Minute // limits one reading
	readAtOnce = 2               // sources of one namespace
)

// tenant reports whether a namespace is limited.
func (b *Backend) tenant(namespace string) bool {
	return namespace == "" || namespace != b.opts.Resolve.GlobalNamespace
}

// budget limits the catalogs of a namespace.
func (b *Backend) budget(namespace string) int64 {
	if !b.tenant(namespace) {
		return 0
	}
	return cmp.Or(b.opts.Tenants.MaxSize, 256<<20)
}

// images returns what opens the images that a namespace names.
func (b *Backend) images(namespace string) Images {
	if b.tenant(namespace) && b.opts.Tenants.Images != nil {
		return b.opts.Tenants.Images
	}
	return b.opts.Images
}

func (b *Backend) services(namespace string) Services {
	if b.tenant(namespace) && b.opts.Tenants.Services != nil {
		return b.opts.Tenants.Services
	}
	return b.opts.Services
}

// hostError says that a source names a host that it may not name.
type hostError struct{ text string }

func (e *hostError) Error() string { return e.text }

// hostOf returns the host of the address of a service: HOST:PORT, or the URL of one that
// speaks HTTP.
func hostOf(address string) (string, error) {
	wrong := &hostError{"spec.address is neither HOST:PORT nor an http or https URL"}
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" || u.User != nil {
			return "", wrong
		}
		return u.Hostname(), nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || strings.ContainsAny(host, "/@") {
		return "", wrong
	}
	return host, nil
}

// mayAsk says why a source may not name the address of its service, or returns nil. A
// service of its own namespace must not stand for another host.
func (b *Backend) mayAsk(ctx context.Context, namespace, address string) error {
	host, err := hostOf(address)
	if err != nil || !b.tenant(namespace) {
		return err
	}
	if h := b.opts.Tenants.Hosts; slices.Contains(h, "*") || slices.Contains(h, host) {
		return nil
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(host, "."), ".")
	if name == "" || rest != namespace+".svc" && rest != namespace+".svc.cluster.local" {
		return &hostError{fmt.Sprintf("spec.address may name services of namespace %s only, as NAME.%[1]s.svc:PORT; an administrator can allow other hosts", namespace)}
	}
	var s corev1.Service
	if err := b.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &s); err != nil {
		return kube.Outcome(kube.Ref(refOf(services, namespace, name)), err)
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return &hostError{fmt.Sprintf("service %s stands for another host (type ExternalName), which a catalog source may not name", name)}
	}
	return nil
}

// told is what the status of a source says of an error: for tenants nothing that a scan of
// the network would tell.
func (b *Backend) told(namespace string, err error) error {
	var host *hostError
	var fault *catalog.Diagnostic
	var faults catalog.Diagnostics
	var limit *fairlead.InputLimitError
	if !b.tenant(namespace) || errors.As(err, &host) || errors.As(err, &limit) || errors.As(err, &fault) || errors.As(err, &faults) {
		return err
	}
	return errUnreachable
}

var errUnreachable = errors.New("it is unreachable, or serves no catalog that can be read; the log of the operator says more")

// bounded is a file system of which only so many bytes can be read.
type bounded struct {
	fs.FS
	left, max int64
}

func (b *bounded) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if d, is := f.(fs.ReadDirFile); is {
		return &boundedDir{boundedFile{f, b}, d}, nil
	}
	return &boundedFile{f, b}, nil
}

// Close closes what can be closed.
func (b *bounded) Close() error {
	if c, ok := b.FS.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

type boundedFile struct {
	fs.File
	all *bounded
}

func (f *boundedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if f.all.left -= int64(n); f.all.left < 0 {
		return 0, &fairlead.InputLimitError{What: "size of the catalog in bytes", Max: f.all.max}
	}
	return n, err
}

type boundedDir struct {
	boundedFile
	fs.ReadDirFile
}

func (d *boundedDir) Read(p []byte) (int, error) { return d.boundedFile.Read(p) }
func (d *boundedDir) Stat() (fs.FileInfo, error) { return d.boundedFile.Stat() }
func (d *boundedDir) Close() error               { return d.boundedFile.Close() }

// within opens files of which only so many bytes can be read; zero means all.
func within(max int64, open func(context.Context) (fs.FS, error)) func(context.Context) (fs.FS, error) {
	return func(ctx context.Context) (fs.FS, error) {
		fsys, err := open(ctx)
		if err != nil || max == 0 {
			return fsys, err
		}
		return &bounded{fsys, max, max}, nil
	}
}

// sizeOf returns the bytes of the documents of a catalog.
func sizeOf(c *catalog.Catalog) int64 {
	var n int64
	for d := range c.Documents() {
		n += int64(d.Size())
	}
	return n
}

// whenRead has a function called whenever something was read in the background.
func (b *Backend) whenRead(f func()) { b.catalogs.Changed, b.bundles.Changed = f, f }
