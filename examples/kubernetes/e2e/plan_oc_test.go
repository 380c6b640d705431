package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	engine "github.com/fairlead/fairlead/cvo/plan"
	verb "github.com/fairlead/fairlead/examples/fairlead/plan"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// typist carries out plans as a person does, who types their commands.
type typist struct {
	*planned
	programs string // the directory of oc
	config   string // a kubeconfig
	dir      string // the graph and the catalog
	commands int    // typed so far
}

// planCase is a plan: what happens before it, and the arguments of the verb.
type planCase struct {
	name   string
	before func(*typist)
	args   []string
	kinds  []string // the steps that it must have, among others
	typed  []string // texts that its commands contain
}

// Ten plans of the verb plan are carried out on one cluster, one after the other, command by command
// as printed, by a shell with a real oc, while the controllers of this module do the work: after each
// command its "done when" comes true, and after each plan there is nothing left to do.
//
// FAIRLEAD_OC names the oc: RELEASE=PATH,..., of which the last is used.
func TestPlansTyped(t *testing.T) {
	_, oc, ok := strings.Cut(os.Getenv("FAIRLEAD_OC")[strings.LastIndex(os.Getenv("FAIRLEAD_OC"), ",")+1:], "=")
	if !ok {
		t.Skip("FAIRLEAD_OC does not name a program of oc, as RELEASE=PATH")
	}
	x := newTypist(t, oc)
	for i, c := range typedPlans() {
		if c.before != nil {
			c.before(x)
		}
		begin := time.Now()
		p := x.ask(c.args)
		t.Logf("plan %d, %s: %s\n%s", i+1, c.name, strings.Join(c.args, " "), p)
		var kinds []string
		var text string
		for k := range p.Steps {
			s := &p.Steps[k]
			kinds, text = append(kinds, string(s.Kind)), text+x.carry(s)
		}
		for _, kind := range c.kinds {
			if !slices.Contains(kinds, kind) {
				t.Errorf("plan %d, %s: no step %s: %q", i+1, c.name, kind, kinds)
			}
		}
		for _, part := range c.typed {
			if !strings.Contains(text, part) {
				t.Errorf("plan %d, %s: no command has %q:\n%s", i+1, c.name, part, text)
			}
		}
		x.within(2*time.Minute, "nothing is left to do of plan "+c.name, func() string {
			if again := x.ask(c.args); len(again.Steps) > 0 {
				return again.String()
			}
			return ""
		})
		t.Logf("plan %d, %s: carried out in %v", i+1, c.name, time.Since(begin).Round(time.Second))
	}
	t.Logf("%d commands", x.commands)
}

// typedPlans are the plans, each for the cluster that those before have left.
func typedPlans() []planCase {
	return []planCase{
		{"a patch release", nil, []string{"-to", "4.18.1"}, []string{"UpdateCluster", "Roll"}, []string{"oc adm upgrade --to=4.18.1"}},
		{"a risk that is accepted", nil, []string{"-to", "4.18.2", "-accept", "SlowDisks"}, []string{"UpdateCluster"}, []string{"--allow-not-recommended --to=4.18.2"}},
		{"another channel, and a gate", nil, []string{"-to", "4.19.0"}, []string{"Acknowledge", "UpdateCluster"}, []string{"oc adm upgrade channel stable-4.19", gateAck}},
		{"a budget that allows nothing", (*typist).tightBudget, []string{"-to", "4.19.1"}, []string{"FixBudget", "UpdateCluster"}, []string{"patch pdb web"}},
		{"an operator that does not support the next release", nil, []string{"-to", "4.20.0"}, []string{"UpdateOperator", "UpdateCluster"}, []string{"installplan"}},
		{"a node out of service", nil, []string{"-to", "4.20.0", "-out", "worker-0"}, []string{"OutOfService"}, []string{"oc adm drain worker-0"}},
		{"two minor releases with paused workers", (*typist).backInService, []string{"-to", "4.22.0", "-pause-workers"}, []string{"Pause", "UpdateCluster", "Unpause"}, []string{"oc adm upgrade --to=4.21.0", "oc adm upgrade --to=4.22.0"}},
		{"a pool that was left paused", (*typist).pausedPool, []string{"-to", "4.22.1"}, []string{"UpdateCluster", "Unpause"}, []string{`"paused":false`}},
		{"a request that is invalid", (*typist).invalidRequest, []string{"-to", "4.22.2"}, []string{"UpdateCluster"}, []string{"oc adm upgrade --clear"}},
		{"an update that is under way", (*typist).underWay, []string{"-to", "4.22.3"}, []string{"UpdateCluster"}, []string{"oc wait clusterversion version"}},
	}
}

// Before the plans.

func (x *typist) tightBudget() {
	x.deployment("web", 3)
	all := intstr.FromInt32(3)
	x.create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}})
	x.eventually("the budget is measured", func() string {
		return expect(x.sees("-n", "shop", "get", "pdb", "web", "-o", "jsonpath={.status.currentHealthy}"), "3")
	})
}

func (x *typist) backInService() {
	if out, err := x.sh("oc adm uncordon worker-0"); err != nil {
		x.Fatalf("%v: %s", err, out)
	}
}

func (x *typist) pausedPool() {
	if out, err := x.sh(`oc patch machineconfigpool worker --type merge -p '{"spec":{"paused":true}}'`); err != nil {
		x.Fatalf("%v: %s", err, out)
	}
}

func (x *typist) invalidRequest() {
	x.patch(`{"spec":{"desiredUpdate":{"version":"4.22.9","image":null}}}`)
	x.tells("Invalid", "4.22.9")
}

func (x *typist) underWay() {
	x.patch(fmt.Sprintf(`{"spec":{"desiredUpdate":{"version":"4.22.3","image":%q}}}`, releaseImage+typedReleases["4.22.3"]))
	x.operators.hold("api", false) // at its version, so that the update stays under way
	x.tells("Progressing", "4.22.3")
	time.AfterFunc(20*time.Second, func() { x.operators.release("api") })
}

// typedReleases are the releases besides the first: digests by version.
var typedReleases = map[string]string{
	"4.18.1": "sha256:11", "4.18.2": "sha256:12", newVersion: newDigest, "4.19.1": "sha256:13", lastVersion: lastDigest, "4.21.0": "sha256:14",
	"4.22.0": "sha256:15", "4.22.1": "sha256:16", "4.22.2": "sha256:17", "4.22.3": "sha256:18",
}

// routes returns the update graph of a channel; of all if it is empty.
func routes(channel string) string {
	type node struct {
		Version  string            `json:"version"`
		Payload  string            `json:"payload"`
		Metadata map[string]string `json:"metadata"`
	}
	type edge struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	var g struct {
		Version     int      `json:"version"`
		Nodes       []node   `json:"nodes"`
		Edges       [][2]int `json:"edges"`
		Conditional []any    `json:"conditionalEdges"`
	}
	g.Version, g.Edges, g.Conditional = 1, [][2]int{}, []any{}
	list := []string{oldVersion, "4.18.1", "4.18.2", newVersion, "4.19.1", lastVersion, "4.21.0", "4.22.0", "4.22.1", "4.22.2", "4.22.3"}
	at := map[string]int{}
	for _, v := range list {
		minor := strings.Join(strings.Split(v, ".")[:2], ".")
		var n int
		fmt.Sscanf(minor, "4.%d", &n)
		in := []string{"stable-" + minor, fmt.Sprintf("stable-4.%d", n+1)}
		if channel != "" && !slices.Contains(in, channel) {
			continue
		}
		digest := typedReleases[v]
		if v == oldVersion {
			digest = oldDigest
		}
		at[v] = len(g.Nodes)
		g.Nodes = append(g.Nodes, node{v, releaseImage + digest, map[string]string{"io.openshift.upgrades.graph.release.channels": strings.Join(in, ",")}})
	}
	for i, v := range list[1:] {
		a, ok := at[list[i]]
		b, ok2 := at[v]
		switch {
		case !ok || !ok2:
		case v == "4.18.2":
			g.Conditional = append(g.Conditional, map[string]any{"edges": []edge{{list[i], v}}, "risks": []any{map[string]any{
				"name": "SlowDisks", "url": "https://example.com/slow-disks", "message": "Slow disks become slower.", "matchingRules": []any{map[string]any{"type": "Always"}},
			}}})
		default:
			g.Edges = append(g.Edges, [2]int{a, b})
		}
	}
	text, err := json.Marshal(g)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// newTypist makes a cluster at the first release, with pools and an operator.
func newTypist(t *testing.T, oc string) *typist {
	w := newWorld(t, nil)
	x := &typist{planned: &planned{upgrade: &upgrade{world: w, text: map[string]string{}, further: typedReleases}, seen: map[string]bool{}}, programs: t.TempDir(), dir: t.TempDir()}
	x.config = filepath.Join(x.dir, "kubeconfig")
	for _, name := range []string{"0000_05_shop_00_namespace.yaml", "0000_05_shop_01_config.yaml", "0000_20_api_01_clusteroperator.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata/release", name))
		if err != nil {
			t.Fatal(err)
		}
		x.text[name] = string(data)
	}
	if err := os.Symlink(oc, filepath.Join(x.programs, "oc")); err != nil {
		t.Fatal(err)
	}
	if err := cluster.WriteKubeconfig(w.Config(), x.config); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(cluster.ProgramForTest(t, "kubectl"))+":"+os.Getenv("PATH")) // by which the tool reads
	for name, text := range map[string]string{"graph.json": routes(""), "catalog/catalog.json": shelf.Catalog(pipes()...)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(x.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x.prepare()
	x.others()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, routes(r.FormValue("channel"))) }))
	t.Cleanup(service.Close)
	x.patch(fmt.Sprintf(`{"spec": {"upstream": %q}}`, service.URL+"/graph"))
	x.flags[0] = "-controllers=clusterversion,operators,rollout,drain"
	x.flags = slices.DeleteFunc(x.flags, func(f string) bool { return strings.HasPrefix(f, "-plan-") })
	x.manager = operator.Start(t, w.Cluster, x.flags...)
	x.operators = x.report()
	x.reaches(oldVersion)
	x.approve("pipes.v1.0.0")
	x.installed("pipes.v1.0.0")
	x.stock(pipes()...)
	x.play()
	for pool, want := range map[string]string{"master": "3 3", "worker": "2 2"} {
		w.within(4*time.Minute, "pool "+pool+" is at rest", func() string { return expect(w.poolStatus(pool)[2:], want+" Updated=True") })
	}
	return x
}

// play plays the agents of nodes and the rest of the machine-config operator.
func (x *typist) play() {
	stop, done := make(chan struct{}), make(chan struct{})
	most := x.agents(stop)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
				x.render()
			}
		}
	}()
	x.Cleanup(func() {
		close(stop)
		<-done
		most()
	})
}

// ask runs the verb plan about the running cluster.
func (x *typist) ask(args []string) *engine.Plan {
	x.Helper()
	words := slices.Concat(args, []string{"-kubeconfig", x.config, "-graph", x.dir + "/graph.json", "-catalog", x.dir + "/catalog", "-none", "members", "-o", "json"})
	var out, problems bytes.Buffer
	code := verb.Command().Program("plan")(x.Context(), words, nil, &out, &problems)
	p := new(engine.Plan)
	if err := json.Unmarshal(out.Bytes(), p); err != nil || code > 1 || p.From == "" {
		x.Fatalf("plan %v: exit status %d: %v\n%s\n%s", words, code, err, out.String(), problems.String())
	}
	return p
}

// sh runs a command line.
func (x *typist) sh(line string) (string, error) {
	ctx, cancel := context.WithTimeout(x.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = []string{"PATH=" + x.programs + ":" + os.Getenv("PATH"), "HOME=" + x.dir, "KUBECONFIG=" + x.config}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// sees returns what oc prints.
func (x *typist) sees(words ...string) string {
	cmd := exec.CommandContext(x.Context(), filepath.Join(x.programs, "oc"), words...)
	cmd.Env = []string{"PATH=" + x.programs + ":" + os.Getenv("PATH"), "HOME=" + x.dir, "KUBECONFIG=" + x.config}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprint(err, ": ", string(out))
	}
	return strings.TrimSpace(string(out))
}

// carry carries out a step with its tasks, and waits until it is done. It returns the commands.
func (x *typist) carry(s *engine.PlanStep) (typed string) {
	x.Helper()
	for _, t := range s.First {
		typed += x.enter(t.Command)
	}
	if strings.Contains(s.Command, "--to=") { // the update service answers within a moment; people are slower
		x.within(2*time.Minute, s.To+" is listed", func() string {
			if all := x.sees("adm", "upgrade", "--include-not-recommended"); !strings.Contains(all, s.To) {
				return all
			}
			return ""
		})
	}
	typed += x.enter(s.Command)
	x.within(5*time.Minute, s.String()+": "+s.After, func() string { return x.undone(s) })
	for _, t := range s.Then {
		typed += x.enter(t.Command)
	}
	return typed
}

// enter types a command. One that needs a container on a node is left out, since there is none, and
// one that only looks at a kind that this server does not have finds nothing.
func (x *typist) enter(line string) string {
	x.Helper()
	if !strings.HasPrefix(line, "oc ") || strings.HasPrefix(line, "oc debug") {
		x.Logf("left out: %s", line)
		return ""
	}
	x.commands++
	out, err := x.sh(line)
	x.Logf("$ %s\n%s", line, out)
	if err != nil && !strings.Contains(out, "the server doesn't have a resource type") {
		x.Errorf("%s: %v: %s", line, err, out)
	}
	return line + "\n"
}

// undone says what is not as "done when" says.
func (x *typist) undone(s *engine.PlanStep) string {
	switch s.Kind {
	case engine.MoveCluster:
		return expect(x.sees("get", "clusterversion", "version", "-o", "jsonpath={.status.history[0].version} {.status.history[0].state}"), s.To+" "+string(cvo.Completed))
	case engine.Roll:
		return expect(x.sees("get", "machineconfigpool", s.Subject, "-o", `jsonpath={.status.configuration.name} {.status.conditions[?(@.type=="Updated")].status}`), configOf(s.Subject, s.To)+" True")
	case engine.Pause, engine.Unpause:
		got := x.sees("get", "machineconfigpool", s.Subject, "-o", "jsonpath={.spec.paused}")
		return expect(fmt.Sprint(got == "true"), fmt.Sprint(s.Kind == engine.Pause))
	case engine.Acknowledge:
		return expect(x.sees("-n", "openshift-config", "get", "configmap", "admin-acks", "-o", "jsonpath={.data."+strings.ReplaceAll(s.Subject, ".", `\.`)+"}"), "true")
	case engine.FixBudget:
		namespace, name, _ := strings.Cut(s.Subject, "/")
		if got := x.sees("-n", namespace, "get", "pdb", name, "-o", "jsonpath={.status.disruptionsAllowed}"); got < "1" || got > "9" {
			return got
		}
		return ""
	case engine.MoveOperator:
		return expect(x.sees("get", "csv", "-A", "-o", `jsonpath={.items[?(@.metadata.name=="`+s.To+`")].status.phase}`), "Succeeded")
	case engine.OutOfService:
		var pods corev1.PodList
		if err := x.admin.List(x.Context(), &pods, client.MatchingFields{"spec.nodeName": s.Subject}); err != nil {
			return err.Error()
		}
		for i := range pods.Items {
			if c := metav1.GetControllerOf(&pods.Items[i]); c == nil || c.Kind != "DaemonSet" {
				return pods.Items[i].Name + " is still there"
			}
		}
		return expect(x.cordoned(s.Subject), "true")
	}
	return "the test does not know how to see " + string(s.Kind)
}
