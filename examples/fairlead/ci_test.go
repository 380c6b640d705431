package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// steps returns the commands of the workflow in examples/ci, by name.
func steps(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../ci/catalog.yml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := doc.NewReader(bytes.NewReader(text), "catalog.yml", doc.Limits{}).Next()
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]string{}
	list := doc.Tree(d.JSON).Get("jobs", "catalog", "steps")
	for i := range list.Members {
		name, _ := list.Members[i].Get("name").Text()
		command, ok := list.Members[i].Get("run").Text()
		if ok {
			run[name] = command
		}
	}
	return run
}

// ciRepository makes a repository with a catalog in two commits, and a directory with the
// program as fairlead, which is first in PATH.
func ciRepository(t *testing.T, before, after string) (dir string, git func(words ...string) string) {
	t.Helper()
	for _, name := range []string{"git", "sh", "tar"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	bin := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "fairlead")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(programVariable, "1")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	dir = t.TempDir()
	git = func(words ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...)
		out, err := cmd.CombinedOutput()
		if err != nil && words[0] != "commit" {
			t.Fatalf("git %q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	git("init", "-q", "-b", "main")
	for _, text := range []string{before, after} {
		writeFile(t, filepath.Join(dir, "my catalog/kiln/c.json"), text)
		git("add", "-A")
		git("commit", "-q", "-m", "next")
	}
	return dir, git
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	ciPackage = `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}` + "\n"
	ciBundle1 = `{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.0.0", "image": "quay.io/kiln:1", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "1.0.0"}}]}` + "\n"
	ciBundle2 = `{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v2.0.0", "image": "quay.io/kiln:2", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "2.0.0"}}]}` + "\n"
	ciOld     = ciPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v1.0.0"}]}` + "\n" + ciBundle1
	ciGood    = ciPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v2.0.0", "replaces": "kiln.v1.0.0"}]}` + "\n" + ciBundle2
	ciBad     = ciPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v2.0.0"}]}` + "\n" + ciBundle2
	ciInvalid = ciPackage + ciBundle2
)

// The steps of the workflow do in a repository what they say.
func TestWorkflow(t *testing.T) {
	run := steps(t)
	for _, c := range []struct {
		name, after       string
		validate, release int
		told              string
	}{
		{"good", ciGood, 0, 0, "**Passes.**"},
		{"strands", ciBad, 0, 1, "users of"},
		{"invalid", ciInvalid, 1, 1, "Does not pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := ciRepository(t, ciOld, c.after)
			summary := filepath.Join(t.TempDir(), "summary")
			step := func(name string) (string, int) {
				cmd := exec.Command("sh", "-e", "-c", run[name])
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "CATALOG=my catalog", "OTHERS=", "BASE=HEAD^", "GITHUB_STEP_SUMMARY="+summary)
				out, _ := cmd.CombinedOutput()
				return string(out), cmd.ProcessState.ExitCode()
			}
			if out, status := step("validate"); status != c.validate || status != 0 && !strings.Contains(out, "::error file=my catalog/kiln/c.json,line=") {
				t.Errorf("validate: %d, want %d\n%s", status, c.validate, out)
			}
			out, status := step("release")
			text, _ := os.ReadFile(summary)
			if status != c.release || !strings.Contains(string(text), c.told) || status != 0 && !strings.Contains(out, "::error file=my catalog/kiln/c.json,line=") {
				t.Errorf("release: %d, want %d\n%s\n%s", status, c.release, out, text)
			}
			for _, name := range []string{"report.md", "report.sarif"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The hook refuses a commit that would strand users, or is not valid, by what is staged.
func TestPreCommit(t *testing.T) {
	dir, git := ciRepository(t, ciOld, ciGood)
	t.Setenv("CATALOG", "my catalog")
	hook, err := os.ReadFile("../ci/pre-commit")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".git/hooks/pre-commit")
	writeFile(t, path, string(hook))
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	head := git("rev-parse", "HEAD")
	three := strings.ReplaceAll(ciBad, "2.0.0", "3.0.0")
	for _, c := range []struct {
		staged, tree string
		taken        bool
		told         string
	}{
		{three, ciGood, false, "users of"},
		{ciInvalid, ciGood, false, "no channel"},
		{strings.Replace(three, `"kiln.v3.0.0"}]`, `"kiln.v3.0.0", "replaces": "kiln.v2.0.0"}]`, 1), "nonsense", true, ""},
	} {
		file := filepath.Join(dir, "my catalog/kiln/c.json")
		writeFile(t, file, c.staged)
		git("add", "-A")
		writeFile(t, file, c.tree)
		out := git("commit", "-q", "-m", "next")
		if now := git("rev-parse", "HEAD"); (now != head) != c.taken || !strings.Contains(out, c.told) {
			t.Errorf("taken: %v, want %v with %q\n%s", now != head, c.taken, c.told, out)
		}
	}
}
