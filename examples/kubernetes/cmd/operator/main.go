// Operator runs the engines of fairlead as controllers of a Kubernetes cluster,
// each in a package below kube:
//
//   - eviction: pods leave nodes with NoExecute taints in time
//   - machines: machines are deleted by their hooks, drained, and terminated
//   - drain: nodes are taken out of service, and returned, as requests specify
//   - fleet: unhealthy machines are replaced
//   - controlplane: the machines of a control plane are replaced when the
//     template of their set changes
//   - quorum: machines of a control plane are released only after their etcd
//     member is removed
//   - rollout: nodes are brought to new configurations, pool by pool
//   - clusterversion: the cluster is updated from one release to the next
//   - operators: operators are installed and updated from catalogs
//   - extensions: the same for cluster extensions, those of OLM v1
//   - plan: a plan for the whole cluster is carried out
//
// It finds the cluster like all programs based on controller-runtime: by
// -kubeconfig, KUBECONFIG, or the service account of its pod. One replica leads and
// acts; the others wait. -help lists the flags.
//
// It stops on SIGTERM or an interrupt: no more passes begin, those under way
// end, and the lease is released.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stderr))
}

// run is the program. It returns its exit status.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line is enough for an error
	settings := newSettings(flags)
	help := func() {
		fmt.Fprintf(stderr, "usage: operator [flags]\n\nRuns the controllers %s.\n\n", names(settings.all))
		flags.SetOutput(stderr)
		flags.PrintDefaults()
	}
	var logs zap.Options
	logs.BindFlags(flags)
	flags.Usage = func() {}
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		help()
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "operator: %v; -help lists the flags\n", err)
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "operator: %q: takes no arguments, only flags; -help lists them\n", flags.Arg(0))
		return 2
	}
	log := zap.New(zap.UseFlagOptions(&logs), zap.WriteTo(stderr))
	ctrl.SetLogger(log)
	if err := serve(logr.NewContext(ctx, log), settings); err != nil {
		fmt.Fprintf(stderr, "operator: %v\n", err)
		return 1
	}
	return 0
}
