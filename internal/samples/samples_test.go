package samples_test

import (
	"io/fs"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
)

func TestSamples(t *testing.T) {
	c := samples.Text(t, "schema: olm.package\nname: kiln\ndefaultChannel: stable\n")
	if _, ok := c.Package("kiln"); !ok {
		t.Error("there is no package kiln")
	}
	var catalogs, packages int
	for name, fsys := range samples.Catalogs(t, "full-sample") {
		catalogs++
		if dirs, err := fs.ReadDir(fsys, "."); name != "full-sample/." || err != nil || len(dirs) < 10 {
			t.Errorf("%s: %d directories, %v", name, len(dirs), err)
		}
	}
	for name, fsys := range samples.Packages(t, "full-sample") {
		packages++
		if _, err := fs.Stat(fsys, "catalog.json"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if catalogs != 1 || packages < 10 {
		t.Errorf("%d catalogs, %d packages", catalogs, packages)
	}
}

// TestAbsent checks that a test that needs absent data is skipped.
func TestAbsent(t *testing.T) {
	t.Setenv("FAIRLEAD_DATA", t.TempDir())
	skipped := false
	t.Run("", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		samples.Data(t, "nothing")
	})
	if !skipped {
		t.Error("it was not skipped")
	}
}
