package bundle

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// lints are the rules that only concern a bundle's quality. Rules that report
// both faults and advice are among rules.
var lints = []rule{
	{csv: true, check: (*checker).featureLints},
	{csv: true, check: (*checker).nameLints},
	{csv: true, check: (*checker).practices},
	{csv: true, check: (*checker).hubPeople},
	{csv: true, check: (*checker).hubIcon},
	{csv: true, check: (*checker).hubAnnotations},
	{csv: true, check: (*checker).permissionLints},
	{check: (*checker).objectLints},
	{check: (*checker).channelLints},
}

var versionedName = regexp.MustCompile(`^(.+)\.v([0-9].*)$`)

// nameLints: a CSV is named after operator and version.
func (c *checker) nameLints() {
	name, version := c.b.Name(), c.b.Version()
	if name == "" || c.b.Release() != "" {
		return
	}
	m := versionedName.FindStringSubmatch(name)
	if m == nil {
		c.csvAdvice(CodePractice, fmt.Sprintf("the name %q does not end in .v and the version", name), "name it as in memcached-operator.v0.0.1", "metadata", "name")
		return
	}
	if _, err := semverx.Parse(version); err == nil && m[2] != version && m[2] != strings.ReplaceAll(version, "+", "-") {
		c.csvAdvice(CodePractice, fmt.Sprintf("the name %q ends in version %s, and spec.version is %s", name, m[2], version), "make the two agree", "metadata", "name")
	}
}

// practices: containers request what they use, and owned APIs are described.
func (c *checker) practices() {
	c.eachContainer(func(what string, con Container, path []any) {
		for _, resource := range []string{"cpu", "memory"} {
			if _, ok := con.Resources.Requests[resource]; !ok {
				c.csvAdvice(CodePractice, fmt.Sprintf("%s does not request %s", what, resource), "state resources.requests."+resource+", so that the scheduler and quotas can count it",
					append(path, "resources", "requests")...)
			}
		}
	})
	crds := c.b.CSV.Spec.CRDs
	for _, kind := range []struct {
		key  string
		list []CRDDescription
	}{{"owned", crds.Owned}, {"required", crds.Required}} {
		for i, d := range kind.list {
			if d.Description == "" {
				c.csvAdvice(CodePractice, fmt.Sprintf("the %s CRD %s has no description", kind.key, d.Name), "describe in a sentence what it is for",
					"spec", "customresourcedefinitions", kind.key, i)
			}
		}
	}
}

// mailAddress matches addresses of mail, with or without a name before them, well
// enough to find slips.
var mailAddress = regexp.MustCompile(`^(?:[^<>@]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$`)

// hubFinding adds what OperatorHub asks for: advice, unless its suite is being
// checked.
func (c *checker) hubFinding(message, hint string, path ...any) {
	c.csvFault(CodeHub, message, hint, path...).lint = !c.hub
}

// hubPeople: users see who provides an operator and where to read more.
func (c *checker) hubPeople() {
	spec := &c.b.CSV.Spec
	if strings.TrimSpace(spec.Provider.Name) == "" {
		c.hubFinding("spec.provider.name is missing", "name who publishes the operator", "spec", "provider")
	}
	for i, m := range spec.Maintainers {
		path := []any{"spec", "maintainers", i}
		if m.Name == "" || m.Email == "" {
			c.hubFinding(fmt.Sprintf("spec.maintainers[%d] lacks name or email", i), "state both", path...)
		} else if !mailAddress.MatchString(m.Email) {
			c.hubFinding(fmt.Sprintf("spec.maintainers[%d]: %q is not an e-mail address", i, m.Email), "write name@example.com", append(path, "email")...)
		}
	}
	for i, l := range spec.Links {
		path := []any{"spec", "links", i}
		if l.Name == "" || l.URL == "" {
			c.hubFinding(fmt.Sprintf("spec.links[%d] lacks name or url", i), "state both", path...)
		} else if _, err := url.ParseRequestURI(l.URL); err != nil {
			c.hubFinding(fmt.Sprintf("spec.links[%d]: %q is not a URL", i, l.URL), "write a URL that begins with https://", append(path, "url")...)
		}
	}
}

var iconTypes = []string{"image/gif", "image/jpeg", "image/png", "image/svg+xml"}

func (c *checker) hubIcon() {
	icons := c.b.CSV.Spec.Icon
	path := []any{"spec", "icon"}
	switch len(icons) {
	case 0:
		c.csvAdvice(CodeHub, "spec.icon is missing", "add an image in base64", path...)
		return
	case 1:
	default:
		c.hubFinding("spec.icon has more than one image, and consoles show only the first", "keep one", append(path, 1)...)
	}
	icon := icons[0]
	if icon.Data == "" || icon.MediaType == "" {
		c.hubFinding("spec.icon[0] lacks base64data or mediatype", "state both", append(path, 0)...)
		return
	}
	if !slices.Contains(iconTypes, icon.MediaType) {
		c.hubFinding(fmt.Sprintf("spec.icon[0]: consoles do not show images of type %q", icon.MediaType), "use one of "+strings.Join(iconTypes, ", "), append(path, 0, "mediatype")...)
	}
	if _, err := base64.StdEncoding.DecodeString(icon.Data); err != nil {
		c.csvAdvice(CodeHub, "spec.icon[0].base64data is not base64: "+err.Error(), "encode the image again", append(path, 0, "base64data")...)
	}
}

// The values of two annotations of the CSV that OperatorHub knows.
var (
	capabilities = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}
	categories   = []string{
		"AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Developer Tools", "Database", "Integration & Delivery",
		"Logging & Tracing", "Monitoring", "Modernization & Migration", "Networking", "OpenShift Optional", "Security", "Storage",
		"Streaming & Messaging", "Observability",
	}
)

func (c *checker) hubAnnotations() {
	annotations := c.b.CSV.Metadata.Annotations
	unknown := func(key, value string, known []string) {
		hint := "use one of " + strings.Join(known, ", ")
		if nearest := words.Nearest(value, known); nearest != "" {
			hint = "did you mean " + nearest + "?"
		}
		c.hubFinding(fmt.Sprintf("the annotation %s: %q is not known", key, value), hint, "metadata", "annotations", key)
	}
	if level, ok := annotations["capabilities"]; ok && !slices.Contains(capabilities, level) {
		unknown("capabilities", level, capabilities)
	}
	if list, ok := annotations["categories"]; ok {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); !slices.Contains(categories, name) {
				unknown("categories", name, categories)
			}
		}
	}
}

// permissionLints: operators leave CRDs to OLM.
func (c *checker) permissionLints() {
	c.eachRule(func(r PolicyRule, path []any) {
		for _, verb := range []string{"create", "patch"} {
			if slices.Contains(r.APIGroups, "apiextensions.k8s.io") && r.allows("apiextensions.k8s.io", "customresourcedefinitions", verb) {
				c.csvAdvice(CodePractice, "the operator may "+verb+" CRDs, which OLM manages", "ship the operator's CRDs in the bundle, and require those of other operators", path...)
				return
			}
		}
	})
}

// defaultSCCs are the security context constraints that every OpenShift
// cluster has.
var defaultSCCs = []string{"anyuid", "hostaccess", "hostmount-anyuid", "hostnetwork", "node-exporter", "nonroot", "privileged", "restricted"}

// objectLints: objects of a bundle must not endanger the cluster.
func (c *checker) objectLints() {
	for _, m := range c.b.Manifests {
		switch m.Kind {
		case "PodDisruptionBudget":
			c.budget(m)
		case "PriorityClass":
			if v := m.src.tree.Get("globalDefault"); v != nil && v.Kind == 't' {
				c.objectAdvice(m, "the priority class makes itself the default for all pods in the cluster", "set globalDefault: false", "globalDefault")
			}
		case "Role", "ClusterRole":
			c.role(m)
		}
	}
}

func (c *checker) objectAdvice(m *Manifest, message, hint string, path ...any) {
	c.found.advice(CodeObjectRule, m.At(path...), m.subject(), message, hint)
}

func (c *checker) budget(m *Manifest) {
	text := func(field string) string {
		v := m.src.tree.Get("spec", field)
		if s, ok := v.Text(); ok {
			return s
		}
		if v != nil && v.Kind == '0' {
			return string(v.Raw)
		}
		return ""
	}
	if got := text("maxUnavailable"); got == "0" || got == "0%" {
		c.objectAdvice(m, "with maxUnavailable "+got+" no node that runs the pods can ever be drained", "allow at least one", "spec", "maxUnavailable")
	}
	if got := text("minAvailable"); got == "100%" {
		c.objectAdvice(m, "with minAvailable 100% no node that runs the pods can ever be drained", "allow at least one pod to be down", "spec", "minAvailable")
	}
}

func (c *checker) role(m *Manifest) {
	var role struct {
		Rules []PolicyRule `json:"rules"`
	}
	doc.Decode(m.src.tree, &role, 0)
	for i, r := range role.Rules {
		any := func(group, resource string, verbs ...string) bool {
			return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
				slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(r.Verbs, v) })
		}
		if any("policy", "poddisruptionbudgets", "*", "create", "update", "patch") {
			c.objectAdvice(m, "the role can write pod disruption budgets, which can keep nodes from being drained", "ship pod disruption budgets in the bundle instead", "rules", i)
		}
		if any("security.openshift.io", "securitycontextconstraints", "*", "delete", "update", "patch") &&
			slices.ContainsFunc(r.ResourceNames, func(n string) bool { return slices.Contains(defaultSCCs, n) }) {
			c.objectAdvice(m, "the role can change security context constraints that the whole cluster relies on", "create your own constraints", "rules", i)
		}
	}
}

// channelLints: the name of a channel says how mature it is.
func (c *checker) channelLints() {
	for _, name := range c.b.Channels() {
		if name = strings.TrimSpace(name); name != "" && !slices.ContainsFunc([]string{"candidate", "fast", "stable"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			c.found.advice(CodePractice, c.b.Annotations.At(AnnotationChannels), c.b.subject(),
				fmt.Sprintf("the name of channel %q does not begin with candidate, fast or stable", name), "name it after its maturity, as in stable-v1")
		}
	}
}
