package fbc

import "github.com/fairlead/fairlead/examples/internal/args"

// Parts of the help that several commands have in common.
const (
	bundleHelp = "BUNDLE is a directory, an archive of one, or an OCI image layout.\n"
	renderHelp = `  -image         the image of the bundle: a template with {{.Package}}, {{.Name}} and {{.Version}}
  -csv-metadata  write olm.csv.metadata instead of the manifests; this needs an image`
	lenientHelp = "\n  -lenient       accept bundles with duplicate keys: the last one counts"
	outputHelp  = `
  -o FORMAT         write JSON documents (default), YAML documents, or JSON lines
  -to DIR           write files below DIR; by default, everything to standard output`
	sourceHelp = `  -name NAME     the name of the catalog source (default: catalog)
  -namespace NS  its namespace (default: olm)`
	showHelp = "  -n  show the change as a diff without making it"
)

// inspecting returns the commands that check, show and compare catalogs.
func inspecting() []*args.Command {
	return []*args.Command{
		{
			Name: "validate", Usage: "PATH [-o text|json|yaml|sarif|github|opm] [-lint all|CODE,...] [-v] [-fix] [-n] [-root DIR]",
			About: "check a catalog against the rules that its readers rely on",
			Help: `  -lint all|CODE,...  also report lints (default: stuck-bundle); their codes are in docs/diagnostics.md
  -v                  list all warnings; by default, ten of a kind
  -fix                first apply the unambiguous fixes to the catalog
  -n                  show these fixes without applying them
  -o github           print annotations for GitHub Actions
  -o opm              print what opm validate would print
  -root DIR           name files relative to DIR (default: the working directory)
A catalog without documents is an error.`,
			Run: with(validate),
		},
		{
			Name: "list", Usage: "[packages|channels|bundles|sizes] PATH [PACKAGE] [-o json]",
			About: "list the packages, channels or bundles of a catalog, or the size of its packages in bytes",
			Run:   with(list), Complete: whatIsListed,
		},
		{
			Name: "graph", Usage: "PATH PACKAGE [-o mermaid|dot|svg] [-channel NAME]...",
			About: "draw the updates of a package",
			Help:  "  -channel NAME  draw only this channel; may be repeated",
			Run:   with(graph), Complete: packagesThen,
		},
		{
			Name: "path", Usage: "PATH PACKAGE FROM TO [-channel NAME] [-rules v0|v1]",
			About: "find the update path between two bundles or versions, or explain why there is none",
			Help: `  FROM, TO       names or versions of bundles
  -channel NAME  search only this channel; by default, the path with the fewest channel changes
  -rules v0|v1   the rules of OLM v0 (default) or v1`,
			Run: with(path), Complete: packagesThen,
		},
		{
			Name: "diff", Usage: "OLD NEW [-o text|json|yaml] [-fix] [-n]",
			About: "compare two catalogs, and report installations that would lose their upgrade path",
			Help: `  -fix  edit the new catalog to restore these upgrade paths
  -n    show this edit without making it`,
			Run: with(compare),
		},
		{
			Name: "release", Usage: "[OLD NEW] [-git BASE..HEAD PATH] [-with NAME=PATH[,priority=N]]... [-o markdown|json|yaml|sarif|github] [-report FILE] [-sarif FILE] [-pictures DIR] [-root DIR]",
			About: "check whether a new version of a catalog can be released",
			Help: `  -git BASE..HEAD  read both from git: the directory PATH in two revisions; BASE...HEAD begins at
                   their common ancestor
  -with            another catalog of the cluster, whose bundles may be required
  -report, -sarif  also write the report as Markdown, and as SARIF, to these files
  -pictures DIR    also draw the updates of each package that changed as DIR/PACKAGE.svg
  -root DIR        name files relative to DIR (default: the working directory)
The new version must be valid, and every installation must keep its upgrade path under OLM v0
and v1. If not, the report shows the edit that would fix it.
exit status: 0 it passes, 1 it does not, 2 bad arguments, or a catalog cannot be read: then who
would be stranded is not known. The report, SARIF and pictures are written in each case.`,
			Run: with(releaseGate),
		},
	}
}

// transforming returns the commands that print or write another catalog.
func transforming() []*args.Command {
	return []*args.Command{
		{
			Name: "filter", Usage: "PATH [-package NAME[/CHANNEL,...][@RANGE]]... [-newest N] [-default NAME=CHANNEL]... [-no-dependencies] [-o json|yaml|jsonl] [-to DIR]",
			About: "extract part of a catalog with its dependencies",
			Help: `  -package          a package to keep, or some of its channels, or the versions in a range such as
                    ">=1.0.0 <2.0.0"
  -newest N         keep at most N entries per channel, counted from the head: 1 keeps only heads
  -default          the new default channel of a package
  -no-dependencies  do not add what the kept bundles require from other packages` + outputHelp,
			Run: with(filter),
		},
		{
			Name: "merge", Usage: "PATH... [-prefer first|last] [-base PATH [-n]] [-o json|yaml|jsonl] [-to DIR]",
			About: "merge catalogs, and report conflicts",
			Help: `  -prefer           which catalog wins a conflict; by default, conflicts are findings
  -base             a common ancestor of two catalogs: apply to the first one what the second one
                    changed since; -n shows the edit without making it` + outputHelp,
			Run: with(merge),
		},
		{
			Name: "convert", Usage: "PATH [-o json|yaml|jsonl] [-csv-metadata] [-to DIR]",
			About: "convert a catalog to another format",
			Help:  "  -csv-metadata     replace the manifests of bundles by olm.csv.metadata" + outputHelp,
			Run:   with(convert),
		},
		{
			Name: "render", Usage: "BUNDLE [-image TEMPLATE] [-csv-metadata] [-lenient]",
			About: "render a bundle as an olm.bundle document",
			Help:  bundleHelp + renderHelp + lenientHelp,
			Run:   with(render),
		},
		{
			Name: "template", Usage: "[semver|basic|substitutes] FILE [-bundle REFERENCE=BUNDLE]... [-catalog PATH] [-image TEMPLATE] [-csv-metadata] [-lenient] [-o json|yaml]",
			About: "expand a catalog template",
			Help: `  -catalog PATH  take bundles from this catalog, if it has them
  -bundle        the directory, archive or image layout for a reference; other references are
                 paths relative to FILE
` + renderHelp + lenientHelp,
			Run: with(expand),
		},
		{
			Name: "untemplate", Usage: "PATH [-o json|yaml]",
			About: "convert a catalog to a basic template",
			Run:   with(untemplate),
		},
	}
}

// serving returns the commands that show a catalog as a cluster would.
func serving() []*args.Command {
	return []*args.Command{
		{
			Name: "packagemanifest", Usage: "PATH [PACKAGE] [-name NAME] [-namespace NS] [-o text|json|yaml]",
			About: "show packages as kubectl get packagemanifest would on a cluster with this catalog, and report channels that a cluster would not show",
			Help:  sourceHelp,
			Run:   with(packageManifest), Complete: packagesThen,
		},
		{
			Name: "serve", Usage: "PATH [-addr ADDRESS] [-name NAME] [-namespace NS]",
			About: "serve a catalog over the API of catalogd, and its packages over the API of OLM's package server",
			Help:  "  -addr ADDRESS  where to listen (default: localhost:8080)\n" + sourceHelp,
			Run:   with(serveCatalog),
		},
	}
}

// changing returns the commands that change a catalog, or begin one.
func changing() []*args.Command {
	return []*args.Command{
		{
			Name: "add", Usage: "PATH BUNDLE [-channel NAME]... [-image TEMPLATE] [-csv-metadata] [-n]",
			About: "add a bundle to channels",
			Help: bundleHelp + `In each channel it replaces and skips what its CSV says, or else replaces the head.
  -channel       the channels (default: those in the annotations of the bundle)
` + renderHelp + `
  -n             show the change as a diff without making it`,
			Run: with(add),
		},
		{
			Name: "remove", Usage: "PATH PACKAGE [BUNDLE] [-n]",
			About: "remove a bundle, whose installations keep their upgrade path, or a whole package",
			Help:  showHelp, Run: with(remove),
		},
		{
			Name: "deprecate", Usage: "PATH PACKAGE [CHANNEL|BUNDLE] -message TEXT | -undo [-n]",
			About: "deprecate a package, channel or bundle, or undo that",
			Help: `  -message TEXT  what users should do instead
  -undo          remove the deprecation
  -n             show the change as a diff without making it`,
			Run: with(deprecate),
		},
		{
			Name: "channel", Usage: "PATH PACKAGE add NAME BUNDLE | fork|rename FROM TO | head NAME BUNDLE | default NAME [-n]",
			About: "create, fork or rename a channel, move its head, or make it the default",
			Help:  showHelp, Run: with(channel),
		},
		{
			Name: "init", Usage: "PACKAGE [-default-channel NAME] [-description FILE] [-icon FILE] [-o json|yaml]",
			About: "print the olm.package document of a new package",
			Run:   with(initPackage),
		},
		{
			Name: "dockerfile", Usage: "DIR [-i IMAGE] [-b IMAGE]",
			About: "write DIR.Dockerfile for an image that serves the catalog in DIR",
			Help: `  -i IMAGE  the base image, which contains opm (default: the upstream image of opm)
  -b IMAGE  the image that builds the cache (default: the base image)`,
			Run: with(dockerfile),
		},
	}
}
