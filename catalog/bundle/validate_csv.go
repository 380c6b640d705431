package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

const apiVersionCSV = "operators.coreos.com/v1alpha1"

func (c *checker) csvNames() {
	csv := c.b.CSV
	if name := csv.Metadata.Name; csvNameFault(name) != "" {
		c.csvFault(CodeCSVName, fmt.Sprintf("%q cannot name a ClusterServiceVersion: %s", name, csvNameFault(name)),
			"name it as in memcached-operator.v0.0.1", "metadata", "name")
	}
	if name := csv.Spec.Replaces; name != "" && csvNameFault(name) != "" {
		c.csvFault(CodeCSVName, fmt.Sprintf("spec.replaces: %q cannot name a ClusterServiceVersion: %s", name, csvNameFault(name)),
			"write the name of the CSV that this one updates", "spec", "replaces")
	}
	for i, name := range csv.Spec.Skips {
		if csvNameFault(name) != "" {
			c.csvFault(CodeCSVName, fmt.Sprintf("spec.skips[%d]: %q cannot name a ClusterServiceVersion: %s", i, name, csvNameFault(name)),
				"write the name of a CSV", "spec", "skips", i)
		}
	}
	if release := c.b.Release(); release != "" {
		want := fmt.Sprintf("%s-v%s-%s", c.b.Package(), c.b.Version(), release)
		if csv.Metadata.Name != want {
			c.csvFault(CodeCSVName, fmt.Sprintf("a bundle with a release must be named %q, not %q", want, csv.Metadata.Name), "rename it", "metadata", "name")
		}
	}
}

// csvFields checks the required fields of a CSV.
func (c *checker) csvFields() {
	csv, m := c.b.CSV, c.b.CSV.manifest
	missing := func(absent bool, field, hint string, path ...any) {
		if absent {
			is := "missing"
			if v := m.src.tree.At(path...); v.Kind == '[' && len(path) > 0 {
				is = "empty"
			}
			c.csvFault(CodeCSVField, "the required field "+field+" is "+is, hint, path...)
		}
	}
	missing(m.APIVersion == "", "apiVersion", "write "+apiVersionCSV)
	if m.APIVersion != "" && m.APIVersion != apiVersionCSV {
		c.csvFault(CodeCSVField, fmt.Sprintf("%q is not a version of ClusterServiceVersions", m.APIVersion), "write "+apiVersionCSV, "apiVersion")
	}
	if m.src.tree.Get("spec").Null() {
		return // reported by Read
	}
	display, text := m.src.tree.Get("spec", "displayName").Text()
	missing(display == "" && (text || m.src.tree.Get("spec", "displayName").Null()), "spec.displayName", "write the name that users see", "spec", "displayName")
	install := m.src.tree.Get("spec", "install")
	missing(install.Null(), "spec.install", "say how to install the operator", "spec", "install")
	if install.Null() {
		return
	}
	missing(csv.Spec.Install.Strategy == "", "spec.install.strategy", "write deployment", "spec", "install", "strategy")
	if s := csv.Spec.Install.Strategy; s != "" && s != "deployment" {
		c.csvFault(CodeCSVField, fmt.Sprintf("the install strategy %q is not known", s), "write deployment", "spec", "install", "strategy")
	}
	missing(len(csv.Spec.Install.Spec.Deployments) == 0, "spec.install.spec.deployments", "list the deployments that run the operator",
		"spec", "install", "spec", "deployments")
}

func (c *checker) csvVersions() {
	csv := c.b.CSV
	version, err := semverx.Parse(csv.Spec.Version)
	if err != nil && len(csv.faults) == 0 {
		message := "the required field spec.version is missing"
		if csv.Spec.Version != "" {
			message = fmt.Sprintf("spec.version: %q is not a semantic version", csv.Spec.Version)
		}
		c.csvFault(CodeCSVVersion, message, versionHint(csv.Spec.Version), "spec", "version")
	}
	if min := csv.Spec.MinKubeVersion; strings.TrimSpace(min) == "" {
		c.csvAdvice(CodeCSVKubeVersion, "spec.minKubeVersion is missing, so any version of Kubernetes is accepted",
			"state the oldest version that the operator was tested with", "spec", "minKubeVersion")
	} else if _, err := semverx.Parse(min); err != nil {
		c.csvFault(CodeCSVKubeVersion, fmt.Sprintf("spec.minKubeVersion: %q is not a semantic version", min), versionHint(min), "spec", "minKubeVersion")
	}
	c.release()
	c.skipRange(version)
}

// versionHint says how to write a version.
func versionHint(text string) string {
	if v, err := semverx.ParseTolerant(text); err == nil {
		return "write " + quote(v.String())
	}
	return `write major, minor and patch, as in "1.2.3"`
}

func (c *checker) release() {
	release := c.b.Release()
	if release == "" {
		return
	}
	path := []any{"spec", "release"}
	if len(release) > 20 {
		c.csvFault(CodeCSVRelease, fmt.Sprintf("the release %q has %d characters, and at most 20 are allowed", release, len(release)), "shorten it", path...)
	} else if _, err := semverx.Parse("0.0.0-" + release); err != nil {
		c.csvFault(CodeCSVRelease, fmt.Sprintf("%q is not a release", release),
			"write identifiers of letters, digits and hyphens separated by dots, numbers without leading zeros", path...)
	}
	if other := c.b.CSV.Metadata.Annotations[annotationSubstitutesFor]; other != "" {
		c.csvFault(CodeCSVRelease, fmt.Sprintf("the CSV has a release (%q) and the annotation %s (%q), which mean the same thing", release, annotationSubstitutesFor, other),
			"delete the annotation", "metadata", "annotations", annotationSubstitutesFor)
	}
}

func (c *checker) skipRange(version semverx.Version) {
	text, ok := c.b.CSV.Metadata.Annotations[annotationSkipRange]
	if !ok {
		return
	}
	path := []any{"metadata", "annotations", annotationSkipRange}
	if text == "" {
		c.csvAdvice(CodeCSVSkipRange, annotationSkipRange+" is empty, which means no range", "delete the annotation, or write the versions that this one updates", path...)
		return
	}
	r, err := semverx.ParseRange(text)
	if err != nil {
		message, hint := err.Error(), "write it as in \">=1.0.0 <1.2.0\""
		if bad := (*semverx.RangeError)(nil); errors.As(err, &bad) {
			message = fmt.Sprintf("%s: %q is not a range of versions: %s", annotationSkipRange, text, bad.Reason)
			if bad.Hint != "" {
				hint = bad.Hint
			}
		}
		c.csvFault(CodeCSVSkipRange, message, hint, path...)
		return
	}
	if !version.IsZero() && r.Contains(version) {
		c.csvAdvice(CodeCSVSkipRange, fmt.Sprintf("%s: the range %q includes the bundle's own version %s", annotationSkipRange, text, version), "end it before "+version.String(), path...)
	}
	for _, lint := range r.Lints() {
		c.csvAdvice(CodeCSVSkipRange, fmt.Sprintf("%s: the range %q: %s", annotationSkipRange, text, lint), "write the range that you mean", path...)
	}
}

// caseAnnotations are the annotations whose letters' case is often wrong.
var caseAnnotations = []string{"olm.operatorGroup", "olm.operatorNamespace", "olm.targetNamespaces", "olm.providedAPIs", annotationSkipRange}

func (c *checker) csvAnnotations() {
	annotations := c.b.CSV.Metadata.Annotations
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		for _, right := range caseAnnotations {
			if key != right && strings.EqualFold(key, right) {
				c.csvFault(CodeCSVAnnotation, fmt.Sprintf("the annotation %s has the wrong case and no effect", key), "write "+right, "metadata", "annotations", key)
			}
		}
	}
}

// apiExamples are the annotations that hold examples of custom resources, the
// first one first.
var apiExamples = []string{"alm-examples", "olm.examples"}

// examples checks that the examples are of the APIs that the operator owns.
func (c *checker) examples() {
	annotations := c.b.CSV.Metadata.Annotations
	key := ""
	for _, k := range apiExamples {
		if _, ok := annotations[k]; ok && key == "" {
			key = k
		} else if ok {
			c.csvAdvice(CodeCSVExample, "examples are in both "+key+" and in "+k+", and only those of "+key+" count", "delete "+k, "metadata", "annotations", k)
		}
	}
	owned := c.owned()
	if key == "" {
		if len(owned) > 0 {
			c.csvAdvice(CodeCSVExample, "there are no examples of the owned APIs", "add a JSON list of custom resources as the annotation alm-examples", "metadata", "annotations")
		}
		return
	}
	path := []any{"metadata", "annotations", key}
	var list []struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if text := annotations[key]; text != "" && json.Unmarshal([]byte(text), &list) != nil {
		c.csvFault(CodeCSVExample, "the annotation "+key+" is not a JSON list of objects: "+embedded(text, &list), "write a list of custom resources", path...)
		return
	}
	shown := map[catalog.GVK]bool{}
	for _, e := range list {
		group, version, ok := strings.Cut(e.APIVersion, "/")
		if !ok {
			group, version = "", e.APIVersion
		}
		gvk := catalog.GVK{Group: group, Version: version, Kind: e.Kind}
		if !slices.Contains(owned, gvk) && !shown[gvk] {
			c.csvFault(CodeCSVExample, fmt.Sprintf("the CSV does not own the API of the example %s", gvk), "list the API as owned, or delete the example"+c.nearAPI(gvk, owned), path...)
		}
		shown[gvk] = true
	}
	for _, gvk := range owned {
		if !shown[gvk] {
			c.csvAdvice(CodeCSVExample, fmt.Sprintf("there is no example of the owned API %s", gvk), "add one to "+key, path...)
		}
	}
}

func (c *checker) nearAPI(gvk catalog.GVK, owned []catalog.GVK) string {
	var names []string
	for _, o := range owned {
		names = append(names, o.String())
	}
	if nearest := words.Nearest(gvk.String(), names); nearest != "" {
		return "; did you mean " + nearest + "?"
	}
	return ""
}

// owned returns the APIs that the CSV says it owns, each once.
func (c *checker) owned() []catalog.GVK {
	var all []catalog.GVK
	add := func(gvk catalog.GVK) {
		if !slices.Contains(all, gvk) {
			all = append(all, gvk)
		}
	}
	for _, d := range c.b.CSV.Spec.CRDs.Owned {
		_, group, _ := splitCRDName(d.Name)
		add(catalog.GVK{Group: group, Version: d.Version, Kind: d.Kind})
	}
	for _, s := range c.b.CSV.Spec.APIServices.Owned {
		add(catalog.GVK{Group: s.Group, Version: s.Version, Kind: s.Kind})
	}
	return all
}

// The kinds of install modes.
const (
	modeOwn    = "OwnNamespace"
	modeSingle = "SingleNamespace"
	modeMulti  = "MultiNamespace"
	modeAll    = "AllNamespaces"
)

var installModes = []string{modeOwn, modeSingle, modeMulti, modeAll}

// onlyAll reports whether AllNamespaces is the only install mode supported.
func (c *CSV) onlyAll() bool {
	all := false
	for _, m := range c.Spec.InstallModes {
		if m.Supported && m.Type != modeAll {
			return false
		}
		all = all || m.Supported
	}
	return all
}

func (c *checker) installModes() {
	csv := c.b.CSV
	modes := csv.Spec.InstallModes
	path := []any{"spec", "installModes"}
	if len(modes) == 0 {
		c.csvFault(CodeCSVInstallMode, "there are no install modes, so no operator group fits the operator", "list all modes, each with supported: true or false", path...)
		return
	}
	supported := false
	for i, m := range modes {
		supported = supported || m.Supported
		if !slices.Contains(installModes, m.Type) {
			hint := "the modes are " + strings.Join(installModes, ", ")
			if nearest := words.Nearest(m.Type, installModes); nearest != "" {
				hint = "did you mean " + nearest + "?"
			}
			c.csvFault(CodeCSVInstallMode, fmt.Sprintf("there is no install mode %q", m.Type), hint, append(path, i)...)
		}
		if slices.ContainsFunc(modes[:i], func(o InstallMode) bool { return o.Type == m.Type }) {
			c.csvFault(CodeCSVInstallMode, fmt.Sprintf("the install mode %s is listed twice", m.Type), "keep one of the two", append(path, i)...)
		}
	}
	if !supported {
		c.csvFault(CodeCSVInstallMode, "no install mode is supported, so the operator cannot be installed anywhere", "support at least one", path...)
	}
	for i, w := range csv.Spec.Webhooks {
		if len(w.ConversionCRDs) > 0 && !csv.onlyAll() {
			c.csvFault(CodeCSVInstallMode, fmt.Sprintf("webhook %q converts CRDs, which are cluster-scoped, so %s must be the only install mode supported", w.GenerateName, modeAll),
				"support "+modeAll+" and nothing else", "spec", "webhookdefinitions", i)
		}
	}
}
