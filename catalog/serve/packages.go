package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/packages"
)

// Shelf is a catalog and its catalog source.
type Shelf struct {
	Source  packages.Source
	Catalog *catalog.Catalog
}

// PackagesOptions tune a [Packages]. The zero value, and nil, are the defaults.
type PackagesOptions struct {
	// GlobalNamespace is the namespace whose catalogs are visible in every namespace.
	// Default: none.
	GlobalNamespace string
}

// Packages serves the PackageManifests of catalogs as OLM's package server does.
// Any number of requests may be served at once.
type Packages struct {
	shelves []Shelf
	global  string
}

// NewPackages returns the service of the packages of some catalogs, to be mounted
// at the root:
//
//	GET /apis/packages.operators.coreos.com/v1/packagemanifests
//	GET /apis/packages.operators.coreos.com/v1/namespaces/NS/packagemanifests[/NAME[/icon]]
//
// Lists accept labelSelector, and fieldSelector for metadata.name. As in OLM, the
// namespace in a response is that of the request, and icons are served separately. If two
// catalogs have the same name, the first that is visible in the namespace is used.
func NewPackages(shelves []Shelf, opts *PackagesOptions) *Packages {
	s := &Packages{shelves: slices.Clone(shelves)}
	if opts != nil {
		s.global = opts.GlobalNamespace
	}
	return s
}

// apiPath is the prefix of all paths of the API.
const apiPath = "/apis/" + packages.Group + "/" + packages.Version + "/"

// ServeHTTP implements [http.Handler].
func (s *Packages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, apiPath)
	if !ok {
		refuse(w, http.StatusNotFound, "there is nothing at "+r.URL.Path)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "packages are read-only: use GET or HEAD")
		return
	}
	namespace := ""
	if rest, ok := strings.CutPrefix(path, "namespaces/"); ok {
		namespace, path, _ = strings.Cut(rest, "/")
	}
	resource, name, _ := strings.Cut(path, "/")
	name, sub, _ := strings.Cut(name, "/")
	switch {
	case resource != "packagemanifests" || sub != "" && sub != "icon" || name != "" && namespace == "":
		refuse(w, http.StatusNotFound, "there is nothing at "+r.URL.Path)
	case name == "":
		s.list(w, r, namespace)
	default:
		s.one(w, r, namespace, name, sub == "icon")
	}
}

// refuse responds with an error as API servers do.
func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	answer(w, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": strings.ReplaceAll(http.StatusText(code), " ", ""), "message": message})
}

// answer writes JSON; an error means that the client is gone.
func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// seen reports whether a catalog is visible in a namespace; "" stands for all.
func (s *Packages) seen(shelf *Shelf, namespace string) bool {
	return namespace == "" || shelf.Source.Namespace == namespace || s.global != "" && shelf.Source.Namespace == s.global
}

func (s *Packages) list(w http.ResponseWriter, r *http.Request, namespace string) {
	selector, err := parseSelector(r.URL.Query().Get("labelSelector"))
	name := ""
	if fields := r.URL.Query().Get("fieldSelector"); fields != "" && err == nil {
		field, value, _ := strings.Cut(fields, "=")
		if name = strings.TrimPrefix(value, "="); field != "metadata.name" || name == "" {
			err = fmt.Errorf("field selector %q: the only one is metadata.name=NAME", fields)
		}
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	all := packages.PackageManifestList{TypeMeta: fairlead.TypeMeta{APIVersion: packages.Group + "/" + packages.Version, Kind: packages.Kind + "List"}}
	all.Items = []packages.PackageManifest{}
	for i := range s.shelves {
		shelf := &s.shelves[i]
		if !s.seen(shelf, namespace) {
			continue
		}
		for p := range shelf.Catalog.Packages() {
			if r.Context().Err() != nil {
				return
			}
			if name != "" && p.Name() != name {
				continue
			}
			m, _, err := packages.Of(p, &shelf.Source)
			if err != nil {
				refuse(w, http.StatusInternalServerError, "the catalog cannot be read: "+err.Error())
				return
			}
			if m != nil && selector.Matches(m.Labels) {
				all.Items = append(all.Items, *shown(m, namespace))
			}
		}
	}
	slices.SortStableFunc(all.Items, func(a, b packages.PackageManifest) int { return strings.Compare(a.Name, b.Name) })
	w.Header().Set("Content-Type", "application/json")
	answer(w, &all)
}

// shown returns a view as responses have it: in the requested namespace, without icons.
func shown(m *packages.PackageManifest, namespace string) *packages.PackageManifest {
	if namespace != "" {
		m.Namespace = namespace
	}
	for i := range m.Status.Channels {
		m.Status.Channels[i].CurrentCSVDesc.Icon = nil
	}
	return m
}

func (s *Packages) one(w http.ResponseWriter, r *http.Request, namespace, name string, icon bool) {
	for i := range s.shelves {
		shelf := &s.shelves[i]
		p, ok := shelf.Catalog.Package(name)
		if !ok || !s.seen(shelf, namespace) {
			continue
		}
		m, _, err := packages.Of(p, &shelf.Source)
		switch {
		case err != nil:
			refuse(w, http.StatusInternalServerError, "the catalog cannot be read: "+err.Error())
			return
		case m == nil:
			continue
		case icon:
			picture(w, r, m)
		default:
			w.Header().Set("Content-Type", "application/json")
			answer(w, shown(m, namespace))
		}
		return
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("packagemanifests.%s %q not found", packages.Group, name))
}

// picture responds with the icon of a package.
func picture(w http.ResponseWriter, r *http.Request, m *packages.PackageManifest) {
	for _, ch := range m.Status.Channels {
		if ch.Name != m.Status.DefaultChannel || len(ch.CurrentCSVDesc.Icon) == 0 {
			continue
		}
		data, err := ch.CurrentCSVDesc.Icon[0].Bytes()
		if err != nil {
			break
		}
		tag := fmt.Sprintf("%q", m.Name+"."+ch.Name+"."+ch.CurrentCSV)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		kind := ch.CurrentCSVDesc.Icon[0].MediaType
		if !strings.HasPrefix(kind, "image/") {
			kind = "application/octet-stream" // a catalog must not serve pages
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "sandbox") // an icon may be SVG with scripts
		_, _ = w.Write(data)                                 // an error means that the client is gone
		return
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("package %q has no icon", m.Name))
}
