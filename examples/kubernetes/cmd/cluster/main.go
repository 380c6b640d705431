// Cluster answers questions about a running cluster: the progress of its update, and
// which steps lead to a release. It only reads, and writes nothing. The answers are
// those of "fairlead update status" and "fairlead plan" for a dump of the same
// objects.
//
// The exit status is 0 if all is well, 1 if there are findings or no plan, and 2 if the
// arguments are wrong or the cluster cannot be read.
package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/fairlead/plan"
	"github.com/fairlead/fairlead/examples/fairlead/update"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	"github.com/fairlead/fairlead/examples/kubernetes/promql"
)

func main() { args.Main(tool().WithCompletion()) }

// tool returns the program.
func tool() *args.Command {
	return &args.Command{
		Name:  "cluster",
		About: "answers questions about a running cluster; it writes nothing",
		Help: `The cluster is that of -kubeconfig FILE, or else of $KUBECONFIG, of ~/.kube/config, or of the pod's service account.
What may not be read is reported as unknown, with the missing permission.`,
		Examples: `cluster status
			cluster plan -to 4.20 -pause-workers`,
		Commands: []*args.Command{statusCommand(), planCommand(), args.Version()},
	}
}

func statusCommand() *args.Command {
	return &args.Command{
		Name:  "status",
		Usage: "[-kubeconfig FILE] [-prometheus URL [-token FILE] [-ca FILE]] [-v] [-o text|json|yaml]",
		About: "show the progress of the cluster's update, what blocks it, and what is unknown",
		Help: `  -prometheus URL    the Prometheus that has the cluster's alerts (on OpenShift: the route thanos-querier in
                     openshift-monitoring); without it, alerts are unknown
  -token FILE        the bearer token for it
  -ca FILE           the certificate authorities for it
  -v                 show all operators that are not done, all nodes, and what each finding explains`,
		Run: status,
	}
}

func planCommand() *args.Command {
	return &args.Command{
		Name:  "plan",
		Usage: "[-kubeconfig FILE] " + strings.TrimSuffix(situation.Usage, " [-at TIME]") + " [-play] [-faults SEED] [-o text|json|yaml|mermaid]",
		About: "plan the update of the cluster to a release, with a proof that no plan is better, or explain what prevents it",
		Help: situation.Help + `
  -play                  run the plan on a cluster in memory, with the real engines, and compare the result with the plan
  -faults SEED           with -play: make calls fail, processes die and states get lost, at random from this seed`,
		Run: func(c *args.Call) error {
			config := c.Flags.String("kubeconfig", "", "")
			return plan.Run(c, 0, func(flags *situation.Flags) (*situation.Situation, error) { return read(c, *config, flags) })
		},
	}
}

// connect returns a client for the cluster in a kubeconfig file, or in the
// usual places.
func connect(file string) (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, &args.UsageError{Text: "which cluster? set -kubeconfig FILE or KUBECONFIG"}
	}
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{})
}

func status(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	config := c.Flags.String("kubeconfig", "", "")
	prometheus, token, ca := c.Flags.String("prometheus", "", ""), c.Flags.String("token", "", ""), c.Flags.String("ca", "", "")
	all := c.Flags.Bool("v", false, "")
	if err := c.Parse(0, 0); err != nil {
		return err
	}
	var alerts live.Alerts
	if *prometheus != "" {
		by, err := promql.New(*prometheus, &promql.Options{TokenFile: *token, CAFile: *ca})
		if err != nil {
			return fmt.Errorf("-prometheus: %w", err)
		}
		alerts = by.Alerts
	} else if *token != "" || *ca != "" {
		return &args.UsageError{Text: "-token and -ca need -prometheus"}
	}
	from, err := connect(*config)
	if err != nil {
		return err
	}
	c.Doing("reading the cluster")
	r, err := live.Inspect(c.Context, from, alerts, time.Now())
	if err != nil {
		return err
	}
	return update.ShowStatus(c, r, nil, *form, *all)
}

// read reads the cluster for a plan. Objects that it cannot read are reported on
// standard error, and by the steps that depend on them.
func read(c *args.Call, config string, flags *situation.Flags) (*situation.Situation, error) {
	if c.Given("at") {
		return nil, &args.UsageError{Text: "-at is only for dumps; a running cluster is read as it is now"}
	}
	from, err := connect(config)
	if err != nil {
		return nil, err
	}
	c.Doing("reading the cluster")
	s, missing, err := live.Objects(c.Context, from)
	if err != nil {
		return nil, err
	}
	var gaps []string
	for _, g := range missing {
		gaps = append(gaps, fmt.Sprintf("unknown: %s\n  get it: %s\n", g.What, g.How))
	}
	if s.Version() == nil {
		return nil, errors.New("there is no ClusterVersion to plan for\n" + strings.Join(gaps, ""))
	}
	fmt.Fprint(c.Stderr, strings.Join(gaps, ""))
	s.Clock = snapshot.Clock{At: time.Now(), Source: "the clock of this machine"}
	return flags.Complete(c, s)
}
