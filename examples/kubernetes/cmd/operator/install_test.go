package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fairlead/fairlead/examples/kubernetes/config"
)

// objects reads the documents of a manifest into values of one shape.
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

// Each file of rights has a directory of install, which binds its roles, and no
// others, and adds flags that there are; those of a controller run it.
func TestInstall(t *testing.T) {
	install := os.DirFS(filepath.Join("..", "..", "install"))
	rights, err := fs.Glob(config.Files, "rbac-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, file := range rights {
		dir := strings.TrimSuffix(strings.TrimPrefix(file, "rbac-"), ".yaml")
		dirs = append(dirs, dir)
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
		var granted, bound []string
		for _, role := range objects[rbacv1.ClusterRole](t, read(t, config.Files, file)) {
			granted = append(granted, role.Kind+" "+role.Name)
		}
		for _, b := range objects[rbacv1.ClusterRoleBinding](t, read(t, install, dir+"/binding.yaml")) {
			bound = append(bound, b.RoleRef.Kind+" "+b.RoleRef.Name)
			if who := b.Subjects; len(who) != 1 || who[0].Kind != "ServiceAccount" || who[0].Namespace != "fairlead" || who[0].Name != "operator" {
				t.Errorf("install/%s binds %s to %v", dir, b.RoleRef.Name, who)
			}
		}
		if !slices.Equal(granted, bound) {
			t.Errorf("install/%s binds %q, %s has %q", dir, bound, file, granted)
		}
	}
	for _, c := range newControllers() {
		if !slices.Contains(dirs, c.name()) {
			t.Errorf("there is no config/rbac-%s.yaml", c.name())
		}
	}
	there, err := fs.Glob(install, "*/binding.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(dirs) {
		t.Errorf("install has %q for the rights of %q", there, dirs)
	}
}

// The base has every manifest, and the operator may not do more than its roles
// say: no manifest of the base binds a ClusterRole.
func TestBase(t *testing.T) {
	base := string(read(t, config.Files, "kustomization.yaml"))
	files, err := fs.Glob(config.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file != "kustomization.yaml" && !strings.Contains(base, "\n- "+file+"\n") {
			t.Errorf("config/kustomization.yaml does not have %s", file)
		}
		if strings.Contains(string(read(t, config.Files, file)), "kind: ClusterRoleBinding") {
			t.Errorf("config/%s binds a ClusterRole: that is for install", file)
		}
	}
}
