package reading

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/words"
)

// running says how to read a running cluster: with a program of the PATH, which knows the
// credentials. They are never read here.
type running struct {
	program string
	flags   []string // of each call
}

// requests are the kinds that are asked for, in one call each: what is missing in the cluster or
// refused does not hide the others. Kinds that only OpenShift has are asked for by oc and
// kubectl alike.
var requests = []struct {
	resource, kind string
	cluster        bool // it has no namespace
}{
	{"nodes", "Node", true}, {"namespaces", "Namespace", true}, {"pods", "Pod", false}, {"poddisruptionbudgets.policy", "PodDisruptionBudget", false},
	{"deployments.apps", "Deployment", false}, {"replicasets.apps", "ReplicaSet", false}, {"statefulsets.apps", "StatefulSet", false},
	{"daemonsets.apps", "DaemonSet", false}, {"replicationcontrollers", "ReplicationController", false},
	{"volumeattachments.storage.k8s.io", "VolumeAttachment", true}, {"persistentvolumes", "PersistentVolume", true},
	{"persistentvolumeclaims", "PersistentVolumeClaim", false},
	{"machines.machine.openshift.io", "Machine", false}, {"machines.cluster.x-k8s.io", "Machine", false},
	{"machinesets.machine.openshift.io", "MachineSet", false}, {"machinesets.cluster.x-k8s.io", "MachineSet", false},
	{"machinehealthchecks.machine.openshift.io", "MachineHealthCheck", false}, {"machinehealthchecks.cluster.x-k8s.io", "MachineHealthCheck", false},
	{"clusterversions.config.openshift.io", "ClusterVersion", true}, {"clusteroperators.config.openshift.io", "ClusterOperator", true},
	{"machineconfigpools.machineconfiguration.openshift.io", "MachineConfigPool", true},
	{"machineconfigs.machineconfiguration.openshift.io", "MachineConfig", true},
	{"infrastructures.config.openshift.io", "Infrastructure", true}, {"apirequestcounts.apiserver.openshift.io", "APIRequestCount", true},
	{"subscriptions.operators.coreos.com", "Subscription", false}, {"clusterserviceversions.operators.coreos.com", "ClusterServiceVersion", false},
	{"installplans.operators.coreos.com", "InstallPlan", false}, {"operatorgroups.operators.coreos.com", "OperatorGroup", false},
	{"catalogsources.operators.coreos.com", "CatalogSource", false}, {"operatorconditions.operators.coreos.com", "OperatorCondition", false},
	{"clusterextensions.olm.operatorframework.io", "ClusterExtension", true}, {"clustercatalogs.olm.operatorframework.io", "ClusterCatalog", true},
}

// live reads the running cluster.
func (s *Source) live(r *snapshot.Reader) error {
	run, err := s.program()
	if err != nil {
		return err
	}
	where, err := run.call(s, "config", "current-context")
	if s.context != "" {
		where, err = []byte(s.context), nil
	}
	if err != nil {
		where = []byte("the current context")
	}
	words.Fprintf(s.call.Stderr, "note: %s reads the cluster of %s\n", run.program, cmp.Or(strings.TrimSpace(string(where)), "the current context"))
	served, err := run.call(s, "api-resources", "--verbs=list", "-o", "name", "--no-headers")
	if err != nil {
		return fmt.Errorf("%s: the cluster does not answer: %w", run.program, err)
	}
	there := map[string]bool{}
	for _, name := range strings.Fields(string(served)) {
		there[name] = true
	}
	for _, q := range requests {
		if !there[q.resource] { // the cluster does not have the kind
			continue
		}
		run.list(s, r, q.resource, q.kind, q.cluster)
	}
	for _, m := range [][2]string{{"openshift-config-managed", "admin-gates"}, {"openshift-config", "admin-acks"}} {
		if there["clusterversions.config.openshift.io"] {
			text, err := run.call(s, "get", "configmap", m[1], "-n", m[0], "-o", "json", "--ignore-not-found")
			if err == nil && len(text) > 0 {
				err = r.Stream(bytes.NewReader(text), run.program+" get configmap "+m[1])
			}
			if err != nil {
				r.Missed("ConfigMap", snapshot.Gap{Namespace: m[0], Why: err.Error(), Permission: "get configmaps in " + m[0]})
			}
		}
	}
	return nil
}

// list reads all objects of a kind. What may not be read is a gap with the permission that
// would help.
func (p *running) list(s *Source, r *snapshot.Reader, resource, kind string, cluster bool) {
	s.call.Doing("reading " + resource)
	words := []string{"get", resource, "-o", "json", "--chunk-size=500"}
	if !cluster {
		words = append(words, "-A")
	}
	text, err := p.call(s, words...)
	if err == nil {
		err = r.StreamOf(kind, bytes.NewReader(text), p.program+" "+strings.Join(words, " "))
	}
	if err != nil {
		r.Missed(kind, snapshot.Gap{Why: err.Error(), Permission: "list " + resource})
		s.found(fmt.Sprintf("%s are unknown: %v; it needs permission to list %s, which cluster-reader has", resource, err, resource))
		return
	}
	r.Listed(kind)
}

// program returns oc or kubectl.
func (s *Source) program() (*running, error) {
	p := &running{}
	for _, name := range []string{"oc", "kubectl"} {
		if path, err := exec.LookPath(name); err == nil {
			p.program = path
			break
		}
	}
	if p.program == "" {
		return nil, errors.New("neither oc nor kubectl is on the PATH, and one of them reads the cluster; or name a FILE with the output of kubectl get -o yaml")
	}
	for _, f := range [][2]string{{"--kubeconfig=", s.kubeconfig}, {"--context=", s.context}, {"--cluster=", s.cluster}} {
		if f[1] != "" {
			p.flags = append(p.flags, f[0]+f[1])
		}
	}
	return p, nil
}

// call runs the program. The error is the first line that it says.
func (p *running) call(s *Source, words ...string) ([]byte, error) {
	cmd := exec.CommandContext(s.call.Context, p.program, append(words, p.flags...)...)
	cmd.WaitDelay = 5 * time.Second
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if s.call.Context.Err() != nil {
		return nil, s.call.Context.Err()
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(problems.String()), "\n"); err != nil && first != "" {
		err = errors.New(first)
	}
	return out.Bytes(), err
}
