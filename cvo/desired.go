package cvo

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/semverx"
)

// invalid is an invalid field of a ClusterVersion, in the words of an API server.
func invalid(path, value, message string) *fairlead.FieldError {
	if value != "" {
		message = fmt.Sprintf("Invalid value: %q: %s", value, message)
	}
	return &fairlead.FieldError{Path: path, Problem: message}
}

// uuid is a UUID of version 4.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`)

// Validate checks the request: upstream, clusterID, overrides, capabilities and
// desiredUpdate, in this order. An invalid field has no effect, except that a capability
// that does not exist counts as enabled, as in the reference, and takes effect when a
// release introduces it. known are the existing capabilities; nil means
// KnownCapabilities.
func Validate(cv *ClusterVersion, known *CapabilitySets) fairlead.FieldErrors {
	var found fairlead.FieldErrors
	report := func(field, value, message string) {
		found = append(found, invalid(field, value, message))
	}
	if u := cv.Spec.Upstream; u != "" {
		if parsed, err := url.Parse(u); err != nil || !parsed.IsAbs() {
			report("spec.upstream", u, "must be a valid URL or empty")
		}
	}
	if id := cv.Spec.ClusterID; id != "" && !uuid.MatchString(id) {
		report("spec.clusterID", id, "must be an RFC4122-variant UUID of version 4")
	}
	for i, o := range cv.Spec.Overrides {
		if o.Kind == "" || o.Name == "" {
			report(fmt.Sprintf("spec.overrides[%d]", i), "", "needs a kind and a name")
		}
	}
	if c := cv.Spec.Capabilities; c != nil {
		if known == nil {
			known = KnownCapabilities()
		}
		found = append(found, known.validate(c)...)
	}
	return append(found, validateUpdate(cv)...)
}

// validate reports sets and capabilities that do not exist.
func (k *CapabilitySets) validate(c *CapabilitiesSpec) fairlead.FieldErrors {
	var found fairlead.FieldErrors
	if set := c.BaselineCapabilitySet; set != "" && set != "vCurrent" && set != "None" && k.Sets[set] == nil {
		sets := slices.Sorted(maps.Keys(k.Sets))
		found = append(found, invalid("spec.capabilities.baselineCapabilitySet", set, "there is no such set of capabilities; there are "+list(append(sets, "None", "vCurrent"))))
	}
	for i, name := range c.AdditionalEnabledCapabilities {
		if !slices.Contains(k.Known, name) {
			field := fmt.Sprintf("spec.capabilities.additionalEnabledCapabilities[%d]", i)
			found = append(found, invalid(field, name, "there is no such capability; there are "+list(k.Known)))
		}
	}
	return found
}

func validateUpdate(cv *ClusterVersion) fairlead.FieldErrors {
	u := cv.Spec.DesiredUpdate
	if u == nil {
		return nil
	}
	const field = "spec.desiredUpdate"
	if u.Architecture != "" && u.Architecture != graph.ArchitectureMulti {
		return fairlead.FieldErrors{invalid(field+".architecture", u.Architecture, `must be "Multi" or empty`)}
	}
	if u.Version == "" && u.Image == "" {
		if u.Architecture != "" {
			return fairlead.FieldErrors{invalid(field+".version", "", "must be given together with an architecture")}
		}
		if len(u.AcceptRisks) == 0 {
			return fairlead.FieldErrors{invalid(field, "", "needs a version, an image, or risks to accept")}
		}
		return nil
	}
	if u.Architecture != "" && u.Image != "" {
		return fairlead.FieldErrors{invalid(field+".image", u.Image, "cannot be given together with an architecture; give the version")}
	}
	if u.Version != "" {
		if _, err := semverx.Parse(u.Version); err != nil {
			return fairlead.FieldErrors{invalid(field+".version", u.Version, err.Error())}
		}
	}
	if u.Image != "" {
		return nil
	}
	if migrates(cv) && u.Version != cv.Status.Desired.Version {
		return fairlead.FieldErrors{invalid(field+".version", u.Version, fmt.Sprintf("an update changes the version or the architecture, not both; request %s to change the architecture, and another version after that", cv.Status.Desired.Version))}
	}
	switch found := candidates(cv, u.Version); {
	case len(found) == 0 && conditionalOf(cv, u.Version) != nil:
		return fairlead.FieldErrors{invalid(field+".version", u.Version, conditionalOf(cv, u.Version).refusal(cv))}
	case len(found) == 0:
		return fairlead.FieldErrors{invalid(field+".version", u.Version, "when image is empty the update must be an available update, one from the history, or the current version")}
	case len(found) > 1:
		return fairlead.FieldErrors{invalid(field+".version", u.Version, "there are multiple possible payloads for this version, specify the exact image")}
	}
	return nil
}

// conditionalOf returns the conditional update to a version, or nil.
func conditionalOf(cv *ClusterVersion, version string) *ConditionalUpdate {
	i := slices.IndexFunc(cv.Status.ConditionalUpdates, func(c ConditionalUpdate) bool { return c.Release.Version == version })
	if i < 0 {
		return nil
	}
	return &cv.Status.ConditionalUpdates[i]
}

// refusal says why an update that is not recommended cannot be requested by its version,
// and how to get it. A status that does not list risks separately is from a definition
// without acceptRisks (see gateAcceptRisks), which is not advised then.
func (c *ConditionalUpdate) refusal(cv *ClusterVersion) string {
	var names []string
	listed := cv.Status.ConditionalUpdateRisks
	for _, r := range c.Risks {
		k := slices.IndexFunc(listed, func(o ConditionalUpdateRisk) bool { return o.Name == r.Name })
		if k >= 0 {
			if a := fairlead.FindCondition(listed[k].Conditions, "Applies"); a != nil && a.Status == False {
				continue
			}
		}
		if !slices.Contains(accepts(cv), r.Name) {
			names = append(names, r.Name)
		}
	}
	if r := fairlead.FindCondition(c.Conditions, "Recommended"); len(names) == 0 || len(listed) == 0 && (r == nil || r.Status != False) {
		return "it is a conditional update, and it is not known yet whether it is recommended; wait for that, or request its image " + c.Release.Image
	}
	risks, accept := strings.Join(names, ", "), ""
	if len(listed) > 0 {
		accept = fmt.Sprintf("name %s in spec.desiredUpdate.acceptRisks, or ", risks)
	}
	return fmt.Sprintf("it is a conditional update that is not recommended for this cluster, because of %s; to take it anyway, %srequest its image %s", risks, accept, c.Release.Image)
}

// migrates reports whether a cluster is requested to change from one architecture to
// several.
func migrates(cv *ClusterVersion) bool {
	u := cv.Spec.DesiredUpdate
	return u != nil && u.Architecture == graph.ArchitectureMulti && cv.Status.Desired.Architecture != graph.ArchitectureMulti
}

// candidates returns the releases that a version may mean, one for each image: the
// current one, available updates, conditional updates that are recommended, and releases
// from the history. A later source is used only if the earlier ones have none. If the
// architecture is to change, the available update comes before the current release, which
// has the same version; until the service offers it, the cluster stays as it is.
func candidates(cv *ClusterVersion, version string) []Release {
	var found []Release
	add := func(r Release) {
		if r.Version == version && r.Image != "" && !slices.ContainsFunc(found, func(f Release) bool { return f.Image == r.Image }) {
			found = append(found, r)
		}
	}
	if migrates(cv) {
		for _, r := range cv.Status.AvailableUpdates {
			add(r)
		}
		if len(found) > 0 {
			return found
		}
	}
	add(cv.Status.Desired)
	if len(found) > 0 {
		return found
	}
	for _, r := range cv.Status.AvailableUpdates {
		add(r)
	}
	for _, c := range cv.Status.ConditionalUpdates {
		if i := slices.IndexFunc(c.Conditions, func(c Condition) bool { return c.Type == "Recommended" }); i >= 0 && c.Conditions[i].Status == True {
			add(c.Release)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, h := range cv.Status.History {
		add(Release{Version: h.Version, Image: h.Image})
	}
	return found
}

// Desire returns the release that a cluster should run, and whether the administrator
// forces it. current is the release to run if no other is requested. A request that
// Validate refuses has no effect.
func Desire(cv *ClusterVersion, current Release) (r Release, force bool) {
	u := cv.Spec.DesiredUpdate
	if !u.asks() || len(validateUpdate(cv)) > 0 {
		return current, false
	}
	if u.Image != "" {
		r = Release{Version: u.Version, Image: u.Image}
		for _, known := range slices.Concat([]Release{current}, cv.Status.AvailableUpdates, conditional(cv)) {
			if known.Image == u.Image && (u.Version == "" || known.Version == u.Version) {
				r = known
				break
			}
		}
		return r, u.Force
	}
	return candidates(cv, u.Version)[0], u.Force
}

// asks reports whether an update requests a release, rather than only accepting risks.
func (u *Update) asks() bool { return u != nil && (u.Version != "" || u.Image != "") }

func conditional(cv *ClusterVersion) []Release {
	var list []Release
	for _, c := range cv.Status.ConditionalUpdates {
		list = append(list, c.Release)
	}
	return list
}
