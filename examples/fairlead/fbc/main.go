// Package fbc is the verb catalog: it judges, lists, draws, compares, filters,
// merges, converts and begins file-based catalogs of operators.
//
// A catalog is a directory, a .tar.gz of one, an OCI image layout whose image
// holds a catalog, or one file of JSON or YAML documents, such as the JSON lines
// of a catalog service. Flags may stand before or after other arguments.
//
// The exit status is 0 if all is well, 1 if there are findings, and 2 if the
// arguments are wrong or something cannot be read.
package fbc

import (
	"io"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// call is a command with its arguments, and what it has opened.
type call struct {
	*args.Call
	opened  []io.Closer // to be closed when the command ends
	lenient *bool       // read bundles that have keys twice
}

// with makes the commands of this program those of an args.Program.
func with(do func(*call) error) func(*args.Call) error {
	return func(a *args.Call) error {
		c := &call{Call: a}
		err := do(c)
		for _, o := range c.opened {
			if failed := o.Close(); err == nil {
				err = failed
			}
		}
		return err
	}
}

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "catalog",
		About: "validate, list, draw, compare, edit and release file-based catalogs of operators",
		Help: "PATH is a directory, a .tar.gz of one, an OCI image layout, or a file of JSON or YAML documents.\n" +
			"exit status: 0 all is well, 1 findings, 2 bad arguments or input",
		Examples: `fairlead catalog validate PATH -lint all
			fairlead catalog graph PATH etcd -o svg >etcd.svg
			fairlead catalog path PATH etcd 0.9.0 0.9.4
			fairlead catalog release OLD NEW -o markdown`,
		Commands: []*args.Command{
			{Name: "validate", Usage: "PATH [-o text|json|yaml|sarif|opm] [-lint all|CODE,...] [-fix] [-n]", About: "judge a catalog by the rules that all readers rely on; -fix first applies the hints that leave no choice, -n shows what that would change; a catalog without any document is the wrong directory, and bad input", Run: with(validate)},
			{Name: "list", Complete: whatIsListed, Usage: "packages|channels|bundles|sizes PATH [PACKAGE]", About: "list what a catalog has, or what its packages cost in bytes", Run: with(list)},
			{Name: "graph", Complete: packagesThen, Usage: "PATH PACKAGE [-o mermaid|dot|svg] [-channel NAME]...", About: "draw the updates of a package", Run: with(graph)},
			{Name: "path", Complete: packagesThen, Usage: "PATH PACKAGE FROM TO [-channel NAME] [-rules v0|v1]", About: "find the updates from one bundle or version to another by the rules of OLM v0 or v1, with as few changes of channel as possible, or say why there are none", Run: with(path)},
			{Name: "diff", Usage: "OLD NEW [-o text|json|yaml] [-fix] [-n]", About: "compare two catalogs; findings are users whom the new one leaves without updates; -fix edits the new one so that they go on, -n shows the edit", Run: with(compare)},
			{Name: "release", Usage: "OLD NEW [-o markdown|json|yaml|sarif]", About: "judge a new version of a catalog: is it valid, and does every user of the old one still get updates, by the rules of OLM v0 and v1; with the edit that helps", Run: with(releaseGate)},
			{Name: "filter", Usage: "PATH [-package NAME[/CHANNEL,...][@RANGE]]... [-newest N] [-default NAME=CHANNEL]... [-no-dependencies] [-o json|yaml|jsonl] [-to DIR]", About: "take a part of a catalog, with what it requires; the range is like \">=1.0.0 <2.0.0\"; -newest 1 keeps heads alone", Run: with(filter)},
			{Name: "merge", Usage: "PATH... [-prefer first|last] [-base PATH [-n]] [-o json|yaml|jsonl] [-to DIR]", About: "join catalogs; findings are things of which they say different; with -base, bring into the first of two what the second changed of the base", Run: with(merge)},
			{Name: "convert", Usage: "PATH [-o json|yaml|jsonl] [-csv-metadata] [-to DIR]", About: "write a catalog in another format, or with olm.csv.metadata instead of manifests", Run: with(convert)},
			{Name: "render", Usage: "BUNDLE [-image TEMPLATE] [-csv-metadata] [-lenient]", About: "make an olm.bundle document of a bundle, which is a directory, an archive or an OCI image layout; the image is a template over {{.Package}}, {{.Name}} and {{.Version}}", Run: with(render)},
			{Name: "template", Usage: "[semver|basic|substitutes] FILE [-bundle REFERENCE=BUNDLE]... [-catalog PATH] [-image TEMPLATE] [-csv-metadata] [-lenient] [-o json|yaml]", About: "expand a template; its bundles are in a catalog that is there, or directories, archives or image layouts, named by -bundle or seen from FILE", Run: with(expand)},
			{Name: "untemplate", Usage: "PATH [-o json|yaml]", About: "turn a catalog back into a basic template", Run: with(untemplate)},
			bundles(),
			{Name: "packagemanifest", Complete: packagesThen, Usage: "PATH [PACKAGE] [-name NAME] [-namespace NS] [-o text|json|yaml]", About: "show packages as kubectl get packagemanifest does on a cluster that has the catalog by that name; findings are channels that a cluster does not show", Run: with(packageManifest)},
			{Name: "serve", Usage: "PATH [-addr ADDRESS] [-name NAME] [-namespace NS]", About: "serve a catalog by the API of catalogd, and its packages by that of OLM's package server as a catalog of that name", Run: with(serveCatalog)},
			{Name: "add", Usage: "PATH BUNDLE [-channel NAME]... [-image TEMPLATE] [-csv-metadata] [-n]", About: "add a bundle (a directory, an archive or an OCI image layout) to channels, by default those of its annotations; what it replaces and skips is in its CSV, or is the head; -n shows the change", Run: with(add)},
			{Name: "remove", Usage: "PATH PACKAGE BUNDLE [-n]", About: "remove a bundle; who has it is updated as before", Run: with(remove)},
			{Name: "deprecate", Usage: "PATH PACKAGE [CHANNEL|BUNDLE] -message TEXT | -undo [-n]", About: "say that something should not be used any more, or take that back", Run: with(deprecate)},
			{Name: "channel", Usage: "PATH PACKAGE add NAME BUNDLE | fork|rename FROM TO | head NAME BUNDLE | default NAME [-n]", About: "make, fork or rename a channel, move its head, or make it the default", Run: with(channel)},
			{Name: "init", Usage: "PACKAGE [-default-channel NAME] [-description FILE] [-icon FILE] [-o json|yaml]", About: "begin a package", Run: with(initPackage)},
			{Name: "dockerfile", Usage: "DIR [-i IMAGE] [-b IMAGE]", About: "write DIR.Dockerfile, which makes an image that serves the catalog in DIR", Run: with(dockerfile)},
		},
	}
}
