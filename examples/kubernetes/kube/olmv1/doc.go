// Package olmv1 is for operator-controller, OLM v1's own controller: [Resolver] is a
// Resolver of its package resolve, and [Preflight] a Preflight of its package applier,
// both as of df2c201d. So operator-controller can choose bundles, and check what it is
// about to apply, as fairlead does, and keep everything else.
//
// The types of operator-controller and operator-registry are type parameters; their
// values are passed as the JSON that both sides use. So none of them is linked here,
// and one adapter fits every version with these JSON forms.
//
//	r := &olmv1.Resolver[ocv1.ClusterExtension, ocv1.BundleMetadata, declcfg.Bundle, declcfg.VersionRelease, declcfg.Deprecation]{
//		Catalogs: catalogs, Version: bundleutil.GetVersionAndRelease, // the latter is given a pointer
//	}
//	var _ resolve.Resolver = r
package olmv1
