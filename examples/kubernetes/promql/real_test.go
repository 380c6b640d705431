package promql_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/promserver"
	"github.com/fairlead/fairlead/examples/kubernetes/promql"
)

// On a real server, the values of a metric decide as the rule says, and a new
// value is noticed. Queries that the server cannot carry out, that take too
// long or that have too large an answer, and the end of the server are errors
// with the right reasons. When the server is back, rules decide again.
func TestRealServer(t *testing.T) {
	const metrics = "risky{node=\"a\"} %s\nrisky{node=\"b\"} 0\nodd 7\nnot_a_number NaN\n"
	url, set := promserver.Target(t, fmt.Sprintf(metrics, "0"))
	s := promserver.Start(t, url)
	e := evaluator(t, s.URL, nil)
	ask := func(e *promql.Evaluator, query string) string {
		match, err := e.Evaluate(t.Context(), graph.Rule{Type: graph.RulePromQL, Query: query})
		var failed *promql.Error
		switch {
		case errors.As(err, &failed):
			return string(failed.Reason)
		case err != nil:
			return err.Error()
		}
		return fmt.Sprint(match)
	}
	s.Until("the first scrape is there", func() bool { return ask(e, "max(risky)") == "false" })
	set(fmt.Sprintf(metrics, "1"))
	s.Until("the new value is there", func() bool { return ask(e, "max(risky)") == "true" })
	for query, want := range map[string]string{
		"min(risky)":                          "false",
		"count(risky) == bool 2":              "true",
		"risky":                               "Answer", // two samples
		"absent(risky)":                       "Answer", // no sample
		"absent(missing)":                     "true",
		"odd":                                 "Answer",
		"not_a_number":                        "Answer",
		"1":                                   "Answer", // a scalar
		`"1"`:                                 "Server", // a string, which the client cannot read
		"max(risky":                           "Query",  // not a query
		"risky + on () group_left risky":      "Query",  // cannot be carried out
		"max(risky[5m])":                      "Query",  // the wrong type
		"max_over_time(vector(1)[9000s:1ms])": "Query",  // more samples than the server allows
	} {
		if got := ask(e, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	hurried := evaluator(t, s.URL, &promql.Options{Timeout: 50 * time.Millisecond})
	begun := time.Now()
	if got := ask(hurried, "max_over_time(vector(1)[4000s:1ms])"); got != "Timeout" {
		t.Errorf("a query that takes long: %s, want Timeout", got)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("a query that may take 50ms took %s", took)
	}
	if got := ask(evaluator(t, s.URL, &promql.Options{MaxAnswer: 100}), `{__name__=~".+"}`); got != "Limit" {
		t.Errorf("a large answer: %s, want Limit", got)
	}
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	list := updates("max(risky)", "min(risky)")
	recommended := func(known graph.Evaluations) (out []string) {
		for _, u := range list {
			r := known.Recommend(u, nil)
			out = append(out, string(r.Status)+" "+r.Reason)
		}
		return out
	}
	before, _ := graph.Evaluations{}.Evaluate(t.Context(), e, list, clock, nil)
	if got, want := recommended(before), []string{"False SlowDisks", "True NotExposedToRisks"}; !slices.Equal(got, want) {
		t.Errorf("recommended: %v, want %v", got, want)
	}
	s.Stop()
	clock.Advance(time.Hour)
	gone, wake := before.Evaluate(t.Context(), e, list, clock, nil)
	if got, want := recommended(gone), []string{"Unknown EvaluationFailed", "Unknown EvaluationFailed"}; !slices.Equal(got, want) {
		t.Errorf("recommended without the server: %v, want %v", got, want)
	}
	if message := gone.Recommend(list[0], nil).Message; !strings.Contains(message, "connection refused") {
		t.Errorf("the message without the server is %q", message)
	}
	s.Start()
	s.Until("a scrape after the restart is there", func() bool { return ask(e, "max(risky)") == "true" })
	clock.Advance(time.Minute)
	back, _ := gone.Evaluate(t.Context(), e, list, clock, nil)
	if got, want := recommended(back), recommended(before); !slices.Equal(got, want) {
		t.Errorf("recommended after the restart: %v, want %v (wake was %s)", got, want, wake)
	}
}

// clusterMetrics are the metrics of three clusters, as far as risks query them:
// one on AWS, a hosted one on Azure, and one that reports nothing but its
// operators.
const clusterMetrics = `
cluster_infrastructure_provider{_id="aws",type="AWS"} 1
cluster_installer{_id="aws",invoker="user"} 1
cluster_operator_conditions{_id="aws",name="etcd",condition="Available"} 1
cluster_operator_conditions{_id="aws",name="dns",condition="Available"} 1
cluster_version_capability{_id="aws",name="Console"} 1
cluster_version{_id="aws",type="initial",version="4.9.7"} 1600000000
cluster_feature_set{_id="aws",name=""} 1
csv_count{_id="aws"} 2
csv_succeeded{_id="aws",name="metallb-operator.v4.18.0"} 1
csv_succeeded{_id="aws",name="ptp-operator.v4.18.0-202502110000"} 1
apiserver_storage_objects{_id="aws",resource="nodes"} 150
apiserver_storage_objects{_id="aws",resource="egressips.k8s.ovn.org"} 0
apiserver_storage_objects{_id="aws",resource="network-attachment-definitions.k8s.cni.cncf.io"} 0
apiserver_storage_objects{_id="aws",resource="imagedigestmirrorsets.config.openshift.io"} 2
ovnkube_controller_ipsec_enabled{_id="aws"} 1
ovnkube_clustermanager_num_egress_ips{_id="aws"} 0
kube_node_role{_id="aws",node="m0",role="control-plane"} 1
kube_node_role{_id="aws",node="m0",role="master"} 1
kube_node_role{_id="aws",node="w0",role="worker"} 1
kube_node_labels{_id="aws",node="m0",label_kubernetes_io_arch="amd64",label_node_openshift_io_os_id="rhcos"} 1
kube_node_labels{_id="aws",node="w0",label_kubernetes_io_arch="amd64",label_node_openshift_io_os_id="rhel"} 1
kube_configmap_info{_id="aws",namespace="openshift-cloud-controller-manager",configmap="cloud-conf"} 1
kube_configmap_info{_id="aws",namespace="openshift-cloud-controller-manager",configmap="trusted-ca"} 1
cluster_infrastructure_provider{_id="azure",type="Azure"} 1
cluster_installer{_id="azure",invoker="hypershift"} 1
cluster_operator_conditions{_id="azure",name="aro",condition="Available"} 1
cluster_operator_conditions{_id="azure",name="etcd",condition="Available"} 1
cluster_version{_id="azure",type="initial",version="4.17.2"} 1700000000
cluster_feature_set{_id="azure",name="TechPreviewNoUpgrade"} 1
csv_count{_id="azure"} 1
csv_succeeded{_id="azure",name="gpu-operator-certified.v25.3.0"} 1
apiserver_storage_objects{_id="azure",resource="nodes"} 6
apiserver_storage_objects{_id="azure",resource="network-attachment-definitions.k8s.cni.cncf.io"} 3
ovnkube_controller_ipsec_enabled{_id="azure"} 0
ovnkube_clustermanager_num_egress_ips{_id="azure"} 4
kube_node_role{_id="azure",node="w0",role="worker"} 1
kube_node_labels{_id="azure",node="w0",label_kubernetes_io_arch="s390x"} 1
cluster_operator_conditions{_id="bare",name="etcd",condition="Available"} 1
`

// realRules returns the queries of the recorded graph data, and a name for each:
// that of the first risk that has it.
func realRules(t *testing.T) map[graph.Rule]string {
	root := cmp.Or(os.Getenv("FAIRLEAD_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	data, found := graph.ReadData(os.DirFS(filepath.Join(root, "graph", "graph-data")))
	if data == nil {
		t.Skipf("no recorded graph data here, FAIRLEAD_DATA names no directory that has it: %v", found.Err())
	}
	rules := map[graph.Rule]string{}
	for _, b := range data.Blocked {
		if b.Risk == nil {
			continue
		}
		for _, rule := range b.Risk.MatchingRules {
			if rule.Type == graph.RulePromQL && (rules[rule] == "" || b.Risk.Name < rules[rule]) {
				rules[rule] = b.Risk.Name
			}
		}
	}
	return rules
}

// A real server can carry out each query of the recorded graph data, which
// decides correctly for two clusters. If a cluster does not report the
// metrics that a query uses, it decides nothing.
func TestRealRisks(t *testing.T) {
	rules := realRules(t)
	url, _ := promserver.Target(t, clusterMetrics)
	s := promserver.Start(t, url)
	of := map[string]*promql.Evaluator{}
	for _, id := range []string{"aws", "azure", "bare"} {
		of[id] = evaluator(t, s.URL, &promql.Options{ClusterID: id})
	}
	s.Until("the first scrape is there", func() bool {
		match, err := of["bare"].Evaluate(t.Context(), graph.Rule{Type: graph.RulePromQL, Query: `group(cluster_operator_conditions{_id=""})`})
		return err == nil && match
	})
	count := map[string]map[string]int{}
	for _, rule := range slices.SortedFunc(maps.Keys(rules), func(a, b graph.Rule) int { return cmp.Compare(rules[a], rules[b]) }) {
		var line []string
		for _, id := range []string{"aws", "azure", "bare"} {
			if count[id] == nil {
				count[id] = map[string]int{}
			}
			match, err := of[id].Evaluate(t.Context(), rule)
			end := fmt.Sprint(match)
			var failed *promql.Error
			switch {
			case errors.As(err, &failed) && failed.Reason == promql.Answer:
				end = "undecided"
			case err != nil:
				t.Errorf("%s: %v", rules[rule], err)
				continue
			}
			count[id][end]++
			line = append(line, end)
		}
		if got, want := strings.Join(line, " "), realEnds[rules[rule]]; got != want {
			t.Errorf("%s: %s; want %s", rules[rule], got, want)
		}
	}
	if len(rules) < len(realEnds) {
		t.Errorf("%d different queries were found, want %d", len(rules), len(realEnds))
	}
	t.Logf("%d different queries: %v", len(rules), count)
}

// realEnds are the results of the queries for the clusters aws, azure and bare.
// Some do not select a cluster by ID, and so have the same result for all.
var realEnds = map[string]string{
	"ARO420UDRWorkerNodesFail":                        "false true false",
	"AROMissingInternalLBSAN":                         "false true false",
	"ConsoleEnabledTargetDownAlert":                   "true true true",
	"ControlPlaneStatusGreyIcon":                      "true false undecided",
	"CrunConflictsWithNVIDIA":                         "false true undecided",
	"HCPMetallbCNOCannotDeployFRRK8S":                 "false false undecided",
	"HCPServiceHealthCheckDisruption":                 "false false undecided",
	"HostedClusterIsProgressingStuckCondition":        "false true undecided",
	"IPsecLargeClusterConnectivity":                   "true false undecided",
	"InvalidArchitectureValueOfMachinesetsAnnotation": "false false undecided",
	"MCOContainerRuntimeConfigStaleFinalizer":         "false false false",
	"MachineConfigNodesV1AlphaControlPlaneLabels":     "false false undecided",
	"MetallbBgpBfdFrrRpm":                             "true false undecided",
	"MultusCniVersionThirdPartyCniBreak":              "false true undecided",
	"NMStateServiceFailure":                           "false false undecided",
	"NUMAResourcesOperatorCrashLoopBackOff":           "false false undecided",
	"NetworkManagerOVNBridgeMapping":                  "false false undecided",
	"NoCloudConfConfigMap":                            "false undecided undecided",
	"NonZonalAzureMachineSetScaling":                  "false true undecided",
	"OSUpdateFailureDueToImagePullPolicy":             "true false undecided",
	"OVNEgressIPFailure":                              "false true undecided",
	"OVNLocalnetWithNoSubnets":                        "false false undecided",
	"OldBootImagesComposeFSvsGrubProbe":               "true false undecided",
	"PrecisionTimeProtocolDPLLPins":                   "true false undecided",
	"RHELFailedRebootMissingService":                  "true false undecided",
	"S390xContainerDataFailure":                       "false true undecided",
	"SigstoreSignatureMirroring":                      "true false undecided",
	"TechPreviewSignatureStoresInDefault":             "true false undecided",
	"VSphereStorageMountIssues":                       "false false false",
}
