package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings contains the values of the flags.
type settings struct {
	kubeconfig  string
	controllers list
	namespace   string
	health      string
	metrics     string
	qps         float64
	workers     int
	grace       time.Duration

	shards        int
	elect         bool
	leaseDuration time.Duration
	renewDeadline time.Duration
	retryPeriod   time.Duration

	registry registrySettings

	all []controller // all available controllers
}

func newSettings(flags *flag.FlagSet) *settings {
	s := &settings{all: newControllers()}
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster; empty means $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.Var(&s.controllers, "controllers", "controllers to run, a `list` separated by commas; may be given several times; the default is all")
	flags.StringVar(&s.namespace, "namespace", "fairlead", "`namespace` of the operator's own ConfigMaps and Lease")
	flags.StringVar(&s.health, "health-address", ":8081", "`address` of /healthz and /readyz; 0 means none")
	flags.StringVar(&s.metrics, "metrics-address", ":8080", "`address` of /metrics; 0 means none")
	flags.Float64Var(&s.qps, "qps", 0, "most requests per second; 0 leaves the limit to the server's priority and fairness")
	flags.IntVar(&s.workers, "workers", 4, "how many objects each controller reconciles concurrently")
	flags.DurationVar(&s.grace, "grace", 30*time.Second, "how long passes under way may take when the operator stops")
	flags.BoolVar(&s.elect, "leader-elect", true, "act only while holding the Lease fairlead of the namespace")
	flags.IntVar(&s.shards, "shards", 0, "`number` of shards by which the replicas share the objects, the same for all replicas; four times as many as replicas is a good choice; 0 means that one replica leads")
	flags.DurationVar(&s.leaseDuration, "lease-duration", 60*time.Second, "how long a Lease lasts without renewal by the leader, or by the holder of a shard, before another replica takes over")
	flags.DurationVar(&s.renewDeadline, "renew-deadline", 40*time.Second, "how long the leader continues without an answer from the server before it exits; less than -lease-duration")
	flags.DurationVar(&s.retryPeriod, "retry-period", 5*time.Second, "time between attempts to renew or acquire the Lease, or between two reads of the Leases of shards")
	s.registry.define(flags)
	for _, c := range s.all {
		c.define(flags)
	}
	return s
}

// list is a flag with a list, which may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = append(*l, strings.Split(text, ",")...)
	return nil
}

// chosen returns the controllers to run.
func (s *settings) chosen() ([]controller, error) {
	wanted := s.controllers
	if wanted == nil {
		return s.all, nil
	}
	var out []controller
	for _, c := range s.all {
		if slices.Contains(wanted, c.name()) {
			out = append(out, c)
		}
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(s.all, func(c controller) bool { return c.name() == name }) {
			return nil, fmt.Errorf("-controllers: there is no controller %q: choose from %s", name, names(s.all))
		}
	}
	return out, nil
}

// check returns an error if the flags do not fit together.
func (s *settings) check() error {
	if s.elect && s.shards == 0 && (s.renewDeadline >= s.leaseDuration || s.retryPeriod >= s.renewDeadline || s.retryPeriod <= 0) {
		return fmt.Errorf("-lease-duration %v, -renew-deadline %v, -retry-period %v: each must be longer than the next", s.leaseDuration, s.renewDeadline, s.retryPeriod)
	}
	if s.shards < 0 {
		return fmt.Errorf("-shards %d: must be at least 1, or 0 to elect a leader", s.shards)
	}
	if s.workers < 1 {
		return fmt.Errorf("-workers %d: must be at least 1", s.workers)
	}
	return nil
}
