package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

// Mirror contains other locations for the images of a registry or repository,
// like the ImageDigestMirrorSet and the ImageTagMirrorSet of
// config.openshift.io/v1.
type Mirror struct {
	// Source is a registry or a repository: quay.io, quay.io/acme, quay.io/acme/shelf.
	// It includes everything below. A leading "*." stands for any subdomain.
	Source string `json:"source"`
	// Mirrors replace Source in names, in the order in which they are used.
	Mirrors []string `json:"mirrors"`
	// NeverContactSource forbids using the registry in the name if no mirror
	// has the image.
	NeverContactSource bool `json:"-"`
	// Tags is true for images named by tag, false for images named by digest.
	Tags bool `json:"-"`
}

// ReadMirrors reads an ImageDigestMirrorSet, an ImageTagMirrorSet, or a List of
// them, as YAML or JSON.
func ReadMirrors(data []byte) ([]Mirror, error) {
	type entry struct {
		Mirror
		Policy string `json:"mirrorSourcePolicy"`
	}
	var object struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
		Spec  struct {
			Digests []entry `json:"imageDigestMirrors"`
			Tags    []entry `json:"imageTagMirrors"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("mirrors: %w", err)
	}
	var all []Mirror
	add := func(list []entry, tags bool) error {
		for _, e := range list {
			switch e.Policy {
			case "", "AllowContactingSource":
			case "NeverContactSource":
				e.NeverContactSource = true
			default:
				return fmt.Errorf("mirrors of %s: mirrorSourcePolicy %q: must be AllowContactingSource or NeverContactSource", e.Source, e.Policy)
			}
			if e.Source == "" {
				return errors.New("mirrors: an entry has no source")
			}
			e.Mirror.Tags = tags
			all = append(all, e.Mirror)
		}
		return nil
	}
	switch {
	case object.Kind == "ImageDigestMirrorSet":
		return all, add(object.Spec.Digests, false)
	case object.Kind == "ImageTagMirrorSet":
		return all, add(object.Spec.Tags, true)
	case strings.HasSuffix(object.Kind, "List"):
		for _, item := range object.Items {
			inner, err := ReadMirrors(item)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("mirrors: kind %q is not ImageDigestMirrorSet, ImageTagMirrorSet or List", object.Kind)
}

// mirrored returns the possible locations of an image, in the order in which
// they are used: the mirrors of the longest source that matches, and then the
// registry in the name.
func mirrored(ref name.Reference, mirrors []Mirror) ([]name.Reference, error) {
	_, tag := ref.(name.Tag)
	repository := ref.Context().Name()
	fits, longest := []Mirror(nil), 0
	for _, m := range mirrors {
		rest, ok := m.rest(repository)
		if n := len(repository) - len(rest); ok && m.Tags == tag && n >= longest {
			if n > longest {
				fits, longest = nil, n
			}
			fits = append(fits, m)
		}
	}
	var places []name.Reference
	for _, m := range fits {
		rest, _ := m.rest(repository)
		for _, mirror := range m.Mirrors {
			separator := ":"
			if !tag {
				separator = "@"
			}
			at, err := name.ParseReference(mirror + rest + separator + ref.Identifier())
			if err != nil {
				return nil, fmt.Errorf("its mirror %s: %w", mirror, err)
			}
			places = append(places, at)
		}
	}
	if slices.ContainsFunc(fits, func(m Mirror) bool { return m.NeverContactSource }) {
		if len(places) == 0 {
			return nil, errors.New("its mirror set forbids the registry in the name, and names no mirror")
		}
		return places, nil
	}
	return append(places, ref), nil
}

// rest returns the part of a repository below the source.
func (m *Mirror) rest(repository string) (string, bool) {
	if domain, ok := strings.CutPrefix(m.Source, "*."); ok {
		registry, path, _ := strings.Cut(repository, "/")
		return "/" + path, strings.HasSuffix(registry, "."+domain)
	}
	rest, ok := strings.CutPrefix(repository, m.Source)
	return rest, ok && (rest == "" || rest[0] == '/')
}
