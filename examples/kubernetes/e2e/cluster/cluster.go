package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Options configures the cluster that [Start] starts. The zero value is usable.
type Options struct {
	// Servers is the directory of the programs etcd, kube-apiserver,
	// kube-controller-manager and kube-scheduler; empty means that returned by [Servers].
	Servers string
	// Controllers are the names of the controllers that the controller manager
	// runs; nil means those for garbage collection, namespaces, service
	// accounts, aggregated cluster roles, disruption budgets, endpoints of
	// services, Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs.
	Controllers []string
	// Scheduler also runs kube-scheduler. Then [KubeletOptions] should leave pods
	// without a node alone.
	Scheduler bool
	// EtcdArgs, APIServerArgs and ControllerManagerArgs are appended to the
	// arguments of the programs, and override them.
	EtcdArgs, APIServerArgs, ControllerManagerArgs []string
	// Patience limits the time to start one program; zero means two minutes.
	Patience time.Duration
}

// A Cluster is a running control plane. Its methods may be called from several
// goroutines at once.
type Cluster struct {
	opts     Options
	servers  string // the directory of the programs
	dir      string
	port     *reservedPort
	ca       *authority
	admin    *rest.Config
	watchdog *watchdog
	audit    auditLog

	mu       sync.Mutex
	etcd     *process
	manager  *process
	schedule *process // nil unless Options.Scheduler
	api      *process // nil while the API server is stopped
	kubelets *Kubelets
	stopped  bool
	stopping error // the result of Stop
}

// Start starts a control plane and returns when it is ready: the API server
// reports that it is ready, and the controller manager has started to work; a
// scheduler was started. It takes about four to six seconds. ctx and
// Options.Patience limit only the start. If server programs are missing, the
// error is a *[MissingServersError]; if one of them ends or does not become
// ready, the error quotes the end of its log. After an error nothing is left
// behind. opts may be nil.
func Start(ctx context.Context, opts *Options) (*Cluster, error) {
	c := &Cluster{}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Patience == 0 {
		c.opts.Patience = 2 * time.Minute
	}
	if err := c.bringUp(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a test cluster: %w", err), c.Stop())
	}
	return c, nil
}

// bringUp does the work of Start, but leaves cleanup to the caller.
func (c *Cluster) bringUp(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	var err error
	if c.etcd, err = c.start(etcdName, c.etcdArgs()); err != nil {
		return err
	}
	if err := c.await(ctx, c.etcd, c.etcdReady); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if c.manager, err = c.start(managerName, c.managerArgs()); err != nil {
		return err
	}
	if err := c.await(ctx, c.manager, c.managerReady); err != nil || !c.opts.Scheduler {
		return err
	}
	c.schedule, err = c.start(schedulerName, c.schedulerArgs())
	return err
}

// prepare creates everything that the servers need.
func (c *Cluster) prepare() (err error) {
	if c.servers = c.opts.Servers; c.servers == "" {
		c.servers, err = Servers()
	} else {
		err = checkServers(c.servers)
	}
	if err == nil && c.opts.Scheduler {
		err = checkPrograms(c.servers, schedulerName)
	}
	if err != nil {
		return err
	}
	if c.port, err = reservePort(); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "fairlead-"); err != nil {
		return err
	}
	if c.watchdog, err = newWatchdog(c.dir); err != nil {
		return err
	}
	// Systems limit names of sockets to 104 bytes or slightly more.
	if socket := c.etcdSocket(); len(socket) > 100 {
		return fmt.Errorf("%s is too long for the name of a socket: set TMPDIR to a shorter directory", socket)
	}
	if c.ca, err = newAuthority(); err != nil {
		return err
	}
	return c.writeFiles()
}

// writeFiles writes the files that the servers read.
func (c *Cluster) writeFiles() error {
	cert, key, err := c.ca.server()
	if err != nil {
		return err
	}
	_, accounts, err := newKey()
	if err != nil {
		return err
	}
	proxy, proxyKey, err := c.ca.client(proxyName, nil)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{"ca.crt", c.ca.pem},
		{"server.crt", cert},
		{"server.key", key},
		{"accounts.key", accounts},
		{"proxy.crt", proxy},
		{"proxy.key", proxyKey},
		{"audit.yaml", []byte(auditPolicy)},
	} {
		if err := os.WriteFile(c.file(file.name), file.data, 0o600); err != nil {
			return err
		}
	}
	if err := c.writeEgress(); err != nil {
		return err
	}
	if c.admin, err = c.ConfigForUser(AdminUser, "system:masters"); err != nil {
		return err
	}
	c.admin.QPS = -1
	manager, err := c.ConfigForUser("system:kube-controller-manager", "system:masters")
	if err != nil {
		return err
	}
	scheduler, err := c.ConfigForUser("system:kube-scheduler")
	if err != nil {
		return err
	}
	return errors.Join(WriteKubeconfig(manager, c.file("manager.kubeconfig")), WriteKubeconfig(scheduler, c.file("scheduler.kubeconfig")))
}

// StopAPIServer kills the API server, as an outage would: requests under way
// get no answer, and new ones are refused. Everything else continues to run.
// It is an error if the API server is not running.
func (c *Cluster) StopAPIServer() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api == nil {
		return fmt.Errorf("stopping %s: it is not running", apiName)
	}
	c.api.kill()
	c.api = nil
	return nil
}

// StartAPIServer starts the API server after StopAPIServer, on the same address
// and with the same data, and returns when it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return fmt.Errorf("starting %s: the cluster is stopped", apiName)
	case c.api != nil:
		return fmt.Errorf("starting %s: it is running", apiName)
	}
	p, err := c.start(apiName, c.apiArgs())
	if err != nil {
		return err
	}
	if err := c.await(ctx, p, c.apiReady); err != nil {
		p.kill()
		return err
	}
	c.api = p
	return nil
}

// Err returns an error if one of the servers ended unexpectedly; it quotes the
// server's log.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	var errs []error
	for _, p := range c.running() {
		select {
		case <-p.done:
			errs = append(errs, p.ended())
		default:
		}
	}
	return errors.Join(errs...)
}

// Stop kills all servers at once, without a grace period, and removes everything
// that the cluster has written. When it returns, no process is left. It takes
// well under a second. Further calls do nothing and return the result of the
// first one.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return c.stopping
	}
	c.stopped = true
	if c.kubelets != nil {
		c.kubelets.stop()
	}
	for _, p := range c.running() {
		p.kill()
	}
	var errs []error
	if c.watchdog != nil {
		errs = append(errs, c.watchdog.release())
	}
	if c.dir != "" {
		errs = append(errs, os.RemoveAll(c.dir))
	}
	if c.port != nil {
		c.port.release()
	}
	c.stopping = errors.Join(errs...)
	return c.stopping
}

// running returns the servers that were started and not stopped, in the order
// in which a cluster starts them. The lock must be held.
func (c *Cluster) running() []*process {
	var all []*process
	for _, p := range []*process{c.etcd, c.api, c.manager, c.schedule} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// Dir returns the directory of the cluster's data, keys and logs (NAME.log for
// each server, audit.log). It is removed by Stop.
func (c *Cluster) Dir() string { return c.dir }

// PIDs returns the process IDs of the running servers, by program name.
func (c *Cluster) PIDs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids := map[string]int{}
	if c.stopped {
		return pids
	}
	for _, p := range c.running() {
		pids[p.name] = p.cmd.Process.Pid
	}
	return pids
}

// Logs returns the last log lines of each running server, to be shown when a
// test failed.
func (c *Cluster) Logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text string
	for _, p := range c.running() {
		text += p.name + ":\n" + p.tail() + "\n"
	}
	return text
}
