// Package bundle reads registry+v1 bundle directories, judges them, and
// renders them to olm.bundle documents of a catalog.
//
// A bundle is one version of an operator: a directory manifests with a
// ClusterServiceVersion (CSV), the CustomResourceDefinitions that it owns and
// other objects, and a directory metadata with annotations, dependencies and
// properties. [Read] takes it in from any [io/fs.FS]. Everything in it has a
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
// The reference, opm, passes over much without a word: documents after the
// first of a file, files that it cannot parse, a dependencies file of a wrong
// form. [Bundle.Render] gives the document that opm gives, so it passes over
// the same; [Bundle.Validate] tells every such loss. Where opm's answer rests
// on chance or on content that cannot be meant (a key that is there twice, a
// bundle without a package), Render refuses.
//
// YAML is read as YAML 1.1, as Kubernetes' tools read it: yes, on and y are
// truth values. [Bundle.Lint] lists such words.
//
// # Judging
//
// Validate tells faults: by the rules of registries, of opm alpha bundle
// validate and, with [ValidateOptions.V1], of the newer installer. Lint tells
// advice. Every finding is a [catalog.Diagnostic] with a stable code, listed
// as constants below, and a hint that fixes it.
//
// # Facts for authors
//
// [CSV.Features] and [CSV.TokenAuth] answer which infrastructure features a
// CSV claims, and what is missing for authentication by short-lived tokens of
// AWS, Azure and GCP.
package bundle
