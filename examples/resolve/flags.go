package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

const usage = `usage: resolve -catalog NAME=PATH[,priority=N] ... -subscribe PACKAGE[/CHANNEL] ...
               [-installed CSVNAME ...] [-why-not CSVNAME] [-o text|json]
       resolve -catalog NAME=PATH[,priority=N] ... -batch FILE

  -catalog    a catalog: a name for it and the directory, or .tar.gz of one,
              that holds it; of two that offer the same, the one of higher
              priority is preferred
  -subscribe  a package to install and keep up to date, in order of preference
  -installed  the name of a CSV that is installed; it belongs to the subscription
              of its package, if there is one
  -why-not    tell why this is not what is chosen, instead of what is
  -o          how to print the answer: text (the default) or json
  -batch      cases to answer, as JSON lines; may be compressed with gzip

A word that is no flag goes on the list of the flag before it, such as
-subscribe a b c; words before all flags are subscriptions.

exit status: 0 resolved, 1 no solution, 2 bad input
`

// command is the command line.
type command struct {
	olm.Case
	catalogs []catalogFlag
	json     bool
	batch    string
	whyNot   string
	help     bool
}

type catalogFlag struct {
	name, path string
	priority   int
}

// parse reads the command line. A word that is no flag belongs to the list flag
// before it; before any, it is a subscription.
func parse(args []string) (*command, error) {
	c := &command{}
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
	switch {
	case len(c.catalogs) == 0:
		return errors.New("no -catalog: name at least one NAME=PATH (-h shows the usage)")
	case c.batch != "" && (single || c.json || c.whyNot != ""):
		return errors.New("-batch: goes with none of -subscribe, -installed, -why-not and -o; each case of the file says its own (-h shows the usage)")
	case c.batch == "" && len(c.Subscriptions) == 0:
		return errors.New("no -subscribe: name at least one PACKAGE or PACKAGE/CHANNEL (-h shows the usage)")
	}
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
	case "text", "json":
		c.json = word == "json"
		return nil
	}
	return errors.New("it is text or json")
}
