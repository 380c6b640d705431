package check

import (
	"github.com/fairlead/fairlead/catalog"
)

// The codes of lints about packages and channels.
const (
	LintBundleNaming      catalog.Code = "bundle-naming"      // a bundle is not named <name>.v<version> as the documentation asks
	LintName              catalog.Code = "name"               // the name of a channel or bundle has characters that break some tools
	LintSameVersion       catalog.Code = "same-version"       // versions of bundles differ only in build metadata, which has no order
	LintDowngrade         catalog.Code = "downgrade"          // an update leads to a lower version
	LintUpdateCycle       catalog.Code = "update-cycle"       // updates form a cycle
	LintStuck             catalog.Code = "stuck-bundle"       // under the rules of OLM v0, no updates lead from an entry to the head
	LintSkipRange         catalog.Code = "skip-range-reach"   // a skipRange includes nothing, its own version, or later ones
	LintRedundantSkip     catalog.Code = "redundant-skip"     // an entry skips what it replaces, or itself
	LintDeprecatedDefault catalog.Code = "deprecated-default" // the default channel, or its head, is deprecated
	LintIcon              catalog.Code = "icon"               // the data of an icon is missing, is not an image of a known type, or is of another type than its mediatype
)

// The codes of lints about bundles.
const (
	LintProperty         catalog.Code = "odd-property"           // a property has no type or a null value, or is repeated where it must not be
	LintAPI              catalog.Code = "odd-api"                // an API lacks group, version or kind, or properties and descriptions of APIs differ
	LintDependency       catalog.Code = "unmet-dependency"       // nothing in the catalog provides what a bundle requires
	LintRequirement      catalog.Code = "odd-requirement"        // a range or constraint of a bundle's requirements is malformed
	LintMaxOpenShift     catalog.Code = "max-openshift"          // the highest OpenShift version is not a version, or there are several
	LintPayload          catalog.Code = "odd-payload"            // a bundle carries its payload twice, or manifests that cannot be read
	LintImageTag         catalog.Code = "image-tag"              // an image is named by a tag, which may move
	LintImageReuse       catalog.Code = "image-reuse"            // two bundles have the same image
	LintRelatedImage     catalog.Code = "empty-related-image"    // a related image has no reference
	LintCSVName          catalog.Code = "csv-name"               // the CSV of a bundle has another name than the bundle
	LintFeature          catalog.Code = "infrastructure-feature" // an annotation of an infrastructure feature is unknown or neither "true" nor "false"
	LintTokenPermissions catalog.Code = "token-permissions"      // a bundle declares token authentication without permissions for CredentialsRequests
)

// The codes of lints about documents of any schema.
const (
	LintField  catalog.Code = "unknown-field"   // a document has a field that is unknown for its schema
	LintSchema catalog.Code = "unknown-schema"  // a schema with a reserved olm.* name is unknown
	LintOrphan catalog.Code = "orphan-document" // a document of another schema belongs to a package that does not exist
)

// Lints returns the codes of all lints, sorted.
func Lints() []catalog.Code {
	return []catalog.Code{
		LintBundleNaming, LintCSVName, LintDeprecatedDefault, LintDowngrade, LintRelatedImage, LintIcon,
		LintImageReuse, LintImageTag, LintFeature, LintMaxOpenShift, LintName, LintAPI, LintPayload, LintProperty, LintRequirement,
		LintOrphan, LintRedundantSkip, LintSameVersion, LintSkipRange, LintStuck, LintTokenPermissions, LintField, LintSchema,
		LintDependency, LintUpdateCycle,
	}
}
