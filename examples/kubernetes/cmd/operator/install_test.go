package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fairlead/fairlead/examples/kubernetes/config"
)

// objects decodes the documents of a manifest into values of one type.
func objects[T any](t *testing.T, data []byte) []T {
	t.Helper()
	var all []T
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var o T
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

func read(t *testing.T, fsys fs.FS, file string) []byte {
	t.Helper()
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bound returns the directories in install that bind roles: at least one for
// each controller.
func bound(t *testing.T) (install fs.FS, dirs []string) {
	t.Helper()
	install = os.DirFS(filepath.Join("..", "..", "install"))
	files, err := fs.Glob(install, "*/binding.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		dirs = append(dirs, path.Dir(file))
	}
	return install, dirs
}

// Each directory in install binds exactly the roles of its own file, and adds
// only existing flags; that of a controller runs the controller.
func TestInstall(t *testing.T) {
	install, dirs := bound(t)
	for _, dir := range dirs {
		file := "rbac-" + dir + ".yaml"
		var flags []string
		for _, f := range regexp.MustCompile(`args/-, value: (\S+)}`).FindAllStringSubmatch(string(read(t, install, dir+"/kustomization.yaml")), -1) {
			flags = append(flags, f[1])
		}
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		s := newSettings(set)
		if err := set.Parse(flags); err != nil {
			t.Errorf("install/%s: %v", dir, err)
		}
		chosen, err := s.chosen()
		if slices.ContainsFunc(s.all, func(c controller) bool { return c.name() == dir }) && (err != nil || names(chosen) != dir) {
			t.Errorf("install/%s runs %q, %v", dir, names(chosen), err)
		}
		var granted, given []string
		for _, role := range objects[rbacv1.ClusterRole](t, read(t, config.Files, file)) {
			granted = append(granted, role.Kind+" "+role.Name)
		}
		for _, b := range objects[rbacv1.ClusterRoleBinding](t, read(t, install, dir+"/binding.yaml")) {
			given = append(given, b.RoleRef.Kind+" "+b.RoleRef.Name)
			if who := b.Subjects; len(who) != 1 || who[0].Kind != "ServiceAccount" || who[0].Namespace != "fairlead" || who[0].Name != "operator" {
				t.Errorf("install/%s binds %s to %v", dir, b.RoleRef.Name, who)
			}
		}
		if !slices.Equal(granted, given) {
			t.Errorf("install/%s binds %q, %s has %q", dir, given, file, granted)
		}
	}
	for _, c := range newControllers() {
		if !slices.Contains(dirs, c.name()) {
			t.Errorf("there is no install/%s", c.name())
		}
	}
}

// The base contains the roles that install binds, and binds none itself.
func TestBase(t *testing.T) {
	base := string(read(t, config.Files, "kustomization.yaml"))
	files := []string{"network.yaml", "operator.yaml"}
	_, dirs := bound(t)
	for _, dir := range dirs {
		files = append(files, "rbac-"+dir+".yaml")
	}
	for _, file := range files {
		if !strings.Contains(base, "\n- "+file+"\n") {
			t.Errorf("config/kustomization.yaml does not have %s", file)
		}
		if strings.Contains(string(read(t, config.Files, file)), "kind: ClusterRoleBinding") {
			t.Errorf("config/%s binds a ClusterRole: that is for install", file)
		}
	}
}
