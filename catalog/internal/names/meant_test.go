package names

import "testing"

func TestIsBackup(t *testing.T) {
	for _, name := range []string{
		"x/catalog.yaml.bak", "x/catalog.yaml~", "x/#catalog.yaml#", "x/catalog.old.yaml", "x/catalog-backup.yaml", "x/catalog_2_old.yaml",
		"x/catalog (1).yaml", "x/Catalog copy 2.yaml", "x/Copy of catalog.yaml", "x/catalog.yaml.orig", "x/catalog.yaml.bak.yaml", "x/catalog~.yaml",
	} {
		if want := name != "x/catalog_2_old.yaml"; IsBackup(name, "x/catalog.yaml") != want {
			t.Errorf("%s: %v", name, !want)
		}
		if IsBackup("x/catalog.yaml", name) {
			t.Errorf("the original of %s is taken for its backup", name)
		}
	}
	for _, name := range []string{"x/catalog.yaml", "x/catalog-2.yaml", "x/catalogs.yaml", "y/catalog.yaml.bak", "x/catalog.json", "x/catalog-oldest.yaml", "x/old.yaml"} {
		if IsBackup(name, "x/catalog.yaml") {
			t.Errorf("%s is taken for a backup", name)
		}
	}
}
