package operator

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// Earlier is the commit of the earlier version that [StartEarlier] runs, unless the variable
// FAIRLEAD_EARLIER names a program.
const Earlier = "7905c90f"

// StartEarlier is [Start] for an earlier version of the operator. The test is skipped where the
// history of the repository is not there to build it from.
func StartEarlier(t testing.TB, c *cluster.Cluster, flags ...string) *Process {
	t.Helper()
	program, err := earlier()
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return start(t, c, func(cmd *exec.Cmd, _ string) { cmd.Path, cmd.Args[0] = program, program }, flags)
}

var errNoHistory = errors.New("no commit " + Earlier + " here: an earlier version of the operator cannot be built; name one in FAIRLEAD_EARLIER")

// earlier builds the program, once per test process, from the files of the commit.
var earlier = sync.OnceValues(func() (string, error) {
	if program := os.Getenv("FAIRLEAD_EARLIER"); program != "" {
		return program, nil
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("finding the module %s: %w", module, err)
	}
	here := strings.TrimSpace(string(dir))
	program := filepath.Join(here, ".cache", "operator-"+Earlier)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if exec.Command("git", "-C", here, "cat-file", "-e", Earlier+"^{commit}").Run() != nil {
		return "", errNoHistory
	}
	tree, err := os.MkdirTemp("", "earlier")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tree)
	root := filepath.Join(here, "..", "..")
	for _, line := range []string{"git -C '" + root + "' archive " + Earlier + " | tar -x -C '" + tree + "'", "cd '" + tree + "/examples/kubernetes' && CGO_ENABLED=0 GOWORK=off go build -o '" + program + "' ./cmd/operator"} {
		if out, err := exec.Command("bash", "-o", "pipefail", "-c", line).CombinedOutput(); err != nil {
			return "", fmt.Errorf("the operator of %s: %w\n%s", Earlier, err, out)
		}
	}
	return program, nil
})
