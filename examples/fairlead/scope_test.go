package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scopeKind are the objects of a kind in a cluster in which all is well.
type scopeKind struct {
	api, plural string
	namespaced  bool
	objects     []string
}

// scopeCluster is that cluster, by kind.
var scopeCluster = map[string]scopeKind{
	"ClusterVersion": {"config.openshift.io/v1", "clusterversions", false, []string{`metadata: {name: version}, spec: {channel: stable-4.18, clusterID: c}, status: {
 desired: {version: 4.18.3, image: a, channels: [stable-4.18]},
 history: [{state: Completed, startedTime: "2026-04-01T12:00:00Z", completionTime: "2026-04-01T13:00:00Z", version: 4.18.3, image: a}],
 conditions: [{type: Available, status: "True"}, {type: Failing, status: "False"}, {type: Progressing, status: "False"}, {type: RetrievedUpdates, status: "True"}, {type: ReleaseAccepted, status: "True"}, {type: Upgradeable, status: "True"}],
 availableUpdates: [{version: 4.18.5, image: c, channels: [stable-4.18]}]}`}},
	"ClusterOperator": {"config.openshift.io/v1", "clusteroperators", false, []string{scopeOperator("dns"), scopeOperator("network")}},
	"MachineConfigPool": {"machineconfiguration.openshift.io/v1", "machineconfigpools", false, []string{`metadata: {name: worker}, spec: {configuration: {name: r-w}, nodeSelector: {matchLabels: {node-role.kubernetes.io/worker: ""}}},
 status: {machineCount: 2, updatedMachineCount: 2, readyMachineCount: 2, configuration: {name: r-w}}`}},
	"MachineConfig": {"machineconfiguration.openshift.io/v1", "machineconfigs", false, []string{
		`metadata: {name: r-w, annotations: {machineconfiguration.openshift.io/release-image-version: 4.18.3}}`, `metadata: {name: w, annotations: {}}`}},
	"Node": {"v1", "nodes", false, []string{scopeNode("w-0"), scopeNode("w-1")}},
	"Pod":  {"v1", "pods", true, []string{scopePod("shop", "web-0", "w-0"), scopePod("bank", "web-0", "w-1"), scopePod("shop", "web-1", "w-1")}},
	"PodDisruptionBudget": {"policy/v1", "poddisruptionbudgets", true, []string{
		scopeBudget("shop", 2), scopeBudget("bank", 1)}},
	"ReplicaSet":      {"apps/v1", "replicasets", true, []string{`metadata: {name: web, namespace: shop, uid: rs-shop}, spec: {replicas: 2}, status: {replicas: 2}`, `metadata: {name: web, namespace: bank, uid: rs-bank}, spec: {replicas: 1}, status: {replicas: 1}`}},
	"StatefulSet":     {"apps/v1", "statefulsets", true, nil},
	"DaemonSet":       {"apps/v1", "daemonsets", true, nil},
	"APIRequestCount": {"apiserver.openshift.io/v1", "apirequestcounts", false, nil},
	"Machine": {"machine.openshift.io/v1beta1", "machines", true, []string{
		`metadata: {name: m-0, namespace: openshift-machine-api, uid: m0}, spec: {providerID: p-0}, status: {phase: Running, nodeRef: {name: w-0}}`,
		`metadata: {name: m-1, namespace: openshift-machine-api, uid: m1}, spec: {providerID: p-1}, status: {phase: Running, nodeRef: {name: w-1}}`}},
	"Namespace":    {"v1", "namespaces", false, []string{`metadata: {name: shop}`, `metadata: {name: bank}`, `metadata: {name: openshift-marketplace}`}},
	"Subscription": {"operators.coreos.com/v1alpha1", "subscriptions", true, []string{scopeSubscription("shop"), scopeSubscription("bank")}},
	"ClusterServiceVersion": {"operators.coreos.com/v1alpha1", "clusterserviceversions", true, []string{
		`metadata: {name: db.v1.0.0, namespace: shop}, spec: {version: 1.0.0, installModes: [{type: OwnNamespace, supported: true}]}, status: {phase: Succeeded}`,
		`metadata: {name: db.v1.0.0, namespace: bank}, spec: {version: 1.0.0, installModes: [{type: OwnNamespace, supported: true}]}, status: {phase: Succeeded}`}},
	"InstallPlan":              {"operators.coreos.com/v1alpha1", "installplans", true, nil},
	"OperatorCondition":        {"operators.coreos.com/v2", "operatorconditions", true, nil},
	"CustomResourceDefinition": {"apiextensions.k8s.io/v1", "customresourcedefinitions", false, nil},
	"ClusterExtension":         {"olm.operatorframework.io/v1", "clusterextensions", false, nil},
	"OperatorGroup": {"operators.coreos.com/v1", "operatorgroups", true, []string{
		`metadata: {name: g, namespace: shop}, spec: {targetNamespaces: [shop]}, status: {namespaces: [shop]}`, `metadata: {name: g, namespace: bank}, spec: {targetNamespaces: [bank]}, status: {namespaces: [bank]}`}},
	"CatalogSource": {"operators.coreos.com/v1alpha1", "catalogsources", true, []string{
		`metadata: {name: c, namespace: openshift-marketplace}, spec: {sourceType: grpc, image: i}, status: {connectionState: {lastObservedState: READY}}`,
		`metadata: {name: d, namespace: shop}, spec: {sourceType: grpc, image: i}, status: {connectionState: {lastObservedState: READY}}`}},
}

func scopeOperator(name string) string {
	return `metadata: {name: ` + name + `, annotations: {include.release.openshift.io/self-managed-high-availability: "true"}}, status: {
 versions: [{name: operator, version: 4.18.3}],
 conditions: [{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: Degraded, status: "False"}, {type: Upgradeable, status: "True"}]}`
}

func scopeNode(name string) string {
	return `metadata: {name: ` + name + `, labels: {node-role.kubernetes.io/worker: ""}, annotations: {
 machineconfiguration.openshift.io/currentConfig: r-w, machineconfiguration.openshift.io/desiredConfig: r-w, machineconfiguration.openshift.io/state: Done}},
 spec: {providerID: p-` + name[2:] + `}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "100"}, conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2026-05-01T12:00:00Z"}]}`
}

func scopePod(namespace, name, node string) string {
	return fmt.Sprintf(`metadata: {name: %s, namespace: %s, uid: %[2]s-%[1]s, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs-%[2]s, controller: true}]},
 spec: {nodeName: %[3]s, containers: [{name: c}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}`, name, namespace, node)
}

func scopeBudget(namespace string, n int) string {
	return fmt.Sprintf(`metadata: {name: web, namespace: %s, generation: 1}, spec: {minAvailable: %d, selector: {matchLabels: {app: web}}},
 status: {observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: %d, desiredHealthy: %d, expectedPods: %[3]d}`, namespace, n-1, n, n-1)
}

func scopeSubscription(namespace string) string {
	return fmt.Sprintf(`metadata: {name: db, namespace: %s}, spec: {name: db, channel: stable, source: c, sourceNamespace: openshift-marketplace},
 status: {installedCSV: db.v1.0.0, currentCSV: db.v1.0.0, state: AtLatestKnown}`, namespace)
}

// scopeForms are what a dump can have of a kind. Each returns the name of a file and its text.
var scopeForms = map[string]func(kind string, k scopeKind) (file, text string){
	"all": func(kind string, k scopeKind) (string, string) {
		return "all/" + k.plural + ".yaml", scopeList(kind, k, "", k.objects)
	},
	"nothing": func(kind string, k scopeKind) (string, string) {
		return "readme.txt", ""
	},
	"one": func(kind string, k scopeKind) (string, string) {
		if len(k.objects) == 0 || kind == "ClusterVersion" {
			return "", ""
		}
		return "one-" + k.plural + ".yaml", fmt.Sprintf("{apiVersion: %s, kind: %s, %s}\n", k.api, kind, k.objects[0])
	},
	"one namespace": func(kind string, k scopeKind) (string, string) {
		namespace, text := scopeNamespace(kind, k)
		group, _, found := strings.Cut(k.api, "/")
		if !found {
			group = "core"
		}
		if text == "" {
			return "", ""
		}
		return "namespaces/" + namespace + "/" + group + "/" + k.plural + ".yaml", text
	},
	"namespace of kubectl get -n": func(kind string, k scopeKind) (string, string) {
		if kind != "Pod" { // others may be in one namespace only
			return "", ""
		}
		_, text := scopeNamespace(kind, k)
		return "get/" + k.plural + ".yaml", text
	},
	"empty namespace of kubectl get": func(kind string, k scopeKind) (string, string) {
		if kind != "Pod" {
			return "", ""
		}
		return "get/" + k.plural + ".yaml", scopeList(kind, k, "", nil)
	},
	"cut off": func(kind string, k scopeKind) (string, string) {
		if kind == "ClusterVersion" { // there is one
			return "", ""
		}
		return "cut/" + k.plural + ".yaml", scopeList(kind, k, "continue: abc", k.objects)
	},
	"torn": func(kind string, k scopeKind) (string, string) {
		if kind == "ClusterVersion" { // there is one, and it is whole
			return "", ""
		}
		text := scopeList(kind, k, "", k.objects)
		return "torn/" + k.plural + ".yaml", text[:len(text)-4]
	},
}

// scopeNamespace lists a kind in the namespace of its first object.
func scopeNamespace(kind string, k scopeKind) (namespace, text string) {
	if !k.namespaced || len(k.objects) == 0 {
		return "", ""
	}
	_, namespace, _ = strings.Cut(k.objects[0], "namespace: ")
	namespace = namespace[:strings.IndexAny(namespace, ",}")]
	var in []string
	for _, o := range k.objects {
		if strings.Contains(o, "namespace: "+namespace) {
			in = append(in, o)
		}
	}
	return namespace, scopeList(kind, k, "", in)
}

func scopeList(kind string, k scopeKind, meta string, objects []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{apiVersion: %s, kind: %sList, metadata: {%s}, items: [\n", k.api, kind, meta)
	for _, o := range objects {
		fmt.Fprintf(&b, " {apiVersion: %s, kind: %s, %s},\n", k.api, kind, o)
	}
	b.WriteString(" ]}\n")
	return b.String()
}

// scopeDump writes the cluster with one kind in another form; false if it has none such.
func scopeDump(t *testing.T, kind, form string) (dir string, is bool) {
	dir = t.TempDir()
	for name, k := range scopeCluster {
		write := scopeForms["all"]
		if name == kind {
			write = scopeForms[form]
		}
		file, text := write(name, k)
		if file == "" {
			return "", false
		}
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "alerts.json"), []byte(`{"status": "success", "data": {"alerts": []}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, true
}

// scopeNeeds says which kinds each verb that reads a cluster must know completely to say that all
// is well. The verbs that are not here read no cluster.
var scopeNeeds = map[string][]string{
	"drain DUMP -node w-0":                 {"Pod", "PodDisruptionBudget"},
	"machine explain DUMP -machine m-0":    {"Node nothing", "Pod", "PodDisruptionBudget"},
	"diagnose DUMP":                        {"ClusterVersion", "ClusterOperator", "MachineConfigPool", "MachineConfig", "Node", "Pod", "PodDisruptionBudget", "ClusterServiceVersion nothing", "OperatorGroup nothing"},
	"explain DUMP node/w-0":                {"Node", "Pod", "PodDisruptionBudget", "ClusterVersion nothing", "ClusterOperator nothing", "MachineConfigPool nothing", "MachineConfig nothing", "ClusterServiceVersion nothing", "OperatorGroup nothing"},
	"explain DUMP subscription/db -n shop": {"ClusterServiceVersion nothing", "OperatorGroup nothing"},
	"operators DUMP":                       {"Subscription", "ClusterServiceVersion", "OperatorGroup", "CatalogSource"},
	"taints explain DUMP":                  {"Node", "Pod"},
	"taints explain DUMP -pod shop/web-0":  {"Node"},
	"taints matrix DUMP":                   {"Node", "Pod"},
	"taints lint DUMP":                     {"Node", "Pod"},
	"taints whatif DUMP -event EVENT -start 2026-05-01T09:00:00Z": {"Node", "Pod"},
	"plan DUMP -to 4.18.5 -none gates":                            {"ClusterOperator", "MachineConfigPool", "Node", "Pod", "PodDisruptionBudget", "MachineConfig nothing"},
	"plan DUMP -out w-0 -none gates":                              {"Pod", "PodDisruptionBudget"},
	"update status DUMP":                                          {"ClusterVersion", "ClusterOperator", "MachineConfigPool", "MachineConfig", "Node"},
	"update recommend DUMP":                                       {"ClusterVersion"},
	"report DUMP -o json":                                         {"ClusterVersion", "ClusterOperator", "MachineConfigPool", "MachineConfig", "Node", "Pod", "PodDisruptionBudget"},
	"report DUMP -o json -to 4.18.5 -o html":                      {"ClusterOperator", "MachineConfigPool", "Node", "Pod", "PodDisruptionBudget"},
}

// A dump that has nothing, one object, one namespace, or a part that was cut off or cannot be read of
// a kind never looks like one in which all is well: the verb that must know the kind ends with a
// finding, or, as the page does, names what is not known.
func TestScopes(t *testing.T) {
	for _, verb := range slices.Sorted(maps.Keys(scopeNeeds)) {
		dir, _ := scopeDump(t, "", "")
		if output, status := scopeRun(t, verb, dir); status != 0 {
			t.Errorf("%s of a cluster in which all is well: exit status %d\n%s", verb, status, output)
		}
	}
	for kind := range scopeCluster {
		for form := range scopeForms {
			dir, is := scopeDump(t, kind, form)
			if form == "all" || !is {
				continue
			}
			for _, verb := range slices.Sorted(maps.Keys(scopeNeeds)) {
				needs := scopeNeeds[verb]
				needed := slices.Contains(needs, kind) || slices.Contains(needs, kind+" "+form)
				if !needed && form != "nothing" {
					continue
				}
				output, status := scopeRun(t, verb, dir)
				if !needed && status == 1 { // with 2, what is asked about is not there
					t.Errorf("%s, without kind %s, which the table says it does not need: exit status %d\n%s", verb, kind, status, output)
				}
				if needed && status == 0 && !strings.HasPrefix(verb, "report") {
					t.Errorf("%s, %s of kind %s: exit status 0\n%s", verb, form, kind, output)
				}
				if needed && strings.HasPrefix(verb, "report") && status == 0 && !strings.Contains(output, `nknown`) {
					t.Errorf("%s, %s of kind %s: it does not say what is not known\n%.400s", verb, form, kind, output)
				}
			}
		}
	}
}

// The table of docs/diagnosis.md says what TestScopes shows.
func TestScopeTable(t *testing.T) {
	const page, begin, end = "../../docs/diagnosis.md", "<!-- kinds that must be known, by go test ./examples/fairlead -run ScopeTable -update -->\n", "<!-- end -->\n"
	var b strings.Builder
	b.WriteString("| verb | must be known for 0 |\n|---|---|\n")
	for _, verb := range slices.Sorted(maps.Keys(scopeNeeds)) {
		var kinds []string
		for _, k := range scopeNeeds[verb] {
			if name, _, part := strings.Cut(k, " "); part {
				k = name + " (some)"
			}
			kinds = append(kinds, k)
		}
		if strings.HasPrefix(verb, "report") {
			kinds = []string{"nothing: 0 says that the page is written, and the page says what is not known"}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", verb, strings.Join(kinds, ", "))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	old, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table", page)
	}
	if old != b.String() && *rewrite {
		if err := os.WriteFile(page, []byte(head+begin+b.String()+end+tail), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if old != b.String() {
		t.Errorf("%s says otherwise; -update writes it", page)
	}
}

func scopeRun(t *testing.T, verb, dir string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	words := strings.Fields(strings.ReplaceAll(verb, "DUMP", dir))
	if i := slices.Index(words, "EVENT"); i >= 0 {
		words[i] = "nodes=w-0 dark=10m"
	}
	status := tool().Program("fairlead")(t.Context(), words, strings.NewReader(""), &out, &out)
	return out.String(), status
}
