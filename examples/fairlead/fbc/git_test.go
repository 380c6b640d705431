package fbc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// repository makes a git repository with commits, each of which writes files, and changes to a
// directory in it.
func repository(t *testing.T, commits ...map[string]string) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	git := func(words ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", words, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	for _, files := range commits {
		for name, text := range files {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", "next")
	}
	return dir
}

const (
	kilnPackage = `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}` + "\n"
	kilnOne     = `{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.0.0", "image": "quay.io/kiln:1", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "1.0.0"}}]}` + "\n"
	kilnTwo     = `{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v2.0.0", "image": "quay.io/kiln:2", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "2.0.0"}}]}` + "\n"
	kilnOld     = kilnPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v1.0.0"}]}` + "\n" + kilnOne
	kilnGood    = kilnPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v2.0.0", "replaces": "kiln.v1.0.0"}]}` + "\n" + kilnTwo
	kilnBad     = kilnPackage + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v2.0.0"}]}` + "\n" + kilnTwo
)

// Both sides are read from git, whatever the working tree holds; files are named as in the
// repository, relative to the working directory.
func TestReleaseFromGit(t *testing.T) {
	dir := repository(t,
		map[string]string{"README.md": "# x\n"},
		map[string]string{"catalogs/v4/kiln/c.json": kilnOld},
		map[string]string{"catalogs/v4/kiln/c.json": kilnGood},
		map[string]string{"catalogs/v4/kiln/c.json": kilnBad})
	if err := os.WriteFile(filepath.Join(dir, "catalogs/v4/kiln/c.json"), []byte("not a catalog"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in, words string
		status    int
		want      string
	}{
		{".", "-git HEAD~2..HEAD~1 catalogs/v4", 0, ""},
		{".", "-git HEAD~2..HEAD catalogs/v4", 1, "file=catalogs/v4/kiln/c.json,line=2,"},
		{"catalogs", "-git HEAD~2.. v4", 1, "file=v4/kiln/c.json,line=2,"},
		{"catalogs/v4", "-git main~2...main .", 1, "file=kiln/c.json,line=2,"},
		{".", "-git main~2..main -root catalogs catalogs/v4", 1, "file=v4/kiln/c.json,line=2,"},
		{".", "-git main~3..main~1 catalogs/v4", 2, "revision main~3 has no directory catalogs/v4; if the catalog is new, nobody has it yet, and fairlead catalog validate -- catalogs/v4 is enough"},
		{".", "-git main~1..nothing catalogs/v4", 2, "there is no revision nothing"},
		{".", "-git main~1 catalogs/v4", 2, "write BASE..HEAD"},
		{".", "-git main~1..main ../elsewhere", 2, "git"},
		{".", "-git --output=x..main catalogs/v4", 2, "there is no revision --output=x"},
	} {
		t.Run(c.words, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, c.in))
			var out, errs strings.Builder
			status := Command().Program("fairlead catalog")(t.Context(), append([]string{"release", "-o", "github"}, strings.Fields(c.words)...), nil, &out, &errs)
			if status != c.status || !strings.Contains(out.String()+errs.String(), c.want) || c.want == "" && out.Len() > 0 {
				t.Errorf("status %d, want %d with %q:\n%s%s", status, c.status, c.want, out.String(), errs.String())
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a revision was taken for an option")
	}
}

// One command writes the report, SARIF and a picture, whatever the verdict.
func TestReleaseFiles(t *testing.T) {
	dir := repository(t, map[string]string{"c/c.json": kilnOld}, map[string]string{"c/c.json": kilnBad}, map[string]string{"c/c.json": kilnOld + "{\n"})
	t.Chdir(dir)
	for revisions, status := range map[string]int{"HEAD~2..HEAD~1": args.StatusFindings, "HEAD..HEAD~1": args.StatusBad} {
		var out, errs strings.Builder
		got := Command().Program("fairlead catalog")(t.Context(), []string{"release", "-git", revisions, "c", "-o", "json", "-report", "r.md", "-sarif", "s.json", "-pictures", "p"}, nil, &out, &errs)
		if got != status {
			t.Errorf("%s: status %d, want %d: %s", revisions, got, status, errs.String())
		}
		for name, want := range map[string]string{"r.md": "**", "s.json": `"ruleId"`, "p/kiln.svg": "<svg"} {
			text, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %s: %v, %s", revisions, name, err, text)
			}
			os.Remove(name)
		}
	}
}
