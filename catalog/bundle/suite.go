package bundle

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Suite is a published set of rules for bundles beyond those of [Bundle.Validate].
type Suite string

// The suites. They are those of operator-framework/api v0.45.0, where they are
// optional.
const (
	SuiteOperatorHub Suite = "operatorhub" // what operatorhub.io accepts: provider, links, one icon, known categories
	SuiteCommunity   Suite = "community"   // what the community catalogs accept of bundles with APIs that Kubernetes 1.22 removed
	SuiteMultiArch   Suite = "multiarch"   // labels, images and node affinity agree on the platforms that are supported
)

// Suites returns all suites.
func Suites() []Suite { return []Suite{SuiteCommunity, SuiteMultiArch, SuiteOperatorHub} }

// SuiteOptions hold what suites need besides the bundle. Nil is the zero value.
type SuiteOptions struct {
	// Dockerfile is the content of the Dockerfile with the labels of the bundle's
	// image, for the suite community. Without it the labels are not checked, and a
	// warning says so.
	Dockerfile []byte
	// Platforms returns the platforms of an image, for the suite multiarch.
	// Without it, or if it fails, an image is not checked, and a warning says so.
	Platforms func(image string) ([]Platform, error)
}

// Platform is what an image runs on.
type Platform struct {
	OS           string `json:"os"`           // such as linux
	Architecture string `json:"architecture"` // such as amd64
}

// String returns the platform as in linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Suite returns the errors and warnings of a suite, each sorted by position. For a
// bundle without a CSV it returns none: Validate reports that. It panics for a
// suite that is not one of [Suites].
func (b *Bundle) Suite(s Suite, opts *SuiteOptions) (faults, warnings catalog.Diagnostics) {
	check := map[Suite]func(*checker, *SuiteOptions){
		SuiteOperatorHub: (*checker).operatorHub, SuiteCommunity: (*checker).community, SuiteMultiArch: (*checker).multiArch,
	}[s]
	if check == nil {
		panic(fmt.Sprintf("bundle: there is no suite %q", s))
	}
	if opts == nil {
		opts = &SuiteOptions{}
	}
	c := newChecker(b, nil)
	if b.CSV != nil {
		check(c, opts)
	}
	return c.found.sorted(func(f finding) bool { return !f.lint }), c.found.sorted(func(f finding) bool { return f.lint })
}

// operatorHub enforces what is otherwise only advice.
func (c *checker) operatorHub(*SuiteOptions) {
	c.hub = true
	c.run([]rule{{csv: true, check: (*checker).hubPeople}, {csv: true, check: (*checker).hubIcon}, {csv: true, check: (*checker).hubAnnotations}})
	if v, err := semverx.ParseTolerant(c.b.CSV.Spec.Version); err == nil && v.String() == "0.0.0" {
		c.csvFault(CodeHub, "spec.version is 0.0.0, which stands for none", "state the version of the operator", "spec", "version")
	}
	if strings.TrimSpace(c.b.CSV.Spec.MinKubeVersion) == "" {
		c.csvAdvice(CodeHub, "spec.minKubeVersion is missing, so the operator is offered on clusters of any version", "state the oldest version of Kubernetes that it runs on", "spec")
	}
}

// This OpenShift removed the APIs that Kubernetes 1.22 removed.
const (
	goneMinor     = 22
	goneOpenShift = "4.9"
)

// community: an operator with an API that OpenShift 4.9 does not serve must keep
// clusters below 4.9, and be offered only for older ones.
func (c *checker) community(opts *SuiteOptions) {
	var first *Manifest
	count := 0
	for _, m := range c.b.Manifests {
		if r := removalOf(m); r != nil && r.minor == goneMinor {
			if count++; first == nil {
				first = m
			}
		}
	}
	if count == 0 {
		return
	}
	what := words.Count(count, "object is", "objects are") + " of APIs that Kubernetes 1.22 (OpenShift " + goneOpenShift + ") removed, such as " + first.subject()
	c.maxOpenShift(what)
	pos, subject := c.b.CSV.manifest.At(), c.b.subject()
	if opts.Dockerfile == nil {
		c.found.advice(CodeCommunity, pos, subject, what+"; which versions the image is offered for is not checked without its labels", "give the bundle's Dockerfile")
		return
	}
	if why := offeredTooFar(string(opts.Dockerfile)); why != "" {
		c.found.fault(CodeCommunity, pos, subject, what+", and "+why, "use the newer APIs, or offer it only for older versions: LABEL "+versionsLabel+`="v4.6-v4.8"`)
	}
}

// maxOpenShift: the CSV is annotated with the last version of OpenShift that has
// the APIs it needs.
func (c *checker) maxOpenShift(what string) {
	const key, property = "olm.properties", "olm.maxOpenShiftVersion"
	path := []any{"metadata", "annotations", key}
	hint := "use the newer APIs, or annotate " + key + `: '[{"type": "` + property + `", "value": "4.8"}]'`
	text, ok := c.b.CSV.Metadata.Annotations[key]
	if !ok || text == "" {
		c.csvFault(CodeCommunity, what+", and no annotation "+key+" keeps clusters from "+goneOpenShift, hint, path[:2]...)
		return
	}
	var list []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	if _, err := doc.Unmarshal([]byte(text), &list); err != nil {
		c.csvFault(CodeCommunity, "the annotation "+key+" is not a list of properties with a type and a string value", hint, path...)
		return
	}
	for _, p := range list {
		if p.Type != property {
			continue
		}
		v, err := semverx.ParseTolerant(p.Value)
		switch last, _ := semverx.ParseTolerant(goneOpenShift); {
		case err != nil:
			c.csvFault(CodeCommunity, property+": "+err.Error(), hint, path...)
		case v.Patch() != 0 || v.Prerelease() != "":
			c.csvAdvice(CodeCommunity, fmt.Sprintf("%s %q: only the major and minor version count", property, p.Value), hint, path...)
		case v.Compare(last) >= 0:
			c.csvFault(CodeCommunity, fmt.Sprintf("%s, and %s %q allows clusters that do not have them", what, property, p.Value), hint, path...)
		}
		return
	}
	c.csvFault(CodeCommunity, what+", and the annotation "+key+" has no "+property, hint, path...)
}

// versionsLabel says which versions of OpenShift an image is offered for.
const versionsLabel = "com.redhat.openshift.versions"

// offeredTooFar says why the labels of an image do not limit it to versions before
// 4.9, or returns "". A label is v4.6-v4.8, =v4.8, or v4.6, which means 4.6 and
// later.
func offeredTooFar(dockerfile string) string {
	for line := range strings.Lines(dockerfile) {
		_, value, ok := strings.Cut(line, versionsLabel)
		if !ok {
			continue
		}
		value = strings.NewReplacer(`"`, "", "'", "", "v", "").Replace(strings.TrimSpace(value))
		value, ok = strings.CutPrefix(value, "=")
		if !ok {
			return "the line " + strings.TrimSpace(line) + " sets nothing"
		}
		last, exactly := strings.CutPrefix(value, "=")
		if !exactly {
			if _, last, ok = strings.Cut(value, "-"); !ok {
				return fmt.Sprintf("its label %s allows %s and everything newer", versionsLabel, value)
			}
		}
		if err := beforeGone(last); err != nil {
			return fmt.Sprintf("its label %s: %s", versionsLabel, err)
		}
		return ""
	}
	return "it has no label " + versionsLabel
}

func beforeGone(version string) error {
	v, err := semverx.ParseTolerant(strings.TrimSpace(version))
	if err != nil {
		return err
	}
	if gone, _ := semverx.ParseTolerant(goneOpenShift); v.Compare(gone) >= 0 {
		return errors.New("it allows " + strings.TrimSpace(version))
	}
	return nil
}
