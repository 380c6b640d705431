package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// The labels of a CSV that say what it supports, followed by a name.
const (
	labelArch = "operatorframework.io/arch."
	labelOS   = "operatorframework.io/os."
)

// image is an image that a bundle names, and what is known about it.
type image struct {
	name      string
	manager   bool // the operator itself runs it
	deployed  bool // a deployment runs it
	path      []any
	platforms []Platform
	affinity  []Platform // the nodes that its pod is restricted to
}

// multiArch: each image runs on all platforms that the CSV's labels claim, the
// platforms of the operator's own image are labelled, and pods are restricted to
// such nodes.
func (c *checker) multiArch(opts *SuiteOptions) {
	archs, systems := c.labelled(labelArch, "amd64"), c.labelled(labelOS, "linux")
	var known []*image
	for _, i := range c.imagesOf() {
		if why := i.inspect(opts); why != "" {
			c.csvAdvice(CodePlatform, fmt.Sprintf("the platforms of image %s are not known: %s", i.name, why), "make sure that the image can be inspected; it was not checked", i.path...)
			continue
		}
		known = append(known, i)
	}
	for _, os := range systems {
		for _, arch := range archs {
			c.lacking(known, Platform{os, arch})
		}
	}
	runsArchs, runsSystems := map[string]bool{}, map[string]bool{}
	for _, i := range known {
		for _, p := range i.platforms {
			if i.manager {
				runsArchs[p.Architecture], runsSystems[p.OS] = true, true
			}
		}
	}
	c.unlabelled(labelArch, runsArchs, archs)
	c.unlabelled(labelOS, runsSystems, systems)
	for _, i := range known {
		if i.deployed {
			c.affinity(i)
		}
	}
}

// labelled returns the values supported by labels with a prefix, sorted; by default
// that one.
func (c *checker) labelled(prefix, usual string) []string {
	var names []string
	for key, value := range c.b.CSV.Metadata.Labels {
		if name, ok := strings.CutPrefix(key, prefix); ok && value == "supported" {
			names = append(names, name)
		}
	}
	if names == nil {
		return []string{usual}
	}
	slices.Sort(names)
	return names
}

// imagesOf returns the images of a CSV, each once, in the order they are written:
// those of deployments, then related ones. In a deployment the container named
// manager is the operator; without one, all containers are, except the usual proxy.
func (c *checker) imagesOf() []*image {
	var list []*image
	at := map[string]*image{}
	take := func(name string, path ...any) *image {
		i := at[name]
		if i == nil {
			i = &image{name: name, path: path}
			at[name] = i
			list = append(list, i)
		}
		return i
	}
	spec := &c.b.CSV.Spec
	for d, deployment := range spec.Install.Spec.Deployments {
		pod := &deployment.Spec.Template.Spec
		named := slices.ContainsFunc(pod.Containers, func(con Container) bool { return con.Name == "manager" })
		for n, con := range pod.Containers {
			i := take(con.Image, "spec", "install", "spec", "deployments", d, "spec", "template", "spec", "containers", n, "image")
			i.deployed = true
			i.manager = i.manager || con.Name == "manager" || !named && con.Name != "kube-rbac-proxy"
			i.affinity = platformsOf(pod.Affinity.NodeAffinity)
		}
	}
	for n, r := range spec.RelatedImages {
		take(r.Image, "spec", "relatedImages", n)
	}
	return list
}

// inspect asks for the platforms of an image, and says why they are not known.
func (i *image) inspect(opts *SuiteOptions) (why string) {
	if opts.Platforms == nil {
		return "no platforms are given"
	}
	platforms, err := opts.Platforms(i.name)
	if err != nil {
		return err.Error()
	}
	i.platforms = platforms
	return ""
}

// lacking reports images that do not run on a supported platform.
func (c *checker) lacking(known []*image, supported Platform) {
	var without []string
	var at []any
	for _, i := range known {
		if !slices.Contains(i.platforms, supported) {
			if without = append(without, i.name); at == nil {
				at = i.path
			}
		}
	}
	if without != nil {
		c.csvFault(CodePlatform, fmt.Sprintf("the labels claim support for %s, which is missing from %s", supported, words.List(without, "and", 4)),
			"build images for it, or remove the label", at...)
	}
}

// unlabelled reports platforms of the operator that the labels lack. An operator
// that runs only on the default platform needs no label.
func (c *checker) unlabelled(prefix string, runs map[string]bool, labelled []string) {
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if !slices.Contains(labelled, name) {
			c.csvAdvice(CodePlatform, fmt.Sprintf("the operator's image runs on %s, but the CSV has no label for it", name),
				"if it is supported, add the label "+prefix+name+": supported", "metadata", "labels")
		}
	}
}

// affinity reports where the nodes that a pod is restricted to are not those that
// its image runs on.
func (c *checker) affinity(i *image) {
	if len(i.affinity) == 0 {
		c.csvAdvice(CodePlatform, fmt.Sprintf("the pod of %s is not restricted to nodes that it runs on (%s)", i.name, platformList(i.platforms)),
			"require kubernetes.io/os and kubernetes.io/arch by node affinity", i.path...)
		return
	}
	difference := func(a, b []Platform) string {
		return platformList(slices.DeleteFunc(slices.Clone(a), func(p Platform) bool { return slices.Contains(b, p) }))
	}
	if extra := difference(i.affinity, i.platforms); extra != "" {
		c.csvAdvice(CodePlatform, fmt.Sprintf("node affinity lets the pod of %s onto %s, where it does not run", i.name, extra), "remove that platform", i.path...)
	}
	if missing := difference(i.platforms, i.affinity); missing != "" {
		c.csvAdvice(CodePlatform, fmt.Sprintf("node affinity keeps the pod of %s from %s, where it would run", i.name, missing), "add that platform, if it is supported", i.path...)
	}
}

func platformList(list []Platform) string {
	var names []string
	for _, p := range list {
		names = append(names, p.String())
	}
	slices.Sort(names)
	return words.List(names, "and", 8)
}

// platformsOf returns the platforms that nodes must have, or nil if none are named.
func platformsOf(a *fairlead.NodeAffinity) []Platform {
	if a == nil || a.Required == nil {
		return nil
	}
	var list []Platform
	for _, term := range a.Required.Terms {
		var systems, archs []string
		for _, e := range term.MatchExpressions {
			switch {
			case e.Operator != "In":
			case e.Key == "kubernetes.io/os":
				systems = e.Values
			case e.Key == "kubernetes.io/arch":
				archs = e.Values
			}
		}
		for _, os := range systems {
			for _, arch := range archs {
				list = append(list, Platform{os, arch})
			}
		}
	}
	return list
}
