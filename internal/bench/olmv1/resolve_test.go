package olmv1_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// different returns their tests that do not pass, and why that is intended.
func different() map[string]string {
	const own = "the extension of the test has no sourceType, which is what fairlead says first; it has a sentence of its own for selectors, too"
	return map[string]string{
		"TestInvalidClusterExtensionCatalogMatchExpressions": own, "TestInvalidClusterExtensionCatalogMatchLabelsName": own,
		"TestInvalidClusterExtensionCatalogMatchLabelsValue": own,
		"TestMultiplePriority":                               "a tie names the catalogs that tie, and not one of lower priority",
	}
}

// TestTheirTests runs their tests of package resolve on fairlead's resolver.
func TestTheirTests(t *testing.T) {
	theirs := os.Getenv("FAIRLEAD_OPERATOR_CONTROLLER")
	if theirs == "" {
		t.Skip("FAIRLEAD_OPERATOR_CONTROLLER names no checkout of operator-controller")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(elem ...string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(elem...))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const pkg = "internal/operator-controller/resolve"
	const method = "func (r *CatalogResolver) Resolve("
	original := string(read(theirs, pkg, "catalog.go"))
	if !strings.Contains(original, method) {
		t.Fatalf("%s/catalog.go has no %q: is this operator-controller at df2c201d?", pkg, method)
	}
	adapter := filepath.Join(root, "examples", "kubernetes", "kube", "olmv1")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(theirs, pkg, "catalog.go"):           write("catalog.go", []byte(strings.Replace(original, method, "func (r *CatalogResolver) reference(", 1))),
		filepath.Join(theirs, pkg, "seam.go"):              write("seam.go", read("testdata", "seam.go.txt")),
		filepath.Join(theirs, pkg, "olmv1", "doc.go"):      filepath.Join(adapter, "doc.go"),
		filepath.Join(theirs, pkg, "olmv1", "resolver.go"): filepath.Join(adapter, "resolver.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	// The package does not need this module, which not every proxy has.
	module := regexp.MustCompile(`(?m)^\s*pkg\.package-operator\.run/boxcutter .*$`).ReplaceAll(read(theirs, "go.mod"), nil)
	mod := write("go.mod", append(module, "\nrequire github.com/fairlead/fairlead v0.0.0\nreplace github.com/fairlead/fairlead => "+root+"\n"...))
	write("go.sum", slices.Concat(read(theirs, "go.sum"), read(root, "go.sum")))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-vet=off", "-mod=mod", "-modfile="+mod, "-overlay="+write("overlay.json", overlay), "./"+pkg)
	cmd.Dir = theirs
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, _ := cmd.Output() // failing tests are handled below
	came := map[string]string{}
	said := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Test != "" && !strings.Contains(e.Test, "/") {
			said[e.Test] += e.Output
			if e.Action == "pass" || e.Action == "fail" {
				came[e.Test] = e.Action
			}
		}
	}
	if len(came) < 30 {
		t.Fatalf("%d tests ran, want 30 at least:\n%s%s", len(came), complaints.String(), out)
	}
	passed := 0
	for _, test := range slices.Sorted(maps.Keys(came)) {
		reason, known := different()[test]
		switch {
		case came[test] == "pass" && known:
			t.Errorf("%s passes; it is said to be different: %s", test, reason)
		case came[test] == "pass":
			passed++
		case known:
			t.Logf("%s differs: %s", test, reason)
		default:
			t.Errorf("%s fails:\n%s", test, said[test])
		}
	}
	t.Logf("%d of %d tests pass", passed, len(came))
}
