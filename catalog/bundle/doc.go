// Package bundle reads registry+v1 bundle directories, validates them, and
// renders them to olm.bundle documents of a catalog.
//
// A bundle is one version of an operator: a directory manifests with a
// ClusterServiceVersion (CSV), the CustomResourceDefinitions that it owns and
// other objects, and a directory metadata with annotations, dependencies and
// properties. [Read] reads it from any [io/fs.FS]. Everything in it has a
// position: file, line and column.
//
//	b, err := bundle.Read(os.DirFS("my-operator/1.2.0"), nil)
//	...
//	for _, d := range b.Validate(nil) {
//		fmt.Println(d) // manifests/csv.yaml:12:3: ...
//	}
//	doc, err := b.Render(&bundle.RenderOptions{Image: "quay.io/example/{{.Package}}:{{.Version}}"})
//
// # Reading as catalog tools do
//
// The reference, opm, silently ignores a lot: documents after the first in a file, files that it
// cannot parse, a malformed dependencies file. [Bundle.Render] returns the same document as opm,
// so it ignores the same; [Bundle.Validate] reports every such loss. Where opm's result is random
// or rests on an obvious mistake (a duplicate key, a bundle without a package), Render returns an
// error.
//
// YAML is read as YAML 1.1, as Kubernetes' tools read it: yes, on and y are
// booleans. [Bundle.Lint] lists such words.
//
// # Validation
//
// Validate reports errors by the rules of registries, of opm alpha bundle validate and, with
// [ValidateOptions.V1], of OLM v1's operator-controller. Lint gives advice. Every finding is a
// [catalog.Diagnostic] with a stable code, listed as constants below, and a hint on how to fix it.
//
// # Facts for authors
//
// [CSV.Features] lists the infrastructure features that a CSV claims, and
// [CSV.TokenAuth] what it lacks to authenticate with short-lived tokens of AWS,
// Azure and GCP.
package bundle
