package resolve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

const usage = `usage: fairlead resolve -catalog NAME=PATH[,priority=N] ... -subscribe PACKAGE[/CHANNEL] ...
               [-installed CSVNAME ...] [-only PACKAGE ... | -path TARGET ... |
               -why-not CSVNAME] [-explain] [-lock FILE [-relock]] [-o FORMAT]
       fairlead resolve -catalog NAME=PATH[,priority=N] ... -batch FILE

  -catalog    a catalog: a name for it and the directory, or .tar.gz of one,
              that holds it; of two that offer the same, the one of higher
              priority is preferred
  -subscribe  a package to install and keep up to date, in order of preference
  -installed  the name of a CSV that is installed; it belongs to the subscription
              of its package, if there is one
  -only       a package to update: others move only if it cannot be avoided
  -path       where to take a package, in as few hops as possible: PACKAGE for
              the head of its channel, PACKAGE=VERSION or PACKAGE=CSVNAME
  -why-not    tell why this is not what is chosen, instead of what is
  -explain    tell why it is what it is, in full
  -lock       a file that holds what is chosen, and from what: it is written if
              it is not there, and verified if it is
  -relock     tell in what the lock file differs, and write it anew
  -o          how to print the answer: text (the default), json, and of what is
              chosen, its explanation or a path also mermaid or dot
  -batch      cases to answer, as JSON lines; may be compressed with gzip

A word that is no flag goes on the list of the flag before it, such as
-subscribe a b c; words before all flags are subscriptions.

exit status: 0 resolved, 1 no solution, no path, or the lock does not hold,
2 bad input
`

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
	help     bool
}

type catalogFlag struct {
	name, path string
	priority   int
}

// parse reads the command line. A word that is no flag belongs to the list flag
// before it; before any, it is a subscription.
func parse(args []string) (*command, error) {
	c := &command{format: "text"}
	flags := flag.NewFlagSet("resolve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	add := c.addSubscription
	list := func(name string, f func(string) error) {
		flags.Func(name, "", func(word string) error {
			add = f
			return f(word)
		})
	}
	list("catalog", c.addCatalog)
	list("subscribe", c.addSubscription)
	list("installed", c.addInstalled)
	list("only", c.addOnly)
	list("path", c.addTarget)
	flags.BoolVar(&c.explain, "explain", false, "")
	flags.StringVar(&c.lock, "lock", "", "")
	flags.BoolVar(&c.relock, "relock", false, "")
	flags.Func("o", "", c.setOutput)
	flags.StringVar(&c.batch, "batch", "", "")
	flags.StringVar(&c.whyNot, "why-not", "", "")
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			c.help = true
			return c, nil
		} else if err != nil {
			return nil, fmt.Errorf("%w (-h shows the usage)", err)
		}
		if flags.NArg() == 0 {
			return c, c.check()
		}
		if err := add(flags.Arg(0)); err != nil {
			return nil, err
		}
		args = flags.Args()[1:]
	}
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
	other := c.explain || c.lock != "" || c.relock || c.format != "text" || len(questions) > 0
	switch {
	case len(c.catalogs) == 0:
		return errors.New("no -catalog: name at least one NAME=PATH (-h shows the usage)")
	case c.batch != "" && (single || other):
		return errors.New("-batch: goes with no other flag but -catalog; each case of the file says its own (-h shows the usage)")
	case c.batch == "" && len(c.Subscriptions) == 0:
		return errors.New("no -subscribe: name at least one PACKAGE or PACKAGE/CHANNEL (-h shows the usage)")
	case len(questions) > 1:
		return fmt.Errorf("%s: ask for one of them at a time (-h shows the usage)", strings.Join(questions, " and "))
	case c.relock && c.lock == "":
		return errors.New("-relock: name the file with -lock FILE (-h shows the usage)")
	case len(questions) > 0 && (c.lock != "" || c.explain):
		return fmt.Errorf("%s: does not go with -lock and -explain (-h shows the usage)", questions[0])
	case c.whyNot != "" && c.drawn():
		return fmt.Errorf("-why-not: is printed as text or json, not as %s", c.format)
	}
	return nil
}

// drawn reports whether the answer is to be a graph.
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
	if !ok || name == "" || path == "" {
		return fmt.Errorf("catalog %q is not of the form NAME=PATH[,priority=N]", word)
	}
	f := catalogFlag{name: name, path: path}
	if head, number, ok := strings.Cut(path, ",priority="); ok {
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("catalog %q: priority %q is no whole number", word, number)
		}
		f.path, f.priority = head, n
	}
	c.catalogs = append(c.catalogs, f)
	return nil
}

func (c *command) setOutput(word string) error {
	switch word {
	case "text", "json", "mermaid", "dot":
		c.format = word
		return nil
	}
	return errors.New("it is text, json, mermaid or dot")
}
