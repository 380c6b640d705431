package source

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// ImageReason says where an image came from.
type ImageReason string

// The reasons.
const (
	ImageStated       ImageReason = "Stated"       // there is no template
	ImageFromTemplate ImageReason = "FromTemplate" // the template could be filled in
	ImageFallback     ImageReason = "Fallback"     // it could not, and spec.image is used
)

// ImageError says that a catalog has no image to run.
type ImageError struct {
	Source   ObjectMeta // the catalog source
	Template string     // its template
	Problem  string     // why that gives no image
}

// Error implements error.
func (e *ImageError) Error() string {
	return fmt.Sprintf("catalog source %s: template %q gives no image: %s; correct the annotation %s, or set spec.image to fall back to",
		e.Source, e.Template, e.Problem, ImageTemplateAnnotation)
}

var (
	variable = regexp.MustCompile(`\{[^{}]*\}`)
	pullSpec = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9]+:[a-fA-F0-9]{32,})?$`)
)

// Image returns the image that the catalog runs on a cluster of the given
// Kubernetes version, and where it comes from:
//
//  1. Without ImageTemplateAnnotation, spec.image.
//  2. Otherwise the template with {kube_major_version}, {kube_minor_version} and
//     {kube_patch_version} filled in, if that gives an image that can be pulled.
//  3. Otherwise spec.image.
//  4. If that is empty, an *ImageError: the catalog is left as it is.
//
// The version is that of Kubernetes, such as v1.32.5, not of the cluster's
// distribution. Build metadata after a plus sign does not count, and a missing
// minor or patch is 0. If the version cannot be parsed, no variable can be filled
// in.
func (c *CatalogSource) Image(kubeVersion string) (string, ImageReason, error) {
	template, ok := c.Annotations[ImageTemplateAnnotation]
	if !ok {
		return c.Spec.Image, ImageStated, nil
	}
	image, problem := fill(template, kubeVersion)
	switch {
	case problem == "":
		return image, ImageFromTemplate, nil
	case c.Spec.Image != "":
		return c.Spec.Image, ImageFallback, nil
	}
	return "", "", &ImageError{Source: c.ObjectMeta, Template: template, Problem: problem}
}

func fill(template, kubeVersion string) (image, problem string) {
	parts := map[string]string{}
	if v, err := semverx.ParseTolerant(kubeVersion); err == nil {
		parts["{kube_major_version}"] = strconv.FormatUint(v.Major(), 10)
		parts["{kube_minor_version}"] = strconv.FormatUint(v.Minor(), 10)
		parts["{kube_patch_version}"] = strconv.FormatUint(v.Patch(), 10)
	}
	image = variable.ReplaceAllStringFunc(template, func(name string) string {
		value, ok := parts[name]
		switch {
		case ok:
			return value
		case problem == "" && strings.HasPrefix(name, "{kube_") && len(parts) == 0:
			problem = fmt.Sprintf("%s is not known, since the cluster's version is %q", name, kubeVersion)
		case problem == "":
			problem = fmt.Sprintf("there is no variable %s, only {kube_major_version}, {kube_minor_version} and {kube_patch_version}", name)
		}
		return name
	})
	if problem == "" && !pullSpec.MatchString(image) {
		problem = fmt.Sprintf("%q is not the name of an image", image)
	}
	return image, problem
}
