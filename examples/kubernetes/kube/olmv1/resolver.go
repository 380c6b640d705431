package olmv1

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// Catalog is the part of a cluster's catalog that concerns a package.
type Catalog struct {
	// Object is the ClusterCatalog: its labels, priority and availability are
	// used.
	Object any
	// Packages, Channels, Bundles and Deprecations are values of declcfg's
	// types.
	Packages, Channels, Bundles, Deprecations []any
	// Err is why it cannot be read; then no extension that selects it is
	// resolved.
	Err error
}

// Resolver chooses a bundle for a ClusterExtension, by
// [olm.Resolver.ResolveExtension]. X is ClusterExtension, M BundleMetadata, B the
// bundle of declcfg, V its VersionRelease and D its Deprecation. It may be used from
// several goroutines if its functions may.
type Resolver[X, M, B, V, D any] struct {
	// Catalogs returns the parts of the cluster's catalogs that concern a
	// package. The extension and the catalogs' objects determine which of them
	// are used.
	Catalogs func(ctx context.Context, pkg string) ([]Catalog, error)
	// Version returns the version of a bundle.
	Version func(bundle *B) (*V, error)
	// Validations return why a chosen bundle may not be installed. There is no
	// second choice.
	Validations []func(bundle *B) error
}

// Resolve returns the bundle that the extension should have, its version, and the
// deprecations of its package, nil if there are none. installed is nil if nothing is
// installed. Errors are those of [olm.Resolver.ResolveExtension], of the functions,
// and of values with an unexpected form.
func (r *Resolver[X, M, B, V, D]) Resolve(ctx context.Context, ext *X, installed *M) (*B, *V, *D, error) {
	var x extension.ClusterExtension
	if err := through(ext, &x); err != nil {
		return nil, nil, nil, fmt.Errorf("the extension: %w", err)
	}
	x.Status.Install = nil
	if installed != nil {
		x.Status.Install = &extension.Installed{}
		if err := through(installed, &x.Status.Install.Bundle); err != nil {
			return nil, nil, nil, fmt.Errorf("the installed bundle: %w", err)
		}
	}
	q, err := extension.QuestionOf(&x)
	if err != nil {
		return nil, nil, nil, err
	}
	// Errors of the extension are reported before a catalog is read.
	if _, err := resolve(nil, q); !errors.As(err, new(*olm.ExtensionError)) {
		return nil, nil, nil, err
	}
	sources, err := r.sources(ctx, q.Package)
	if err != nil {
		return nil, nil, nil, err
	}
	choice, err := resolve(sources, q)
	if err != nil {
		return nil, nil, nil, err
	}
	bundle := new(B)
	if err := decode(choice.Bundle, bundle); err != nil {
		return nil, nil, nil, fmt.Errorf("bundle %s: %w", choice.Name, err)
	}
	for _, check := range r.Validations {
		if err := check(bundle); err != nil {
			return nil, nil, nil, fmt.Errorf("bundle %s may not be installed: %w", choice.Name, err)
		}
	}
	version, err := r.Version(bundle)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("bundle %s: %w", choice.Name, err)
	}
	for d := range choice.Bundle.Package().DeprecationDocuments() {
		deprecation := new(D)
		return bundle, version, deprecation, decode(d, deprecation)
	}
	return bundle, version, nil, nil
}

func resolve(sources []olm.Source, q *olm.Extension) (*olm.ExtensionChoice, error) {
	r, err := olm.NewResolver(sources, nil)
	if err != nil {
		return nil, err
	}
	return r.ResolveExtension(q)
}

// sources returns the catalogs as sources of fairlead's resolver.
func (r *Resolver[X, M, B, V, D]) sources(ctx context.Context, pkg string) ([]olm.Source, error) {
	all, err := r.Catalogs(ctx, pkg)
	if err != nil {
		return nil, err
	}
	var sources []olm.Source
	for i, c := range all {
		var object extension.ClusterCatalog
		if err := through(c.Object, &object); err != nil {
			return nil, fmt.Errorf("catalog %d: %w", i+1, err)
		}
		s := extension.SourceOf(&object)
		if s.Err = c.Err; s.Err == nil {
			if s.Catalog, err = open(ctx, &c); err != nil {
				return nil, fmt.Errorf("catalog %s: %w", object.Name, err)
			}
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// open reads a catalog. An error in a part of it does not affect the rest, as in
// operator-controller, which does not check it.
func open(ctx context.Context, c *Catalog) (*catalog.Catalog, error) {
	var text bytes.Buffer
	for _, part := range []struct {
		schema    string
		documents []any
	}{{catalog.SchemaPackage, c.Packages}, {catalog.SchemaChannel, c.Channels}, {catalog.SchemaBundle, c.Bundles}, {catalog.SchemaDeprecations, c.Deprecations}} {
		for _, d := range part.documents {
			var fields map[string]json.RawMessage
			if err := through(d, &fields); err != nil {
				return nil, err
			}
			fields["schema"] = json.RawMessage(`"` + part.schema + `"`) // only values read from a file are sure to have it
			if err := json.NewEncoder(&text).Encode(fields); err != nil {
				return nil, err
			}
		}
	}
	held, err := catalog.Open(ctx, fstest.MapFS{"catalog.json": {Data: text.Bytes()}}, nil)
	var faults catalog.Diagnostics
	if held != nil && errors.As(err, &faults) {
		err = nil
	}
	return held, err
}

// decode reads a part of a catalog.
func decode(from interface{ Raw() ([]byte, error) }, into any) error {
	text, err := from.Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// through converts a value to another type with the same JSON.
func through(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
