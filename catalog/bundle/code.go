package bundle

import "github.com/fairlead/fairlead/catalog"

// The codes of what keeps a directory from being a bundle, or makes tools
// leave a part of it out.
const (
	CodeNoManifests    catalog.Code = "bundle-no-manifests"     // there is no manifests directory, or nothing in it
	CodeNoMetadata     catalog.Code = "bundle-no-metadata"      // there is no metadata directory
	CodeNoAnnotations  catalog.Code = "bundle-no-annotations"   // no file of metadata holds annotations
	CodeNoCSV          catalog.Code = "bundle-no-csv"           // no manifest is a ClusterServiceVersion
	CodeSecondCSV      catalog.Code = "bundle-second-csv"       // a second ClusterServiceVersion
	CodeNoKind         catalog.Code = "bundle-no-kind"          // a manifest without apiVersion or kind
	CodeEmptyDocument  catalog.Code = "bundle-empty-document"   // a file begins with an empty document
	CodeMoreDocuments  catalog.Code = "bundle-more-documents"   // more than one document in a file: tools ignore the others
	CodeIgnoredFile    catalog.Code = "bundle-ignored-file"     // a file or directory that is ignored by tools
	CodeMisread        catalog.Code = "bundle-misread"          // a file of metadata that tools silently leave out
	CodeMediaType      catalog.Code = "bundle-media-type"       // the annotated media type does not match the content
	CodeAnnotation     catalog.Code = "bundle-annotation"       // an annotation is missing or has a wrong value
	CodeChannel        catalog.Code = "bundle-channel"          // the list of channels or the default channel is wrong
	CodeTooLarge       catalog.Code = "bundle-too-large"        // larger than a cluster can unpack, or nearly
	CodeUnsupported    catalog.Code = "bundle-unsupported-kind" // a kind of object that bundles must not hold
	CodeObjectMetadata catalog.Code = "bundle-object-metadata"  // metadata that an API server rejects
	CodeTruth          catalog.Code = "bundle-truth-value"      // text such as yes that YAML 1.1 reads as a boolean
)

// The codes of findings about dependencies and properties.
const (
	CodeDependency      catalog.Code = "bundle-dependency"       // a dependency without a valid meaning
	CodeDependencyRange catalog.Code = "bundle-dependency-range" // a dependency whose version range is wrong
	CodeConstraint      catalog.Code = "bundle-constraint"       // an olm.constraint that cannot be evaluated
	CodeProperty        catalog.Code = "bundle-property"         // a property without a valid meaning
	CodePropertyPackage catalog.Code = "bundle-property-package" // properties disagree about package or version
)

// The codes of findings about the ClusterServiceVersion.
const (
	CodeCSVName        catalog.Code = "csv-bad-name"     // a name that cannot be used
	CodeCSVField       catalog.Code = "csv-field"        // a required field is missing
	CodeCSVVersion     catalog.Code = "csv-version"      // a version that cannot be parsed
	CodeCSVRelease     catalog.Code = "csv-release"      // a release that cannot be parsed, or that is set together with substitutesFor
	CodeCSVKubeVersion catalog.Code = "csv-kube-version" // minKubeVersion is not a version
	CodeCSVSkipRange   catalog.Code = "csv-skip-range"   // olm.skipRange is not a range
	CodeCSVInstallMode catalog.Code = "csv-install-mode" // install modes are missing or listed twice, or none is supported
	CodeCSVExample     catalog.Code = "csv-example"      // alm-examples do not match the owned APIs
	CodeCSVAnnotation  catalog.Code = "csv-annotation"   // an annotation in the wrong case or place
	CodeCSVImage       catalog.Code = "csv-image"        // an image reference that cannot be parsed
	CodeCSVAPI         catalog.Code = "csv-api"          // owned APIs and CRDs of the bundle do not match
	CodeServiceAccount catalog.Code = "csv-account"      // a service account that the CSV creates as well
	CodeDeployment     catalog.Code = "csv-deployment"   // a deployment that cannot be created
	CodeWebhook        catalog.Code = "csv-webhook"      // a webhook that cannot be created
	CodeCRD            catalog.Code = "crd"              // a CRD that an API server rejects
	CodeRemovedAPI     catalog.Code = "removed-api"      // an API that Kubernetes removed
	CodeFeature        catalog.Code = "feature"          // an annotation about infrastructure features is wrong
	CodeTokenAuth      catalog.Code = "token-auth"       // token authentication is declared but cannot work
	CodePractice       catalog.Code = "practice"         // against the recommendations for authors
	CodeHub            catalog.Code = "hub"              // a requirement of OperatorHub
	CodeCommunity      catalog.Code = "community"        // a requirement of the community catalogs
	CodePlatform       catalog.Code = "platform"         // labels, images and affinity disagree on the supported platforms
	CodeObjectRule     catalog.Code = "object-rule"      // objects that endanger the cluster's stability
)
