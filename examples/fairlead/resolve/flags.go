package resolve

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/solver/olm"
)

const usage = "[PACKAGE[/CHANNEL]]... -catalog [NAME=]PATH[,priority=N]... [-installed CSVNAME]... [-only PACKAGE | -path TARGET | -why-not CSVNAME] [-explain] [-prefer OBJECTIVE]... [-no-downgrades] [-stay-on-channel] [-not-excludes] [-cross-catalog] [-lock FILE [-relock]] [-batch FILE] [-timeout DURATION] [-cluster FILE|DIR [-namespace NAME] [-global NAMESPACE] [-impact NAME=PATH | -adopt CSVNAME]] [-o text|json|mermaid|dot]"

const help = `  PACKAGE     a package to install and keep up to date, in order of preference
  -catalog    a catalog: a name for it, and the directory or .tar.gz that holds
              it; if two offer the same, the one of higher priority wins
  -subscribe  another way to name a PACKAGE[/CHANNEL]
  -installed  the name of an installed CSV; it belongs to the subscription of its
              package, if there is one
  -only       update only this package, and others only where it requires that
  -path       show the fewest hops to a target: PACKAGE for the head of its
              channel, PACKAGE=VERSION or PACKAGE=CSVNAME
  -why-not    explain why this CSV is not selected
  -explain    explain each selection in full
  -prefer     an objective before the order of preference: fewest-changes,
              fewest-updates or fewest-additions; the first one counts most
  -no-downgrades    reject versions below the installed one
  -stay-on-channel  reject channels that do not list the installed CSV, unless a
              subscription names one
  -not-excludes     a constraint that is a negation forbids what it names, as the
              documents say; OLM takes it for a requirement of anything else
  -cross-catalog    a subscription that names a catalog may be updated from another
              one, if that one offers no update
  -lock       a lock file with the selection and its sources: created if it does
              not exist, verified if it does
  -relock     show how the lock file differs, and rewrite it
  -o          output format: text (default) or json; for a selection, its
              explanation or a path also mermaid or dot
  -batch      a file of cases as JSON lines, optionally gzip-compressed
  -timeout    how long to search, such as 30s; if there is no solution, why is
              explained as far as it is known then
  -cluster    a file with objects of a cluster, - for standard input, or a directory,
              such as a must-gather, of which all .yaml, .yml and .json files are
              read, at any depth: subscriptions, installed CSVs, operator groups and
              catalog priorities, as printed by
                ` + dumpCommand + `
              -catalog then gives the content of the CatalogSource of that name,
              and -o json prints install plans for kubectl apply; for OLM v1
              also dump clusterextensions,clustercatalogs
  -namespace  report only this namespace
  -global     the namespace of the global catalogs (default: the one with the most
              catalogs)
  -impact     show what namespaces would lose and gain if a catalog had this content
              instead
  -adopt      print a subscription for an operator that has none

Flags that name one thing may be repeated.
exit status: 0 resolved, 1 no solution, no path, not decided in time, or the lock does
not match, 2 bad input`

// command is the command line.
type command struct {
	olm.Case
	catalogs []catalogFlag
	format   string // text, json, mermaid or dot
	batch    string
	whyNot   string
	only     []string
	targets  []olm.Target
	explain  bool
	lock     string
	relock   bool
	timeout  time.Duration
	rules    olm.Options // how to choose, from the flags
	from     *reading.Source
	doing    func(string) // shows what the program is doing
	opened   []olm.Source // the catalogs, once they are open
	clusterFlags
}

type catalogFlag struct {
	name, path string
	priority   int
}

// parse reads the command line.
func parse(call *args.Call) (*command, error) {
	c := &command{doing: call.Doing}
	for name, add := range map[string]func(string) error{
		"catalog": c.addCatalog, "subscribe": c.addSubscription, "installed": c.addInstalled, "only": c.addOnly, "path": c.addTarget, "prefer": c.addObjective,
	} {
		call.Flags.Func(name, "", add)
	}
	call.Flags.BoolVar(&c.explain, "explain", false, "")
	call.Flags.BoolVar(&c.rules.NoDowngrades, "no-downgrades", false, "")
	call.Flags.BoolVar(&c.rules.StayOnChannel, "stay-on-channel", false, "")
	call.Flags.BoolVar(&c.rules.NotExcludes, "not-excludes", false, "")
	call.Flags.BoolVar(&c.rules.CrossCatalogUpdates, "cross-catalog", false, "")
	call.Flags.StringVar(&c.lock, "lock", "", "")
	call.Flags.BoolVar(&c.relock, "relock", false, "")
	call.Flags.DurationVar(&c.timeout, "timeout", 0, "")
	format := call.Choice("o", "text", "json", "mermaid", "dot")
	call.Flags.StringVar(&c.batch, "batch", "", "")
	call.Flags.StringVar(&c.whyNot, "why-not", "", "")
	call.Flags.StringVar(&c.file, "cluster", "", "")
	call.Flags.StringVar(&c.clusterFlags.namespace, "namespace", "", "")
	call.Flags.StringVar(&c.global, "global", "", "")
	call.Flags.StringVar(&c.adopt, "adopt", "", "")
	call.Flags.Func("impact", "", c.setImpact)
	c.from = reading.Declare(call)
	if err := call.Parse(0, math.MaxInt); err != nil {
		return nil, err
	}
	c.placed = c.file != "" || c.from.Asked()
	if !c.placed && !call.Given("global") {
		c.global = "" // the setting is for questions about clusters, and this is not one
	}
	c.format = *format
	c.Subscriptions = append(c.Subscriptions, call.Args...)
	if err := c.check(); err != nil {
		return nil, &args.UsageError{Text: err.Error()}
	}
	return c, nil
}

func (c *command) check() error {
	single := len(c.Subscriptions) > 0 || len(c.Installed) > 0
	var questions []string
	for _, q := range []struct {
		flag string
		set  bool
	}{{"-only", len(c.only) > 0}, {"-path", len(c.targets) > 0}, {"-why-not", c.whyNot != ""}} {
		if q.set {
			questions = append(questions, q.flag)
		}
	}
	ruled := len(c.rules.Objectives) > 0 || c.rules.NoDowngrades || c.rules.StayOnChannel || c.rules.NotExcludes || c.rules.CrossCatalogUpdates
	other := ruled || c.explain || c.lock != "" || c.relock || c.format != "text" || len(questions) > 0
	switch {
	case c.timeout < 0:
		return fmt.Errorf("-timeout %v: a time to search is at least 0, which means no limit", c.timeout)
	case len(c.catalogs) == 0:
		return errors.New("no -catalog: name at least one NAME=PATH")
	case !c.placed && (c.clusterFlags.namespace != "" || c.global != "" || c.adopt != "" || c.impact != nil):
		return errors.New("-namespace, -global, -adopt and -impact: name the objects with -cluster FILE, or the running cluster with -context")
	case c.placed && (single || c.batch != ""):
		return errors.New("-cluster, -context and -kubeconfig: the cluster has the subscriptions and installed CSVs; leave out PACKAGE, -subscribe, -installed and -batch")
	case c.placed:
		return c.checkCluster(questions)
	case c.batch != "" && (single || other):
		return errors.New("-batch: can be combined only with -catalog; each case in the file has its own settings")
	case c.batch == "" && len(c.Subscriptions) == 0:
		return errors.New("no -subscribe: name at least one PACKAGE or PACKAGE/CHANNEL")
	case len(questions) > 1:
		return fmt.Errorf("%s: use only one of them", strings.Join(questions, " and "))
	case c.relock && c.lock == "":
		return errors.New("-relock: name the file with -lock FILE")
	case len(questions) > 0 && (c.lock != "" || c.explain):
		return fmt.Errorf("%s: cannot be combined with -lock or -explain", questions[0])
	case c.whyNot != "" && c.drawn():
		return fmt.Errorf("-why-not: can be printed as text or json, not as %s", c.format)
	}
	return nil
}

// drawn reports whether the answer must be a graph.
func (c *command) drawn() bool { return c.format == "mermaid" || c.format == "dot" }

func (c *command) addOnly(word string) error {
	c.only = append(c.only, word)
	return nil
}

// addTarget reads PACKAGE, PACKAGE=VERSION or PACKAGE=CSVNAME: a version begins
// with a digit, or with a v before one.
func (c *command) addTarget(word string) error {
	pkg, to, stated := strings.Cut(word, "=")
	if pkg == "" || stated && to == "" {
		return fmt.Errorf("target %q is not of the form PACKAGE, PACKAGE=VERSION or PACKAGE=CSVNAME", word)
	}
	t := olm.Target{Package: pkg}
	if digits := strings.TrimPrefix(to, "v"); digits != "" && '0' <= digits[0] && digits[0] <= '9' {
		t.Version = to
	} else {
		t.Name = to
	}
	c.targets = append(c.targets, t)
	return nil
}

// addObjective adds an objective; the resolver checks its name.
func (c *command) addObjective(word string) error {
	c.rules.Objectives = append(c.rules.Objectives, olm.Objective(word))
	return nil
}

func (c *command) addSubscription(word string) error {
	c.Subscriptions = append(c.Subscriptions, word)
	return nil
}

func (c *command) addInstalled(word string) error {
	c.Installed = append(c.Installed, word)
	return nil
}

func (c *command) addCatalog(word string) error {
	name, path, ok := strings.Cut(word, "=")
	if !ok || strings.HasSuffix(name, ",priority") { // a path alone
		base, _, _ := strings.Cut(filepath.Base(strings.TrimSuffix(word, "="+path)), ".")
		name, path = strings.TrimSuffix(base, ",priority"), word
	}
	if name == "" || path == "" {
		return fmt.Errorf("catalog %q is not of the form [NAME=]PATH[,priority=N]", word)
	}
	f := catalogFlag{name: name, path: path}
	if head, number, ok := strings.Cut(path, ",priority="); ok {
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("catalog %q: priority %q is not a whole number", word, number)
		}
		f.path, f.priority = head, n
	}
	c.catalogs = append(c.catalogs, f)
	return nil
}
