package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
)

// A link in a directory that leads out of it is named and not followed; one within it is, as in a
// mounted ConfigMap.
func TestLinks(t *testing.T) {
	const text = "schema: olm.package\nname: shop\n"
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(secret, []byte(text), 0o600), os.Mkdir(filepath.Join(dir, "..data"), 0o700), os.WriteFile(filepath.Join(dir, "..data", "real.yaml"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "linked.yaml")
	open := func(to string) error {
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		s, err := source.Open(t.Context(), dir, nil)
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = catalog.Open(t.Context(), s, nil)
		return err
	}
	if err := open(secret); err == nil || !strings.Contains(err.Error(), "linked.yaml") || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link that leads out: %v", err)
	}
	if err := open(filepath.Join("..data", "real.yaml")); err != nil && strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link within: %v", err)
	}
}
