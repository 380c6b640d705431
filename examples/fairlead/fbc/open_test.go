package fbc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that continues prints ten of many findings, and how to list the others.
func TestManyFindings(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.yaml", i)), []byte("kind: Service\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	status := Command().Program("fairlead catalog")(t.Context(), []string{"list", dir}, nil, &out, &errs)
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	if want := "and 20 more; fairlead catalog validate " + dir + " lists them"; status != 2 || len(lines) != 12 || lines[10] != want {
		t.Errorf("status %d, %d lines, the last %q, want %q", status, len(lines), lines[len(lines)-1], want)
	}
}

// A catalog that cannot be read as a whole is not changed, and what is wrong with it is named from
// where the command runs.
func TestChangesNothingUnread(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("schema: olm.package\nname: a\ndefaultChannel: x\n---\nschema: olm.channel\npack"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	status := Command().Program("fairlead catalog")(t.Context(), []string{"remove", dir, "a"}, nil, &out, &errs)
	if status != 2 || !strings.HasPrefix(errs.String(), file+":6:") || !strings.Contains(errs.String(), "nothing was changed") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
