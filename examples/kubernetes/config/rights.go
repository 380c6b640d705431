package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Rights returns the names of the roles and cluster roles in a file of [Files], in its order, and the
// permissions that they grant, as "verb group/resource".
func Rights(file string) (roles []string, rights map[string]bool, err error) {
	data, err := fs.ReadFile(Files, file)
	if err != nil {
		return nil, nil, err
	}
	rights = map[string]bool{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var role rbacv1.ClusterRole // a Role has the same rules
		err := documents.Decode(&role)
		if errors.Is(err, io.EOF) {
			return roles, rights, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("config/%s: %w", file, err)
		}
		if !strings.HasSuffix(role.Kind, "Role") {
			continue
		}
		roles = append(roles, role.Name)
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						rights[verb+" "+group+"/"+resource] = true
					}
				}
			}
		}
	}
}
