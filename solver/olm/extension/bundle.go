package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// Bundle is the content of a registry+v1 bundle.
type Bundle struct {
	CSV    olm.ClusterServiceVersion // the bundle's only one
	CRDs   []crd.Definition          // in the order of the bundle
	crds   []manifest.Fields         // the same, as written
	others []manifest.Fields         // all other objects, in the order of the bundle
}

// ReadBundle reads the manifests of a bundle, JSON objects, and reports everything
// that is wrong with them: errors are joined, in this order.
//
//  1. There is one CSV; each object has a kind, a name and an apiVersion; no CRD
//     occurs twice.
//  2. CRDs that the CSV owns are in the bundle.
//  3. Names of deployments are unique.
//  4. Webhooks are served by its deployments, do not match requests that could block
//     themselves, and have unique names; each CRD is converted by at most one, and
//     the CSV owns it.
//  5. It has no API services: this package does not register them.
func ReadBundle(manifests []json.RawMessage) (*Bundle, error) {
	b := &Bundle{}
	var errs []error
	csvs := 0
	for i, text := range manifests {
		o, err := manifest.Decode(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("manifest %d is not a JSON object", i+1))
			continue
		}
		kind, name := o.Text("kind"), o.Child("metadata").Text("name")
		switch {
		case kind == "" || name == "":
			err = fmt.Errorf("manifest %d lacks its kind or its name", i+1)
		case kind == "ClusterServiceVersion":
			csvs++
			err = json.Unmarshal(text, &b.CSV)
		case o.Text("apiVersion") == "":
			err = fmt.Errorf("manifest %d, %s %s, lacks its apiVersion", i+1, kind, name)
		case kind == "CustomResourceDefinition":
			var c crd.Definition
			if err = json.Unmarshal(text, &c); slices.ContainsFunc(b.CRDs, func(o crd.Definition) bool { return o.Name == name }) {
				err = fmt.Errorf("it has CRD %s twice", name)
			}
			b.CRDs, b.crds = append(b.CRDs, c), append(b.crds, o)
		default:
			b.others = append(b.others, o)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if csvs != 1 {
		errs = append(errs, fmt.Errorf("it has %d ClusterServiceVersions; a bundle has one", csvs))
	}
	if err := errors.Join(append(errs, b.check()...)...); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Bundle) check() []error {
	var errs []error
	for _, d := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if !slices.ContainsFunc(b.CRDs, func(c crd.Definition) bool { return c.Name == d.Name }) {
			errs = append(errs, fmt.Errorf("the CSV owns CRD %s, which is not in the bundle", d.Name))
		}
	}
	seen := make(map[string]bool)
	for _, d := range b.CSV.Spec.Install.Spec.Deployments {
		if seen[d.Name] {
			errs = append(errs, fmt.Errorf("the CSV has two deployments named %s", d.Name))
		}
		seen[d.Name] = true
	}
	errs = append(errs, b.checkWebhooks()...)
	if n := len(b.CSV.Spec.APIServiceDefinitions.Owned); n > 0 {
		errs = append(errs, fmt.Errorf("the CSV has API services (%d), which are not supported", n))
	}
	return errs
}

// Targets returns the namespaces that the operator should watch; [""] means all:
//
//  1. watch is nil: all, if the operator supports it; otherwise its own, if it
//     supports only that.
//  2. watch is "": all.
//  3. Otherwise that one: with the install mode OwnNamespace if it is the one that
//     it is installed in, else with SingleNamespace.
//
// The error says what the operator supports.
func (b *Bundle) Targets(namespace string, watch *string) ([]string, error) {
	can := func(mode group.InstallModeType) bool {
		return slices.Contains(b.CSV.Spec.InstallModes, group.InstallMode{Type: mode, Supported: true})
	}
	var modes []string
	for _, mode := range []group.InstallModeType{group.ModeAllNamespaces, group.ModeMultiNamespace, group.ModeOwnNamespace, group.ModeSingleNamespace} {
		if can(mode) {
			modes = append(modes, string(mode))
		}
	}
	supports := "it supports " + strings.Join(modes, ", ")
	if modes == nil {
		supports = "it supports no install mode"
	}
	if watch == nil {
		switch {
		case can(group.ModeAllNamespaces):
			return []string{group.AllNamespaces}, nil
		case slices.Equal(modes, []string{string(group.ModeOwnNamespace)}):
			return []string{namespace}, nil
		}
		return nil, fmt.Errorf("watchNamespace is missing: %s", supports)
	}
	switch want := *watch; {
	case want == group.AllNamespaces && can(group.ModeAllNamespaces),
		want != "" && want == namespace && can(group.ModeOwnNamespace),
		want != "" && want != namespace && can(group.ModeSingleNamespace):
		return []string{want}, nil
	case want == group.AllNamespaces:
		return nil, fmt.Errorf("the operator cannot watch all namespaces: %s", supports)
	case want == namespace:
		return nil, fmt.Errorf("the operator cannot watch the namespace that it is installed in, %s: %s", namespace, supports)
	}
	return nil, fmt.Errorf("the operator cannot watch namespace %s: %s", *watch, supports)
}
