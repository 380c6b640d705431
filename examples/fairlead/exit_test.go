package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programVariable is the environment variable that makes the test's binary the program.
const programVariable = "FAIRLEAD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program runs the built program, and interrupts it once it listens.
func program(t *testing.T, words ...string) (output string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], words...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		told.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "listening on ") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return told.String() + errs.String(), cmd.ProcessState.ExitCode()
}

// Files of a small cluster, of releases and of graphs, by name.
var exitFiles = map[string]string{
	"well/cv.yaml": `{kind: ClusterVersion, metadata: {name: version}, spec: {channel: stable-4.18}, status: {
 desired: {version: 4.18.3, image: a},
 history: [{state: Completed, startedTime: "2026-04-01T12:00:00Z", completionTime: "2026-04-01T13:00:00Z", version: 4.18.3, image: a}],
 conditions: [{type: Available, status: "True"}, {type: Failing, status: "False"}, {type: Progressing, status: "False"}, {type: RetrievedUpdates, status: "True"}],
 availableUpdates: [{version: 4.18.5, image: c}]}}
`,
	"well/co.yaml": `{kind: ClusterOperatorList, items: [{kind: ClusterOperator, metadata: {name: dns, annotations: {include.release.openshift.io/self-managed-high-availability: "true"}}, status: {
 versions: [{name: operator, version: 4.18.3}],
 conditions: [{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: Degraded, status: "False"}]}}]}
`,
	"well/mcp.yaml": `{kind: MachineConfigPoolList, items: [{kind: MachineConfigPool, metadata: {name: worker}, spec: {configuration: {name: r-w}, nodeSelector: {matchLabels: {node-role.kubernetes.io/worker: ""}}},
 status: {machineCount: 1, updatedMachineCount: 1, readyMachineCount: 1, configuration: {name: r-w}}}]}
`,
	"well/mc.yaml": `{kind: MachineConfigList, items: [{kind: MachineConfig, metadata: {name: r-w, annotations: {machineconfiguration.openshift.io/release-image-version: 4.18.3}}}]}
`,
	"well/node.yaml": `{kind: NodeList, items: [{kind: Node, metadata: {name: w-0, labels: {node-role.kubernetes.io/worker: ""}, annotations: {
 machineconfiguration.openshift.io/currentConfig: r-w, machineconfiguration.openshift.io/desiredConfig: r-w, machineconfiguration.openshift.io/state: Done}},
 status: {conditions: [{type: Ready, status: "True"}]}}]}
`,
	"well/alerts.json": `{"status": "success", "data": {"alerts": []}}`,
	"risky/cv.yaml": `{kind: ClusterVersion, metadata: {name: version}, spec: {channel: stable-4.18}, status: {
 desired: {version: 4.18.3, image: a}, history: [{state: Completed, version: 4.18.3, image: a}],
 conditionalUpdates: [{release: {version: 4.18.5, image: c}, risks: [{name: SlowDisks}], conditions: [{type: Recommended, status: "False", reason: SlowDisks}]}]}}
`,
	"graph/raw.json":                         `{"nodes": [{"version": "4.18.3+amd64", "payload": "a"}, {"version": "4.18.5+amd64", "payload": "b"}], "edges": [[0, 1]]}`,
	"graph/channels/fast-4.18.yaml":          "name: fast-4.18\nversions: [4.18.3, 4.18.5]\n",
	"odd/raw.json":                           `{"nodes": [{"version": "4.18.3+amd64", "payload": "a"}], "edges": [[0, 7]]}`,
	"odd/channels/fast-4.18.yaml":            "name: fast-4.18\nversions: [4.18.3]\n",
	"answer.json":                            `{"version": 1, "nodes": [{"version": "4.18.3", "payload": "a"}, {"version": "4.18.5", "payload": "b"}], "edges": [[0, 1]]}`,
	"one/manifests/README":                   "",
	"one/release-manifests/release-metadata": `{"kind": "cincinnati-metadata-v0", "version": "4.18.3"}`,
	"one/release-manifests/image-references": `{kind: ImageStream, apiVersion: image.openshift.io/v1, metadata: {name: 4.18.3}}`,
	"one/release-manifests/0000_10_shop_00_crd.yaml": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
 metadata: {name: widgets.shop.io, annotations: {include.release.openshift.io/self-managed-high-availability: "true"}},
 spec: {group: shop.io, names: {kind: Widget}, versions: [{name: v1, served: true, storage: true}]}}
`,
	"two/manifests/README":                   "",
	"two/release-manifests/release-metadata": `{"kind": "cincinnati-metadata-v0", "version": "4.18.5"}`,
	"two/release-manifests/image-references": `{kind: ImageStream, apiVersion: image.openshift.io/v1, metadata: {name: 4.18.5}}`,
	"two/release-manifests/10_shop_00_config.yaml": `{apiVersion: v1, kind: ConfigMap,
 metadata: {name: a, namespace: b, annotations: {include.release.openshift.io/self-managed-high-availability: "true"}}}
`,
}

// The exit status of each verb of update is 0 if all is well, 1 if there are findings,
// and 2 if the input is bad.
func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	for name, text := range exitFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scenario := func(name string) string { return filepath.Join("update", "scenarios", name) }
	for _, c := range []struct {
		verb             string
		well, found, bad []string
	}{
		{"status", []string{"DIR/well"}, []string{"DIR/risky"}, []string{"DIR/graph"}},
		{"recommend", []string{"DIR/well"}, []string{"DIR/risky"}, []string{"DIR/none"}},
		{"graph", []string{"DIR/answer.json", "-from", "4.18.3"}, []string{"DIR/odd/raw.json", "-from", "4.18.3"}, []string{"DIR/answer.json", "-from", "4.17.0"}},
		{"graph", []string{"DIR/answer.json", "-from", "4.18.3", "-to", "4.18.5"}, []string{"DIR/answer.json", "-from", "4.18.5", "-to", "4.18.3"}, []string{"DIR/none", "-from", "4.18.3"}},
		{"plan", []string{"DIR/one"}, []string{"DIR/two"}, []string{"DIR/graph"}},
		{"diff", []string{"DIR/one", "DIR/one"}, []string{"DIR/one", "DIR/two"}, []string{"DIR/one", "DIR/none"}},
		{"simulate", []string{scenario("reboot.yaml")}, []string{scenario("never.yaml")}, []string{scenario("README.md")}},
		{"serve", []string{"DIR/graph", "-listen", "127.0.0.1:0"}, []string{"DIR/odd", "-listen", "127.0.0.1:0"}, []string{"DIR/one"}},
	} {
		for want, words := range [][]string{c.well, c.found, c.bad} {
			line := []string{"update", c.verb}
			for _, w := range words {
				line = append(line, strings.Replace(w, "DIR", dir, 1))
			}
			output, status := program(t, line...)
			if status != want {
				t.Errorf("%s %s: exit status %d, not %d\n%s", c.verb, strings.Join(words, " "), status, want, output)
			}
			if output == "" {
				t.Errorf("%s %s: it says nothing", c.verb, strings.Join(words, " "))
			}
		}
	}
}
