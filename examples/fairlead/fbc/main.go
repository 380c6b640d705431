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
	"slices"

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
		Commands: slices.Concat(inspecting(), transforming(), []*args.Command{bundles()}, serving(), changing()),
	}
}
