package check

import (
	"github.com/fairlead/fairlead/catalog"
)

// The codes of findings about packages.
const (
	CodePackageName     catalog.Code = "package-name"     // a package has no name, or one that is not a DNS label
	CodeDuplicate       catalog.Code = "duplicate"        // a package, channel, channel entry, bundle or deprecation is defined twice
	CodeUnknownPackage  catalog.Code = "unknown-package"  // a channel, bundle or deprecation belongs to a package that the catalog does not have
	CodeNoChannel       catalog.Code = "no-channel"       // a package has no channel
	CodeDefaultChannel  catalog.Code = "default-channel"  // a package's default channel is not set or does not exist
	CodeVersionConflict catalog.Code = "version-conflict" // two bundles of a package have the same version
)

// The codes of findings about channels and the updates that they offer.
const (
	CodeChannelName    catalog.Code = "channel-name"    // a channel has no name
	CodeEmptyChannel   catalog.Code = "empty-channel"   // a channel has no entry
	CodeEntryName      catalog.Code = "entry-name"      // a channel entry has no name
	CodeMissingBundle  catalog.Code = "missing-bundle"  // a channel entry names a bundle that the package does not have
	CodeNoHead         catalog.Code = "no-head"         // every entry of a channel is replaced or skipped by another
	CodeMultipleHeads  catalog.Code = "multiple-heads"  // more than one entry of a channel is neither replaced nor skipped
	CodeReplacesCycle  catalog.Code = "replaces-cycle"  // the chain of replaces is a cycle
	CodeStrandedBundle catalog.Code = "stranded-bundle" // no chain of updates leads from an entry to the channel's head
	CodeEmptySkip      catalog.Code = "empty-skip"      // an entry skips a bundle without a name
	CodeSkipRange      catalog.Code = "skip-range"      // a skipRange is not a range of versions
)

// The codes of findings about bundles.
const (
	CodeNotInChannel    catalog.Code = "not-in-channel"   // a bundle is in no channel of its package
	CodeProperty        catalog.Code = "property"         // a property's value is missing or has the wrong form
	CodePackageProperty catalog.Code = "package-property" // a bundle does not have exactly one olm.package property, or has one of another package
	CodeImage           catalog.Code = "image"            // a bundle has neither image nor manifests, or an image reference is malformed
	CodeVersion         catalog.Code = "version"          // a bundle's version is not a semantic version
	CodeRelease         catalog.Code = "release"          // a bundle's release is malformed or does not fit its version
	CodeBundleName      catalog.Code = "bundle-name"      // a bundle with a release is not named after package, version and release
	CodeObjectName      catalog.Code = "object-name"      // a bundle, channel or channel entry has a name that no cluster accepts
)

// The codes of findings about deprecations.
const (
	CodeDeprecation catalog.Code = "deprecation" // a deprecation has no message, or refers to nothing, or to something unknown or missing
)
