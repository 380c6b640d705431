// Package extension is what OLM v1 does with one bundle: which one is asked for
// ([ClusterExtension.Question], answered by [olm.Resolver.ResolveExtension]), what
// objects it becomes in a namespace ([Bundle.Render]), and whether they may be
// applied ([Preflight]): no CRD in use breaks, and the service account may make
// every object. Nothing here applies anything; an engine that does is not part of
// it yet.
package extension
