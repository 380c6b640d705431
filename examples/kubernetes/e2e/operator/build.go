package operator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/fairlead/fairlead/examples/kubernetes"

// program builds cmd/operator, once per test process, to .cache/operator of
// this module.
var program = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("finding the module %s: %w", module, err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), ".cache", "operator")
	build := exec.Command("go", "build", "-o", file, module+"/cmd/operator")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as for its image, which has no libraries
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build cmd/operator: %w\n%s", err, out)
	}
	return file, nil
})

func build(t testing.TB) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
