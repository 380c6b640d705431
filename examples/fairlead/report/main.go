// Package report is the verb report: one page about what is known of a cluster.
package report

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "report",
		Usage: "FILE|DIR -o FILE.html|html|json|yaml [-live] [-wasm FILE] " + situation.Usage,
		About: "write a page about a whole cluster: what to do first, the plan, updates, operators, nodes, drains, taints and findings",
		Help: `FILE is the output of ` + situation.DumpCommand + `;
DIR is a directory of such files, or a must-gather. FILE may be - for standard input. A kind that is
missing counts as unknown, and the page says so. Machines that are being deleted are explained if
FILE contains them: add machines, machinesets, machinehealthchecks, daemonsets and namespaces.
  -o FILE.html           write the page to a file: self-contained, for any browser; readable by its owner only
  -o html, json, yaml    print the page, or its data
  -live                  add the engines, as WebAssembly: what if a node or a zone were lost, a node or a
                         catalog back, a budget fixed, one more pod run, a pool not paused, a node uncordoned
                         or drained, a risk accepted, an operator of -catalog installed? The page answers
                         offline, with the first screen before and after; it has at most 10 MB
  -wasm FILE             the engines of -live; default: fairlead.wasm beside the program, as in releases,
                         or else built with the go command, from the source that this program was built
                         from, and kept in the user's cache directory
` + situation.Help + `
exit status: 0 the report was written, 2 bad input`,
		Examples: `fairlead report all.yaml -to 4.20 -graph GRAPH.json -o report.html
			fairlead report MUST-GATHER -o report.html
			fairlead report all.yaml -to newest -graph GRAPH.json -live -o report.html`,
		Configured: []string{"graph", "wasm"},
		Run:        run,
	}
}

func run(c *args.Call) error {
	out := c.Flags.String("o", "", "")
	live, wasm := c.Flags.Bool("live", false, ""), c.Flags.String("wasm", "", "")
	flags := situation.Declare(c)
	flags.Informative()
	if err := c.Parse(0, 1); err != nil {
		return err
	}
	if *out == "" {
		return &args.UsageError{Text: "name the output: -o report.html"}
	}
	switch data := *out == "json" || *out == "yaml"; {
	case *live && data:
		return &args.UsageError{Text: "-live makes a page: write it with -o report.html"}
	case !*live && c.Given("wasm"):
		return &args.UsageError{Text: "-wasm names the engines of a live page: add -live"}
	case !data && *out != "html" && *out != "-" && filepath.Ext(*out) != ".html":
		return &args.UsageError{Text: "-o " + *out + ": a page is written to FILE.html; data is printed, by -o json or -o yaml"}
	}
	goal, policy, err := flags.Question()
	if err != nil {
		return err
	}
	if !flags.Asked() {
		goal = nil
	}
	s, err := flags.Read(c, c.Arg(0))
	if err != nil {
		return err
	}
	if s.Cluster == nil && s.Nodes == nil {
		return flags.Without(c.Arg(0), "it contains neither a ClusterVersion nor nodes", "print them with: "+situation.DumpCommand)
	}
	c.Doing("making the report")
	in := &report.Input{
		Source: filepath.Base(cmp.Or(c.Arg(0), "running cluster")), Name: s.Snapshot.Identity.Name, Situation: &s.Situation, Goal: goal, Policy: policy, Alerts: s.Alerts, DaemonSets: s.DaemonSets, Listed: s.Listed, Around: s.Around,
		Diagnosis: diagnosing.Of(s.Snapshot),
	}
	r, err := report.Make(c.Context, in)
	if err != nil {
		return err
	}
	page := r.WriteHTML
	if *live {
		engines, err := engines(c, *wasm, compiledFrom())
		if err != nil {
			return err
		}
		in.Installed, in.Snapshot, in.Looked = s.Installed, s.Snapshot, in.Diagnosis.At
		if s.Cluster != nil {
			if in.Catalog, err = slim(c, flags.Catalog(s.Cluster.Status.Desired.Version)); err != nil {
				return err
			}
		}
		page = func(w io.Writer) error { return r.WriteLive(w, in, engines) }
	}
	c.Document()
	return put(c, *out, r, page)
}

// put writes a report in a form, or its page to a file.
func put(c *args.Call, out string, r *report.Report, page func(io.Writer) error) error {
	switch out {
	case "json", "yaml":
		text, err := c.Compact(r)
		if err == nil && out == "yaml" {
			text, err = catalog.YAML(text)
		}
		if err == nil {
			_, err = c.Stdout.Write(text)
		}
		return err
	case "html", "-":
		return page(c.Stdout)
	}
	return write(out, page)
}

// slim reads the part of a catalog that a live page needs; nothing without a catalog.
func slim(c *args.Call, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	src, err := source.Open(c.Context, path, nil)
	if err != nil {
		return "", err
	}
	defer src.Close()
	all, err := catalog.Open(c.Context, src, nil)
	if err != nil {
		return "", err
	}
	return report.Slim(all)
}

// write writes a page to a file. An existing file is replaced once the page is complete on
// disk; until then, and after an error, it stays as it is. A new file can be read by its owner
// only, since a page says much about a cluster; one that existed keeps its permissions.
func write(name string, page func(io.Writer) error) error {
	var b bytes.Buffer
	if err := page(&b); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return os.WriteFile(name, b.Bytes(), 0) // a device or a pipe; a directory is an error
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if path := new(fs.PathError); errors.As(err, &path) {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err} // of the file that was named
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
