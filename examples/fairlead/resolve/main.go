// Package resolve is the verb resolve: it shows which operators a set of
// subscriptions would install or update, given catalogs and the installed operators,
// or why there is no solution. It also explains why a bundle is not chosen, updates
// only some packages, finds the path to a version over several hops, and maintains a
// lock file.
package resolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// The exit statuses for valid input.
const (
	statusResolved   = args.StatusFine
	statusNoSolution = args.StatusFindings
)

// namespace is the namespace of everything that does not come from a cluster.
const namespace = "default"

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "resolve",
		Usage: usage,
		About: "show which operators a set of subscriptions would install or update, or why there is no solution",
		Help:  help,
		Examples: `fairlead resolve -catalog community=PATH -subscribe etcd/stable
			fairlead resolve -catalog community=PATH -subscribe etcd -installed etcd.v0.9.0 -path etcd
			fairlead resolve -catalog community=PATH -subscribe etcd -why-not etcd.v0.9.4`,
		Configured: []string{"catalog", "global"},
		Run:        run,
	}
}

func run(call *args.Call) error {
	c, err := parse(call)
	if err != nil {
		return err
	}
	if c.placed {
		if c.held, err = readCluster(c.from, c.file); err != nil {
			return fmt.Errorf("reading the cluster: %w", err)
		}
		if c.global == "" {
			c.global = explain.GuessGlobal(c.held.Subscriptions, c.held.Catalogs)
		}
	}
	status, err := c.run(call.Context, call.Stdout, call.Stderr)
	if err == nil && status != statusResolved {
		return args.ErrFindings
	}
	return err
}

func (c *command) run(ctx context.Context, stdout, stderr io.Writer) (status int, err error) {
	r, closeAll, err := c.open(ctx)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return 0, err
	}
	if c.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		ctx = limited
	}
	status, err = c.ask(ctx, r, stdout, stderr)
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return statusNoSolution, c.undecided(stdout, ended)
	}
	return status, err
}

func (c *command) ask(ctx context.Context, r *olm.Resolver, stdout, stderr io.Writer) (int, error) {
	if c.batch != "" {
		return c.runBatch(ctx, r, stdout)
	}
	if c.held != nil {
		status, err := c.clusterQuestion(ctx, r, stdout, stderr)
		if err == nil && c.notKnown(stdout, stderr) {
			status = max(status, statusNoSolution)
		}
		return status, err
	}
	req, err := r.Request(namespace, &c.Case)
	if err != nil {
		return 0, err
	}
	if err := c.noteStrays(req, stderr); err != nil {
		return 0, err
	}
	return c.answer(ctx, r, req, stdout, stderr)
}

// noteStrays writes a note about each installed CSV that changes nothing: no
// catalog has it, and its name matches no subscription.
func (c *command) noteStrays(req *olm.Request, stderr io.Writer) error {
	for _, csv := range req.Installed {
		if slices.ContainsFunc(req.Subscriptions, func(s olm.Subscription) bool { return s.Status.InstalledCSV == csv.Name }) {
			continue
		}
		var bundles []string
		for _, o := range c.opened {
			for p := range o.Catalog.Packages() {
				for b := range p.Bundles() {
					bundles = append(bundles, b.Name())
				}
			}
		}
		if slices.Contains(bundles, csv.Name) {
			continue
		}
		hint := "write a version that the catalogs no longer contain as PACKAGE.vVERSION, with a subscribed package"
		if near := words.Nearest(csv.Name, bundles); near != "" {
			hint = "did you mean " + near + "?"
		}
		if _, err := words.Fprintf(stderr, "note: -installed %s has no effect: no catalog has it, and no subscription is for it; %s\n", csv.Name, hint); err != nil {
			return err
		}
	}
	return nil
}

// answer answers about one namespace.
func (c *command) answer(ctx context.Context, r *olm.Resolver, req *olm.Request, stdout, stderr io.Writer) (int, error) {
	switch {
	case c.whyNot != "":
		return c.runWhyNot(ctx, r, req, stdout)
	case len(c.targets) > 0:
		return c.runPath(ctx, r, req, stdout)
	}
	res, update, err := c.resolve(ctx, r, req)
	var unsat *olm.UnsatError
	var channel *olm.ChannelError
	switch {
	case errors.As(err, &unsat):
		x, err := c.why(ctx, unsat)
		if err != nil {
			return 0, err
		}
		return statusNoSolution, c.printUnsatisfiable(stdout, x)
	case errors.As(err, &channel):
		return statusNoSolution, c.printChannel(stdout, err, channel)
	case err != nil:
		return 0, err
	}
	var x *olm.Explanation
	if c.explain {
		if x, err = r.Explain(ctx, req, res); err != nil {
			return 0, err
		}
	}
	if err := c.printResolution(stdout, res, update, x); err != nil || c.lock == "" {
		return statusResolved, err
	}
	return c.keepLock(ctx, r, req, res, stderr)
}

// why explains why there is no solution: as far as that is known when the context
// ends, because that there is none is certain.
func (c *command) why(ctx context.Context, unsat *olm.UnsatError) (*olm.Explanation, error) {
	c.doing("no solution exists; working out why (Ctrl-C shows what is known)")
	x, err := unsat.Explain(ctx)
	if x != nil {
		return x, nil
	}
	return nil, err
}

// undecided says that the search was ended before there was an answer, which is
// not a good one.
func (c *command) undecided(w io.Writer, why error) error {
	text := "not decided: neither a selection nor a proof that there is none was found: " + why.Error()
	if c.timeout > 0 {
		text = fmt.Sprintf("not decided within %v: neither a selection nor a proof that there is none was found; allow more with -timeout", c.timeout)
	}
	value := struct {
		Undecided string `json:"undecided"`
	}{text}
	if c.drawn() {
		return errors.New(text)
	}
	return c.print(w, value, nil, func(b *bytes.Buffer) { words.Fprintf(b, "%s\n", text) })
}

// resolve resolves the request; update is nil unless only some packages must be
// updated.
func (c *command) resolve(ctx context.Context, r *olm.Resolver, req *olm.Request) (*olm.Resolution, *olm.Update, error) {
	if len(c.only) == 0 {
		res, err := r.Resolve(ctx, req)
		return res, nil, err
	}
	update, err := r.UpdateOnly(ctx, req, c.only)
	if err != nil {
		return nil, nil, err
	}
	return update.Resolution, update, nil
}

// runPath finds the path to the targets. If there is none, the answer explains why.
func (c *command) runPath(ctx context.Context, r *olm.Resolver, req *olm.Request, stdout io.Writer) (int, error) {
	path, err := r.UpgradePath(ctx, req, c.targets, nil)
	var dead *olm.PathError
	var unsat *olm.UnsatError
	var channel *olm.ChannelError
	switch {
	case errors.As(err, &dead):
		return statusNoSolution, c.printDeadEnd(stdout, dead)
	case errors.As(err, &unsat):
		x, err := c.why(ctx, unsat)
		if err != nil {
			return 0, err
		}
		return statusNoSolution, c.printUnsatisfiable(stdout, x)
	case errors.As(err, &channel):
		return statusNoSolution, c.printChannel(stdout, err, channel)
	case err != nil:
		return 0, err
	}
	return statusResolved, c.printPath(stdout, path)
}

// runWhyNot explains why a bundle is not chosen. A bundle that no catalog has counts
// as no solution.
func (c *command) runWhyNot(ctx context.Context, r *olm.Resolver, req *olm.Request, stdout io.Writer) (int, error) {
	found, err := r.WhyNot(ctx, req, c.whyNot)
	if err != nil {
		return 0, err
	}
	status := statusResolved
	if len(found) == 0 {
		status = statusNoSolution
	}
	return status, c.printRejections(stdout, found)
}

// open opens the catalogs. They must be closed even if there is an error.
func (c *command) open(ctx context.Context) (r *olm.Resolver, closeAll func() error, err error) {
	var opened []*source.Source
	closeAll = func() error {
		var errs []error
		for _, s := range opened {
			errs = append(errs, s.Close())
		}
		return errors.Join(errs...)
	}
	var sources []olm.Source
	for _, f := range c.catalogs {
		c.doing("opening catalog " + f.name)
		s, err := source.Open(ctx, f.path, nil)
		if err != nil {
			return nil, closeAll, fmt.Errorf("-catalog %s: %w", f.name, err)
		}
		opened = append(opened, s)
		held, err := openCatalog(ctx, f.path, s)
		if err != nil {
			return nil, closeAll, fmt.Errorf("-catalog %s: %w", f.name, err)
		}
		key, priority := olm.SourceKey{Name: f.name, Namespace: namespace}, f.priority
		if c.held != nil {
			if key, priority = c.held.key(f.name, c.global); f.priority != 0 {
				priority = f.priority
			}
		}
		sources = append(sources, olm.Source{SourceKey: key, Priority: priority, Catalog: held})
	}
	c.doing("resolving")
	opts := c.rules
	opts.NoTakeover = c.held != nil // it is OLM's rules that hold there
	opts.KeepOrder = c.held == nil
	if c.held != nil {
		c.held.given = slices.Clone(sources)
		sources = append(sources, c.held.absent(sources)...)
		opts.GlobalNamespace, opts.TolerateUnhealthy = c.global, true
	}
	c.opened = sources
	r, err = olm.NewResolver(sources, &opts)
	return r, closeAll, err
}

func openCatalog(ctx context.Context, path string, s *source.Source) (*catalog.Catalog, error) {
	held, err := catalog.Open(ctx, s, nil)
	var findings catalog.Diagnostics
	if errors.As(err, &findings) { // the text starts with the file's path below the directory
		if findings[0].Pos.File == filepath.Base(path) {
			path = filepath.Dir(path)
		}
		return nil, fmt.Errorf("%s/%w", path, err)
	}
	if err != nil {
		return nil, err
	}
	for range held.Packages() {
		return held, nil
	}
	return nil, fmt.Errorf("%s: not a catalog: it contains no olm.package document", path)
}
