package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are what the flags say.
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

	all []controller // those that -controllers chooses of
}

func newSettings(flags *flag.FlagSet) *settings {
	s := &settings{all: newControllers()}
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`file` that says where the cluster is; empty means $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.Var(&s.controllers, "controllers", "which controllers to run, a `list` with commas; given several times, those of all lists; not given, all")
	flags.StringVar(&s.namespace, "namespace", "fairlead", "`namespace` of the operator's own ConfigMaps and Lease")
	flags.StringVar(&s.health, "health-address", ":8081", "`address` of /healthz and /readyz; 0 for none")
	flags.StringVar(&s.metrics, "metrics-address", ":8080", "`address` of /metrics; 0 for none")
	flags.Float64Var(&s.qps, "qps", 0, "most requests a second; 0 leaves that to the server's priority and fairness")
	flags.IntVar(&s.workers, "workers", 4, "how many objects of each controller are looked at at a time")
	flags.DurationVar(&s.grace, "grace", 30*time.Second, "how long passes under way may take once it is to stop")
	flags.BoolVar(&s.elect, "leader-elect", true, "act only while holding the Lease fairlead of the namespace")
	flags.IntVar(&s.shards, "shards", 0, "by how many Leases the replicas share the objects, the same `number` for all of them; four times as many as replicas is a good choice; 0 means that one of them leads")
	flags.DurationVar(&s.leaseDuration, "lease-duration", 60*time.Second, "after how long without a sign of the leader, or of who holds a shard, another may take over")
	flags.DurationVar(&s.renewDeadline, "renew-deadline", 40*time.Second, "after how long without an answer of the server the leader gives up and ends; less than -lease-duration")
	flags.DurationVar(&s.retryPeriod, "retry-period", 5*time.Second, "time between attempts to renew or to get the Lease, or between two looks at those of shards")
	s.registry.define(flags)
	for _, c := range s.all {
		c.define(flags)
	}
	return s
}

// list is a flag of lists, which may be given several times.
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

// check returns what is wrong with the flags together.
func (s *settings) check() error {
	if s.elect && s.shards == 0 && (s.renewDeadline >= s.leaseDuration || s.retryPeriod >= s.renewDeadline || s.retryPeriod <= 0) {
		return fmt.Errorf("-lease-duration %v, -renew-deadline %v, -retry-period %v: each must be longer than the one after it", s.leaseDuration, s.renewDeadline, s.retryPeriod)
	}
	if s.shards < 0 {
		return fmt.Errorf("-shards %d: must be at least 1, or 0 to elect a leader", s.shards)
	}
	if s.workers < 1 {
		return fmt.Errorf("-workers %d: must be at least 1", s.workers)
	}
	return nil
}
