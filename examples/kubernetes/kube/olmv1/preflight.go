package olmv1

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// Preflight checks objects before they are applied: whether a CRD in use would break
// (see package crd), given the CRDs and their objects in the cluster. O is
// client.Object. Unlike the reference's, it allows changes that neither break an
// existing object nor remove data from it, and refuses those that do, whatever the
// schemas say.
type Preflight[O any] struct {
	// Definition returns the cluster's CRD with a name; nil if there is none.
	Definition func(ctx context.Context, name string) (any, error)
	// Objects returns the objects of a CRD, in the given version; nil means that
	// there are none.
	Objects func(ctx context.Context, definition, version string) ([]any, error)
}

// RefusedError reports why objects must not be applied.
type RefusedError struct {
	Problems []string // each with what to do, in the order of the objects
}

// Error implements error.
func (e *RefusedError) Error() string { return strings.Join(e.Problems, "; ") }

// Install checks objects that do not exist yet, as far as operator-controller
// knows; a CRD may exist. The error is a *[RefusedError], or that of a function.
func (p *Preflight[O]) Install(ctx context.Context, objects []O) error { return p.judge(ctx, objects) }

// Upgrade checks objects that replace others. Errors are those of Install.
func (p *Preflight[O]) Upgrade(ctx context.Context, objects []O) error { return p.judge(ctx, objects) }

func (p *Preflight[O]) judge(ctx context.Context, objects []O) error {
	var cluster extension.Cluster
	var definitions []extension.Object
	for i, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("object %d: %w", i+1, err)
		}
		var d struct {
			crd.Definition
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(text, &d); err != nil || d.Kind != "CustomResourceDefinition" {
			continue // an unreadable object is not a CRD
		}
		x := extension.Object{Manifest: text}
		x.Group, x.Kind, x.Name = "apiextensions.k8s.io", d.Kind, d.Name
		definitions = append(definitions, x)
		if err := p.observe(ctx, d.Name, &cluster); err != nil {
			return fmt.Errorf("CRD %s: %w", d.Name, err)
		}
	}
	problems, err := extension.Preflight(&extension.ClusterExtension{}, definitions, &cluster)
	if err != nil || len(problems) == 0 {
		return err
	}
	return &RefusedError{problems}
}

// observe adds a CRD and its objects to a cluster.
func (p *Preflight[O]) observe(ctx context.Context, name string, cluster *extension.Cluster) error {
	found, err := p.Definition(ctx, name)
	if err != nil || found == nil {
		return err
	}
	var is crd.Definition
	if err := through(found, &is); err != nil {
		return err
	}
	cluster.CRDs = append(cluster.CRDs, is)
	if p.Objects == nil {
		return nil
	}
	for _, v := range is.Spec.Versions {
		if !v.Served {
			continue
		}
		all, err := p.Objects(ctx, name, v.Name)
		if err != nil {
			return err
		}
		for _, o := range all {
			text, err := json.Marshal(o)
			if err != nil {
				return err
			}
			var is struct {
				Metadata struct{ Namespace, Name string } `json:"metadata"`
			}
			if err := json.Unmarshal(text, &is); err != nil {
				return err
			}
			cluster.Resources = append(cluster.Resources, extension.Resource{
				CRD: name, Version: v.Name, Object: crd.Object{Namespace: is.Metadata.Namespace, Name: is.Metadata.Name, Data: text},
			})
		}
	}
	return nil
}
