package resolve

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

const operatorsHelp = `  DUMP        a file with objects of a cluster, - for standard input, or a directory such as
              a must-gather, as printed by
                ` + dumpCommand + `
              for OLM v1 also dump clusterextensions,clusterextensionrevisions,clustercatalogs
  -catalog    the content of a CatalogSource or ClusterCatalog of that name: then what comes
              next is known, and whether it fits
  -of         one object: subscription, csv, installplan or catalogsource and its
              NAMESPACE/NAME, or clusterextension/NAME
  -uninstall  a dry run: what to do to remove the operator of subscription
              NAMESPACE/NAME, in which order, what stays, and who needs it
  -refresh    a dry run: how to start subscription NAMESPACE/NAME over
  -minor      which operators block the update of an OpenShift cluster to its next minor
              version, or to VERSION, and what frees each
  -namespace  report only this namespace
  -global     the namespace of the global catalogs (default: the one with the most catalogs)
  -o          output format: text (default) or json

Each operator is printed with what it waits for, in the order in which OLM meets it: the first
wait decides. What a dump does not have is not known, and never counts as fine.
exit status: 0 no operator is blocked, 1 one is, or that is not known, 2 bad input; for dry
runs: 1 other operators require the removed one, or a removal is stuck`

// Operators is the verb operators.
func Operators() *args.Command {
	return &args.Command{
		Name:  "operators",
		Usage: "DUMP [-catalog NAME=PATH]... [-of KIND/NAME | -uninstall NAMESPACE/NAME | -refresh NAMESPACE/NAME | -minor next|VERSION] [-namespace NAME] [-global NAMESPACE] [-o text|json]",
		About: "show why operators are not installed or updated, from objects of a cluster",
		Help:  operatorsHelp,
		Examples: dumpCommand + ` | fairlead operators -
			fairlead operators MUST-GATHER -of subscription/my-namespace/my-operator`,
		Configured: []string{"global"},
		Run:        runOperators,
	}
}

func runOperators(call *args.Call) error {
	c := &command{doing: call.Doing}
	call.Flags.Func("catalog", "", c.addCatalog)
	call.Flags.StringVar(&c.clusterFlags.namespace, "namespace", "", "")
	call.Flags.StringVar(&c.global, "global", "", "")
	of := call.Flags.String("of", "", "")
	minor := call.Flags.String("minor", "", "")
	uninstall, refresh := call.Flags.String("uninstall", "", ""), call.Flags.String("refresh", "", "")
	format := call.Choice("o", "text", "json")
	from := reading.Declare(call)
	if err := call.Parse(0, 1); err != nil {
		return err
	}
	c.format = *format
	var err error
	if c.held, err = readCluster(from, call.Arg(0)); err != nil {
		return err
	}
	if c.global == "" {
		c.global = explain.GuessGlobal(c.held.Subscriptions, c.held.Catalogs)
	}
	c.held.Global = c.global
	notes := c.held.odd
	if len(c.catalogs) > 0 {
		r, closeAll, err := c.open(call.Context)
		defer func() { _ = closeAll() }() // nothing was written
		if err != nil {
			return err
		}
		more, err := c.learn(call.Context, r)
		if err != nil {
			return err
		}
		notes = append(notes, more...)
	}
	for _, n := range notes {
		words.Fprintf(call.Stderr, "note: %s\n", n)
	}
	switch {
	case *uninstall != "":
		return c.dryRun(call.Stdout, "-uninstall", *uninstall, c.held.Uninstall)
	case *refresh != "":
		return c.dryRun(call.Stdout, "-refresh", *refresh, c.held.Refresh)
	}
	if *minor != "" {
		return c.blocking(call, *minor, len(notes) > 0)
	}
	views, err := c.views(*of)
	if err != nil {
		return err
	}
	return findings(c.printViews(call, views, len(notes) > 0), c.notKnown(call.Stdout, call.Stderr))
}

// notKnown says what the dump lacks, and reports whether it lacks anything.
func (c *command) notKnown(stdout, stderr io.Writer) bool {
	to := stdout
	if c.format != "text" || c.adopt != "" { // what is printed is for a program
		to = stderr
	}
	return reading.NotKnown(to, c.held.missing)
}

func findings(err error, found bool) error {
	if err == nil && found {
		return args.ErrFindings
	}
	return err
}

// views are the requested views.
func (c *command) views(of string) ([]*explain.View, error) {
	if of == "" {
		all := c.held.Operators()
		if len(all) == 0 { // of catalogs alone
			for i := range c.held.Catalogs {
				s := &c.held.Catalogs[i]
				if v, _ := c.held.View("catalogsource", s.Namespace+"/"+s.Name); v != nil {
					all = append(all, v)
				}
			}
		}
		return inNamespace(all, c.clusterFlags.namespace), nil
	}
	kind, name, _ := strings.Cut(of, "/")
	v, known := c.held.View(kind, name)
	switch {
	case !known:
		return nil, &args.UsageError{Text: fmt.Sprintf("-of %s: not of the form KIND/NAMESPACE/NAME, or of another kind; there are %s", of, strings.Join(explain.Kinds(), ", "))}
	case v == nil:
		return nil, fmt.Errorf("-of %s: the dump has no such object", of)
	}
	return []*explain.View{v}, nil
}

// blocking prints which operators block an update of the cluster to another minor version.
func (c *command) blocking(call *args.Call, target string, unknown bool) error {
	current := c.held.version
	switch {
	case target == "next" && current == "":
		return &args.UsageError{Text: "-minor next: the dump has no ClusterVersion: name the version, as in -minor 4.20"}
	case target == "next":
		target = ""
	case current == "":
		current = "0.0" // whatever it is, it is another one
	}
	if len(c.held.CSVs) == 0 {
		return errors.New("-minor: the dump has no ClusterServiceVersions, so what blocks is not known")
	}
	views, err := c.held.Blocking(current, target)
	if err != nil {
		return &args.UsageError{Text: "-minor: " + err.Error()}
	}
	views = inNamespace(views, c.clusterFlags.namespace)
	if len(views) == 0 && c.format == "text" {
		fmt.Fprintln(call.Stdout, "no operator of the dump blocks it")
		if unknown {
			return args.ErrFindings
		}
		return nil
	}
	return c.printViews(call, views, unknown)
}

// printViews prints views. Notes about what is not known count as findings.
func (c *command) printViews(call *args.Call, views []*explain.View, unknown bool) error {
	blocked := 0
	var of []string
	for _, v := range views {
		if v.Blocked() {
			blocked++
		}
		if len(v.Waits) > 0 {
			of = append(of, diagnosing.IDs(&c.held.Cluster, v)...)
		}
	}
	var prevents *diagnosing.Advice
	if len(of) > 0 {
		prevents = diagnosing.Prevents(c.held.known, of)
	}
	if c.format == "json" {
		if views == nil {
			views = []*explain.View{} // none is a list, too
		}
		if len(c.held.missing) > 0 {
			call.Beside("unknown", c.held.missing)
		}
		if err := call.JSON(map[string]any{"operators": views}); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		if len(views) != 1 {
			fmt.Fprintf(&b, "%d of %d operators blocked\n", blocked, len(views))
		}
		prevents.Tell(&b, false)
		for _, v := range views {
			b.WriteString(v.String())
		}
		if _, err := io.WriteString(call.Stdout, b.String()); err != nil {
			return err
		}
	}
	if blocked > 0 || unknown || prevents.Some() {
		return args.ErrFindings
	}
	return nil
}
