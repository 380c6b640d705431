// Answers says what the cluster-version operator's own code says of situations. It is
// built inside of that repository, whose packages cannot be had as a module:
//
//	git clone https://github.com/openshift/cluster-version-operator && cd cluster-version-operator
//	git checkout 6e719331fb58 && mkdir cmd/answers && cp .../main.go cmd/answers
//	go run -mod=vendor ./cmd/answers preconditions <situations.jsonl >answers.txt
//	go run -mod=vendor ./cmd/answers readiness CURRENT TARGET <objects.json
//
// Of preconditions a line of the input is {"cluster": ClusterVersion, "target": VERSION},
// and a line of the output the reasons in the order of the checks, warnings in brackets. Of
// readiness the input is a list of objects, and the output what all checks found.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	configv1listers "github.com/openshift/client-go/config/listers/config/v1"
	"github.com/openshift/cluster-version-operator/pkg/payload/precondition"
	"github.com/openshift/cluster-version-operator/pkg/payload/precondition/clusterversion"
	"github.com/openshift/cluster-version-operator/pkg/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "preconditions":
		err = preconditions()
	case len(os.Args) == 4 && os.Args[1] == "readiness":
		err = ready(os.Args[2], os.Args[3])
	default:
		log.Fatal("answers preconditions | readiness CURRENT TARGET")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// lister has one ClusterVersion.
type lister struct{ *configv1.ClusterVersion }

func (l lister) List(labels.Selector) ([]*configv1.ClusterVersion, error) {
	return []*configv1.ClusterVersion{l.ClusterVersion}, nil
}
func (l lister) Get(string) (*configv1.ClusterVersion, error) { return l.ClusterVersion, nil }

var _ configv1listers.ClusterVersionLister = lister{}

func preconditions() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var s struct {
			Cluster *configv1.ClusterVersion
			Target  string
		}
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			return err
		}
		l := lister{s.Cluster}
		list := precondition.List{clusterversion.NewRollback(l), clusterversion.NewGiantHop(l), clusterversion.NewUpgradeable(l), clusterversion.NewRecommendedUpdate(l)}
		var words []string
		for _, err := range list.RunAll(context.Background(), precondition.ReleaseContext{DesiredVersion: s.Target}) {
			e := err.(*precondition.Error)
			word := strings.TrimPrefix(e.Name, "ClusterVersion") + ":" + e.Reason
			if e.NonBlockingWarning {
				word = "[" + word + "]"
			}
			words = append(words, word)
		}
		fmt.Fprintln(out, strings.Join(words, " "))
	}
	return in.Err()
}

func ready(current, target string) error {
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		return err
	}
	kinds := map[schema.GroupVersionResource]string{
		readiness.GVRClusterVersion: "ClusterVersionList", readiness.GVRClusterOperator: "ClusterOperatorList", readiness.GVRMachineConfigPool: "MachineConfigPoolList",
		readiness.GVRNode: "NodeList", readiness.GVRPod: "PodList", readiness.GVRPDB: "PodDisruptionBudgetList", readiness.GVRCSV: "ClusterServiceVersionList",
		readiness.GVRSubscription: "SubscriptionList", readiness.GVRInstallPlan: "InstallPlanList", readiness.GVRPackageManifest: "PackageManifestList",
		readiness.GVRAPIRequestCount: "APIRequestCountList", readiness.GVRNetwork: "NetworkList", readiness.GVRAPIServer: "APIServerList", readiness.GVRProxy: "ProxyList",
		readiness.GVRInfrastructure: "InfrastructureList",
	}
	var objects []runtime.Object
	for _, o := range list.Items {
		// as a server's answer is read: whole numbers are int64
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(text); err != nil {
			return err
		}
		objects = append(objects, u)
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(readiness.RunAll(context.Background(), client, current, target))
}
