package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// clusterFlags are the flags of questions about a cluster's objects.
type clusterFlags struct {
	file      string // what -cluster names
	placed    bool   // there is a cluster: that, or a running one
	namespace string // the only one to report, or ""
	global    string // the namespace whose catalogs are visible everywhere, or "" to guess
	adopt     string // a CSV
	impact    *catalogFlag
	held      *cluster
}

// setImpact reads NAME=PATH.
func (c *command) setImpact(word string) error {
	name, path, ok := strings.Cut(word, "=")
	if !ok || name == "" || path == "" {
		return fmt.Errorf("catalog %q is not of the form NAME=PATH", word)
	}
	c.impact = &catalogFlag{name: name, path: path}
	return nil
}

// checkCluster checks the flags that are used with -cluster.
func (c *command) checkCluster(questions []string) error {
	if c.impact != nil {
		questions = append(questions, "-impact")
	}
	if c.adopt != "" {
		questions = append(questions, "-adopt")
	}
	switch {
	case len(questions) > 1:
		return fmt.Errorf("%s: use only one of them", strings.Join(questions, " and "))
	case c.relock && c.lock == "":
		return errors.New("-relock: name the file with -lock FILE")
	case len(questions) > 0 && (c.lock != "" || c.explain):
		return fmt.Errorf("%s: cannot be combined with -lock or -explain", questions[0])
	case (c.whyNot != "" || c.impact != nil || c.adopt != "") && c.drawn():
		return fmt.Errorf("%s: can be printed as text or json, not as %s", questions[0], c.format)
	}
	return nil
}

// clusterQuestion answers a question about a dumped cluster.
func (c *command) clusterQuestion(ctx context.Context, r *olm.Resolver, stdout, stderr io.Writer) (int, error) {
	for _, text := range c.held.odd {
		words.Fprintf(stderr, "note: %s\n", text)
	}
	if c.adopt != "" {
		return c.adoption(ctx, r, stdout, stderr)
	}
	names, err := c.held.spaces(c.clusterFlags.namespace)
	if err != nil {
		return 0, err
	}
	asked, err := c.held.spaces("")
	if err != nil {
		return 0, err
	}
	var reqs []*olm.Request
	for _, name := range asked {
		req, waits := c.held.request(name)
		if slices.Contains(names, name) {
			for _, text := range waits {
				words.Fprintf(stderr, "%s\n", text)
			}
		}
		reqs = append(reqs, req)
	}
	if c.impact != nil {
		return c.runImpact(ctx, r, reqs, stdout)
	}
	single := len(c.only) > 0 || len(c.targets) > 0 || c.whyNot != "" || c.explain || c.lock != "" || c.drawn()
	if single && len(names) == 0 {
		return 0, errors.New("there are no subscriptions")
	}
	if single && len(names) != 1 {
		return 0, fmt.Errorf("there are subscriptions in namespaces %s: choose one with -namespace", strings.Join(names, ", "))
	}
	if single {
		at := slices.IndexFunc(reqs, func(req *olm.Request) bool { return req.Namespace == names[0] })
		return c.answer(ctx, r, reqs[at], stdout, stderr)
	}
	text := stdout
	if c.format == "json" {
		text = stderr
	}
	status, err := c.runNamespaces(ctx, r, reqs, names, stdout, stderr)
	if c.clusterFlags.namespace != "" {
		return status, err // extensions belong to no namespace
	}
	return c.extensionsToo(status, err, text)
}

// manifestList is a list for kubectl apply.
type manifestList struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

// manifest is an object with its kind.
type manifest struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   olm.ObjectMeta `json:"metadata"`
	Spec       any            `json:"spec"`
}

const operatorsV1alpha1 = "operators.coreos.com/v1alpha1"

// installPlan returns the plan for what was chosen in a namespace. It is not approved
// if a subscription requires approval.
func installPlan(req *olm.Request, res *olm.Resolution) manifest {
	approval, _ := gate.Approval(req.Subscriptions)
	spec := install.InstallPlanSpec{Approval: approval, Approved: approval == olm.ApprovalAutomatic}
	for i := range res.Chosen {
		spec.ClusterServiceVersionNames = append(spec.ClusterServiceVersionNames, res.Chosen[i].Name)
	}
	sum := sha256.Sum256([]byte(strings.Join(spec.ClusterServiceVersionNames, "\n")))
	return manifest{operatorsV1alpha1, "InstallPlan", olm.ObjectMeta{Name: "install-" + hex.EncodeToString(sum[:3]), Namespace: req.Namespace}, spec}
}

// runNamespaces resolves all namespaces and reports the named ones.
func (c *command) runNamespaces(ctx context.Context, r *olm.Resolver, reqs []*olm.Request, names []string, stdout, stderr io.Writer) (int, error) {
	all, err := r.ResolveNamespaces(ctx, reqs)
	if err != nil {
		return 0, err
	}
	status := statusResolved
	list := manifestList{APIVersion: "v1", Kind: "List", Items: []any{}}
	for i := range all.Namespaces {
		n := &all.Namespaces[i]
		if !slices.Contains(names, n.Namespace) {
			continue
		}
		text := stdout
		if c.format == "json" {
			text = stderr
		} else {
			words.Fprintf(stdout, "namespace %s\n", n.Namespace)
		}
		diagnosing.Prevents(c.held.known, c.ofNamespace(n.Namespace)).Tell(text, false)
		blocked, err := c.printWaits(n, text)
		if err != nil {
			return 0, err
		}
		if blocked {
			status = statusNoSolution
		}
		switch {
		case n.Unsat != nil:
			status = statusNoSolution
			x, err := c.why(ctx, n.Unsat)
			if err != nil {
				return 0, err
			}
			if c.format == "json" {
				words.Fprintf(text, "namespace %s\n", n.Namespace)
			}
			if err := x.WriteText(text); err != nil {
				return 0, err
			}
		case c.format != "json":
			if err := c.printResolution(stdout, n.Resolution, nil, nil); err != nil {
				return 0, err
			}
		case len(n.Resolution.Chosen) > 0:
			list.Items = append(list.Items, installPlan(reqs[i], n.Resolution))
		}
	}
	for _, conflict := range all.Conflicts {
		if !slices.ContainsFunc(conflict.Wait, func(w string) bool { return slices.Contains(names, w) }) {
			continue
		}
		status = statusNoSolution
		list.Items = slices.DeleteFunc(list.Items, func(item any) bool { return slices.Contains(conflict.Wait, item.(manifest).Metadata.Namespace) })
		to := stdout
		if c.format == "json" {
			to = stderr
		}
		words.Fprintf(to, "waiting namespaces: %s\n  %s\n", strings.Join(conflict.Wait, ", "), conflict.Text)
		if conflict.Advice != "" {
			words.Fprintf(to, "To do: %s\n", conflict.Advice)
		}
	}
	if c.format == "json" {
		return status, printJSON(stdout, list)
	}
	return status, nil
}

// adoption adopts an operator in the namespace that has it, which needs no subscription for that.
func (c *command) adoption(ctx context.Context, r *olm.Resolver, stdout, stderr io.Writer) (int, error) {
	in, only := c.held.Within("csv", c.adopt), c.clusterFlags.namespace
	switch {
	case only != "":
	case len(in) == 0:
		return 0, fmt.Errorf("-adopt %s: there is no such ClusterServiceVersion", c.adopt)
	case len(in) > 1:
		return 0, fmt.Errorf("-adopt %s: it is in the namespaces %s: choose one with -namespace", c.adopt, words.List(in, "and", 5))
	default:
		only = in[0]
	}
	req, waits := c.held.request(only)
	for _, text := range waits {
		words.Fprintf(stderr, "%s\n", text)
	}
	return c.runAdopt(ctx, r, req, stdout, stderr)
}

// runAdopt prints the subscription by which an operator is adopted.
func (c *command) runAdopt(ctx context.Context, r *olm.Resolver, req *olm.Request, stdout, stderr io.Writer) (int, error) {
	a, err := r.Adopt(ctx, req, c.adopt, "")
	var refused *olm.AdoptError
	if errors.As(err, &refused) {
		_, err := words.Fprintf(stdout, "%s\n", words.Text(refused.Error()))
		return statusNoSolution, err
	}
	if err != nil {
		return 0, err
	}
	if c.held != nil {
		fmt.Fprintf(stderr, "note: OLM itself takes no operator over by its startingCSV: after creating the subscription, say that it has it installed: %s\n",
			shell.Command("kubectl patch subscriptions.operators.coreos.com -n %s %s --subresource=status --type merge -p %s", a.Subscription.Namespace, a.Subscription.Name,
				shell.JSON(map[string]any{"status": map[string]any{"installedCSV": c.adopt, "currentCSV": c.adopt, "state": "AtLatestKnown", "lastUpdated": "2000-01-01T00:00:00Z"}})))
	}
	return statusResolved, printJSON(stdout, manifest{operatorsV1alpha1, "Subscription", a.Subscription.ObjectMeta, a.Subscription.Spec})
}

// runImpact reports how the namespaces would change with other content of a catalog.
func (c *command) runImpact(ctx context.Context, r *olm.Resolver, reqs []*olm.Request, stdout io.Writer) (status int, err error) {
	other := *c
	other.catalogs = slices.Clone(c.catalogs)
	at := slices.IndexFunc(other.catalogs, func(f catalogFlag) bool { return f.name == c.impact.name })
	if at < 0 {
		return 0, fmt.Errorf("-impact %s: no -catalog has that name to compare with", c.impact.name)
	}
	other.catalogs[at].path = c.impact.path
	after, closeAll, err := other.open(ctx)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return 0, err
	}
	var fleet []olm.Member
	for _, req := range reqs {
		fleet = append(fleet, olm.Member{Name: req.Namespace, Request: req})
	}
	found, err := olm.Impact(ctx, r, after, fleet)
	if err != nil {
		return 0, err
	}
	if found.Count(olm.Broken)+found.Count(olm.Stranded) > 0 {
		status = statusNoSolution
	}
	if c.format == "json" {
		return status, printJSON(stdout, found)
	}
	var b strings.Builder
	words.Fprintf(&b, "%s\n", words.Text(strings.TrimRight(found.String(), "\n")))
	for _, m := range found.Members {
		for _, s := range m.Subscriptions {
			words.Fprintf(&b, "namespace %s, subscription %s: %s\n", m.Name, s.Subscription, s.Kind)
			for _, line := range s.Why {
				words.Fprintf(&b, "  %s\n", line)
			}
		}
	}
	_, err = io.WriteString(stdout, b.String())
	return status, err
}
