package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/words"
)

// oldFeatures is the annotation that listed features before each had its own.
const oldFeatures = "operators.openshift.io/infrastructure-features"

// Features returns the infrastructure features that the CSV is annotated with,
// by name.
func (c *CSV) Features() []catalog.Feature { return catalog.FeaturesOf(c.Metadata.Annotations) }

// Supports reports whether the CSV claims a feature.
func (c *CSV) Supports(feature string) bool {
	return c.Metadata.Annotations[catalog.FeaturePrefix+feature] == "true"
}

// TokenAuth is how far an operator is ready for one cloud's short-lived
// tokens, which the Cloud Credential Operator provides once the operator
// creates a CredentialsRequest.
type TokenAuth struct {
	Feature string // one of the FeatureTokenAuth constants of package catalog
	Cloud   string // "AWS STS", "Microsoft Entra Workload ID" or "GCP Workload Identity"
	Claimed bool   // the CSV is annotated with "true"
	// Since is the first version of OpenShift that provides the tokens.
	Since string
	// Inputs are the environment variables in which the operator's pods find
	// what the user gave when subscribing.
	Inputs []string
	// Missing are the verbs on credentialsrequests of
	// cloudcredential.openshift.io that the operator needs in all namespaces
	// and its clusterPermissions do not grant, in the order of Verbs.
	Missing []string
	// TokenMount reports whether a deployment mounts a service account token
	// for the audience openshift at /var/run/secrets/openshift/serviceaccount.
	// Only GCP needs it in the CSV: for others it is mounted by default.
	TokenMount bool
	// Ready is set when the CSV has everything that is required.
	Ready bool
}

// The resource that operators need permissions for to get tokens.
const (
	TokenAuthGroup    = "cloudcredential.openshift.io"
	TokenAuthResource = "credentialsrequests"
)

// TokenAuthVerbs returns the verbs that an operator needs on credentials
// requests, sorted.
func TokenAuthVerbs() []string {
	return []string{"create", "delete", "get", "list", "patch", "update", "watch"}
}

// tokenMount is where operators look for their service account token.
const tokenMount = "/var/run/secrets/openshift/serviceaccount"

// TokenAuth returns, for AWS, Azure and GCP in this order, what the CSV claims
// and has for authentication by token. The requirements are those of the
// operator documentation of OpenShift 4.19, chapter 5.
func (c *CSV) TokenAuth() []TokenAuth {
	missing := TokenAuthVerbs()
	for _, p := range c.Spec.Install.Spec.ClusterPermissions {
		for _, r := range p.Rules {
			missing = slices.DeleteFunc(missing, func(verb string) bool {
				return len(r.ResourceNames) == 0 && r.allows(TokenAuthGroup, TokenAuthResource, verb)
			})
		}
	}
	mounted := c.mountsToken()
	all := []TokenAuth{
		{Feature: catalog.FeatureTokenAuthAWS, Cloud: "AWS STS", Since: "4.14", Inputs: []string{"ROLEARN"}},
		{Feature: catalog.FeatureTokenAuthAzure, Cloud: "Microsoft Entra Workload ID", Since: "4.14.8", Inputs: []string{"CLIENTID", "TENANTID", "SUBSCRIPTIONID"}},
		{Feature: catalog.FeatureTokenAuthGCP, Cloud: "GCP Workload Identity", Since: "4.17", Inputs: []string{"AUDIENCE", "SERVICE_ACCOUNT_EMAIL"}},
	}
	for i := range all {
		t := &all[i]
		t.Claimed, t.Missing, t.TokenMount = c.Supports(t.Feature), slices.Clone(missing), mounted
		t.Ready = len(missing) == 0 && (mounted || t.Feature != catalog.FeatureTokenAuthGCP)
	}
	return all
}

// mountsToken reports whether a container sees a token for the audience
// openshift where operators look for it.
func (c *CSV) mountsToken() bool {
	for _, d := range c.Spec.Install.Spec.Deployments {
		pod := d.Spec.Template.Spec
		for _, con := range pod.Containers {
			for _, mount := range con.VolumeMounts {
				if strings.TrimSuffix(mount.MountPath, "/") != tokenMount {
					continue
				}
				for _, v := range pod.Volumes {
					if v.Name == mount.Name && v.holdsToken() {
						return true
					}
				}
			}
		}
	}
	return false
}

func (v *Volume) holdsToken() bool {
	return slices.ContainsFunc(v.Projected.Sources, func(s ProjectedSource) bool {
		return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == "openshift" && s.ServiceAccountToken.Path == "token"
	})
}

// featureLints reports claims that are misspelt or that the bundle does not
// fulfil.
func (c *checker) featureLints() {
	csv, features := c.b.CSV, catalog.KnownFeatures()
	for _, f := range csv.Features() {
		path := []any{"metadata", "annotations", catalog.FeaturePrefix + f.Name}
		if !f.Known {
			hint := "the features are " + strings.Join(features, ", ")
			if nearest := words.Nearest(f.Name, features); nearest != "" {
				hint = "did you mean " + nearest + "?"
			}
			c.csvAdvice(CodeFeature, fmt.Sprintf("no infrastructure feature is called %q", f.Name), hint, path...)
		}
		if f.Value != "true" && f.Value != "false" {
			c.csvAdvice(CodeFeature, fmt.Sprintf("the feature %s has the value %q, which counts as false", f.Name, f.Value), `write "true" or "false"`, path...)
		}
	}
	c.oldFeatures()
	for _, t := range csv.TokenAuth() {
		c.tokenAuth(t)
	}
	if csv.Supports(catalog.FeatureDisconnected) {
		c.disconnected()
	}
}

// oldNames are the names that features had in the annotation that listed them.
var oldNames = map[string]string{
	"disconnected": catalog.FeatureDisconnected, "proxy-aware": catalog.FeatureProxy, "fips": catalog.FeatureFIPS, "fipsmode": catalog.FeatureFIPS,
	"cnf": catalog.FeatureCNF, "cni": catalog.FeatureCNI, "csi": catalog.FeatureCSI, "tls-profiles": catalog.FeatureTLSProfiles,
}

func (c *checker) oldFeatures() {
	text, ok := c.b.CSV.Metadata.Annotations[oldFeatures]
	if !ok {
		return
	}
	path := []any{"metadata", "annotations", oldFeatures}
	var list []string
	if json.Unmarshal([]byte(text), &list) != nil {
		c.csvAdvice(CodeFeature, "the annotation "+oldFeatures+" is not a JSON list of names: "+embedded(text, &list), "use one annotation for each feature, as in "+catalog.FeaturePrefix+catalog.FeatureDisconnected, path...)
		return
	}
	for _, name := range list {
		now := oldNames[strings.ToLower(name)]
		if _, has := c.b.CSV.Metadata.Annotations[catalog.FeaturePrefix+now]; now == "" || !has {
			c.csvAdvice(CodeFeature, fmt.Sprintf("the feature %q is only in the annotation %s, which newer consoles do not read", name, oldFeatures),
				"annotate "+catalog.FeaturePrefix+cmp.Or(now, "NAME")+`: "true"`, path...)
		}
	}
}

func (c *checker) tokenAuth(t TokenAuth) {
	if !t.Claimed || t.Ready {
		return
	}
	path := []any{"metadata", "annotations", catalog.FeaturePrefix + t.Feature}
	if len(t.Missing) > 0 {
		c.csvAdvice(CodeTokenAuth, fmt.Sprintf("%s is claimed, but clusterPermissions do not allow to %s %s.%s in all namespaces",
			t.Cloud, strings.Join(t.Missing, ", "), TokenAuthResource, TokenAuthGroup),
			"add a rule for them to spec.install.spec.clusterPermissions", path...)
	}
	if t.Feature == catalog.FeatureTokenAuthGCP && !t.TokenMount {
		c.csvAdvice(CodeTokenAuth, fmt.Sprintf("%s is claimed, but no deployment mounts a service account token for the audience openshift at %s", t.Cloud, tokenMount),
			"add a projected volume with serviceAccountToken (path token, audience openshift) and mount it there", path...)
	}
}

// disconnected: without the internet, images come from mirrors, which are
// found by digest and must be listed.
func (c *checker) disconnected() {
	csv := c.b.CSV
	for i, r := range csv.Spec.RelatedImages {
		if ref, err := catalog.ParseImageRef(r.Image); err == nil && !ref.Pinned() {
			c.csvAdvice(CodeFeature, fmt.Sprintf("the feature disconnected is claimed, but the related image %q is not pinned by digest", r.Image),
				"write it as in name@sha256:...", "spec", "relatedImages", i, "image")
		}
	}
	c.eachContainer(func(what string, con Container, path []any) {
		if !slices.ContainsFunc(csv.Spec.RelatedImages, func(r catalog.RelatedImage) bool { return r.Image == con.Image }) {
			c.csvAdvice(CodeFeature, fmt.Sprintf("the feature disconnected is claimed, but the image of %s is not in spec.relatedImages", what),
				"list it, so that it is mirrored", append(path, "image")...)
		}
	})
}
