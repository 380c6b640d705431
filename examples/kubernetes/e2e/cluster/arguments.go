package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
)

// defaultControllers are the controllers of the controller manager that run
// unless [Options] names others. They include neither those that the engines
// replace (taint-eviction-controller, node-lifecycle-controller), nor
// pod-garbage-collector-controller, because it deletes the pods of nodes that
// are gone.
var defaultControllers = []string{
	"clusterrole-aggregation-controller",
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"endpointslice-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"replicaset-controller",
	"serviceaccount-controller",
	"statefulset-controller",
}

// etcdSocket returns the socket that etcd listens on: in a directory that
// only its owner may enter, it needs neither a port nor a certificate.
func (c *Cluster) etcdSocket() string { return c.file("etcd.sock") }

// etcdArgs returns the arguments of etcd. It requires something that looks
// like a port in every advertised address, and accepts "peer:0" as the name of
// a socket in its working directory.
func (c *Cluster) etcdArgs() []string {
	return append([]string{
		"--name=etcd",
		"--data-dir=" + c.file("etcd"),
		"--listen-client-urls=unix://" + c.etcdSocket(),
		"--advertise-client-urls=http://127.0.0.1:1",
		"--listen-peer-urls=unix://peer:0",
		"--initial-advertise-peer-urls=unix://peer:0",
		"--initial-cluster=etcd=unix://peer:0",
		"--unsafe-no-fsync", // the data need not survive a crash of the machine
		"--log-level=warn",
	}, c.opts.EtcdArgs...)
}

// apiArgs returns the arguments of kube-apiserver.
func (c *Cluster) apiArgs() []string {
	return append([]string{
		"--etcd-servers=unix://" + c.etcdSocket(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port.number),
		"--permit-port-sharing", // with the socket that reserves the port
		"--tls-cert-file=" + c.file("server.crt"),
		"--tls-private-key-file=" + c.file("server.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--authorization-mode=RBAC",
		// It adds a taint to new nodes that node-lifecycle-controller, which does
		// not run, would remove.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.file("accounts.key"),
		"--service-account-key-file=" + c.file("accounts.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--egress-selector-config-file=" + c.file("egress.yaml"),
		// By these, aggregated APIs identify their callers.
		"--proxy-client-cert-file=" + c.file("proxy.crt"),
		"--proxy-client-key-file=" + c.file("proxy.key"),
		"--requestheader-client-ca-file=" + c.file("ca.crt"),
		"--requestheader-allowed-names=" + proxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--allow-privileged=true",
		"--event-ttl=15m",
		"--shutdown-delay-duration=0",
		"--profiling=false",
		"--audit-policy-file=" + c.file("audit.yaml"),
		"--audit-log-path=" + c.file("audit.log"),
		// Blocking: a request is in the log before its answer ends.
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=0",
	}, c.opts.APIServerArgs...)
}

// managerArgs returns the arguments of kube-controller-manager.
func (c *Cluster) managerArgs() []string {
	controllers := c.opts.Controllers
	if controllers == nil {
		controllers = defaultControllers
	}
	return append([]string{
		"--kubeconfig=" + c.file("manager.kubeconfig"),
		"--controllers=" + strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--concurrent-gc-syncs=4",
		"--profiling=false",
	}, c.opts.ControllerManagerArgs...)
}

// schedulerArgs returns the arguments of kube-scheduler, which has its own user and
// the permissions that every cluster gives it.
func (c *Cluster) schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.file("scheduler.kubeconfig"),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--profiling=false",
	}
}

// file returns the path of a file of this cluster.
func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }
