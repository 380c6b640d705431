// Package fbc is the verb catalog: it validates, lists, draws, compares, filters,
// merges, converts and creates file-based catalogs of operators.
//
// A catalog is a directory, a .tar.gz of one, an OCI image layout whose image
// contains a catalog, or one file of JSON or YAML documents, such as the JSON lines
// of a catalog service. Flags may appear before or after other arguments.
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
	lenient *bool       // read bundles with duplicate keys
}

// with adapts a command of this package to args.Command.
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
			"exit status: 0 success, 1 findings, 2 bad arguments or input",
		Examples: `fairlead catalog validate PATH -lint all
			fairlead catalog graph PATH etcd -o svg >etcd.svg
			fairlead catalog path PATH etcd 0.9.0 0.9.4
			fairlead catalog release OLD NEW -o markdown`,
		Commands: []*args.Command{
			{Name: "validate", Usage: "PATH [-o text|json|yaml|sarif|opm] [-lint all|CODE,...] [-v] [-fix] [-n]", About: "check a catalog against the rules that its readers rely on; of many warnings of one kind ten are listed, -v lists all; -fix first applies the unambiguous fixes, -n shows them without applying; a catalog without documents is an error", Run: with(validate)},
			{Name: "list", Complete: whatIsListed, Usage: "[packages|channels|bundles|sizes] PATH [PACKAGE]", About: "list the contents of a catalog, or the size of its packages in bytes", Run: with(list)},
			{Name: "graph", Complete: packagesThen, Usage: "PATH PACKAGE [-o mermaid|dot|svg] [-channel NAME]...", About: "draw the updates of a package", Run: with(graph)},
			{Name: "path", Complete: packagesThen, Usage: "PATH PACKAGE FROM TO [-channel NAME] [-rules v0|v1]", About: "find the update path from one bundle or version to another under the rules of OLM v0 or v1, with as few channel changes as possible, or say why there is none", Run: with(path)},
			{Name: "diff", Usage: "OLD NEW [-o text|json|yaml] [-fix] [-n]", About: "compare two catalogs and report installations that would lose their upgrade path; -fix edits the new catalog to restore it, -n shows the edit", Run: with(compare)},
			{Name: "release", Usage: "OLD NEW [-o markdown|json|yaml|sarif]", About: "decide whether a new version of a catalog can be released: is it valid, and does every installation keep its upgrade path under OLM v0 and v1? Shows the edit that would fix it", Run: with(releaseGate)},
			{Name: "filter", Usage: "PATH [-package NAME[/CHANNEL,...][@RANGE]]... [-newest N] [-default NAME=CHANNEL]... [-no-dependencies] [-o json|yaml|jsonl] [-to DIR]", About: "extract part of a catalog with its dependencies; RANGE is like \">=1.0.0 <2.0.0\"; -newest 1 keeps only channel heads", Run: with(filter)},
			{Name: "merge", Usage: "PATH... [-prefer first|last] [-base PATH [-n]] [-o json|yaml|jsonl] [-to DIR]", About: "merge catalogs and report conflicts; with -base, apply to the first catalog what the second changed since the base", Run: with(merge)},
			{Name: "convert", Usage: "PATH [-o json|yaml|jsonl] [-csv-metadata] [-to DIR]", About: "convert a catalog to another format, or replace manifests by olm.csv.metadata", Run: with(convert)},
			{Name: "render", Usage: "BUNDLE [-image TEMPLATE] [-csv-metadata] [-lenient]", About: "render a bundle (a directory, an archive or an OCI image layout) as an olm.bundle document; -image is a template with {{.Package}}, {{.Name}} and {{.Version}}", Run: with(render)},
			{Name: "template", Usage: "[semver|basic|substitutes] FILE [-bundle REFERENCE=BUNDLE]... [-catalog PATH] [-image TEMPLATE] [-csv-metadata] [-lenient] [-o json|yaml]", About: "expand a catalog template; bundles come from the catalog of -catalog, or from directories, archives or image layouts, named by -bundle or relative to FILE", Run: with(expand)},
			{Name: "untemplate", Usage: "PATH [-o json|yaml]", About: "convert a catalog to a basic template", Run: with(untemplate)},
			bundles(),
			{Name: "packagemanifest", Complete: packagesThen, Usage: "PATH [PACKAGE] [-name NAME] [-namespace NS] [-o text|json|yaml]", About: "show packages as kubectl get packagemanifest would on a cluster with this catalog, and report channels that a cluster would not show", Run: with(packageManifest)},
			{Name: "serve", Usage: "PATH [-addr ADDRESS] [-name NAME] [-namespace NS]", About: "serve a catalog over the API of catalogd, and its packages over the API of OLM's package server, as a catalog called NAME", Run: with(serveCatalog)},
			{Name: "add", Usage: "PATH BUNDLE [-channel NAME]... [-image TEMPLATE] [-csv-metadata] [-n]", About: "add a bundle (a directory, an archive or an OCI image layout) to channels, by default those in its annotations; it replaces and skips what its CSV says, or else replaces the head; -n shows the change", Run: with(add)},
			{Name: "remove", Usage: "PATH PACKAGE BUNDLE [-n]", About: "remove a bundle; existing installations of it keep their upgrade path", Run: with(remove)},
			{Name: "deprecate", Usage: "PATH PACKAGE [CHANNEL|BUNDLE] -message TEXT | -undo [-n]", About: "deprecate a package, channel or bundle, or undo that", Run: with(deprecate)},
			{Name: "channel", Usage: "PATH PACKAGE add NAME BUNDLE | fork|rename FROM TO | head NAME BUNDLE | default NAME [-n]", About: "create, fork or rename a channel, move its head, or make it the default", Run: with(channel)},
			{Name: "init", Usage: "PACKAGE [-default-channel NAME] [-description FILE] [-icon FILE] [-o json|yaml]", About: "create a package", Run: with(initPackage)},
			{Name: "dockerfile", Usage: "DIR [-i IMAGE] [-b IMAGE]", About: "write DIR.Dockerfile for an image that serves the catalog in DIR", Run: with(dockerfile)},
		},
	}
}
