package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Add adds an object of a dump in its JSON form; kinds that are not of interest are
// ignored. A list of no objects, such as an OperatorGroupList, says that there are
// none. Fields that have another shape than in the API are left out and named in
// odd: they are not known. The error says that the text is not JSON.
func (c *Cluster) Add(kind string, text []byte) (odd []string, err error) {
	if one, ok := strings.CutSuffix(kind, "List"); ok {
		if k := Kind(one); one != "" && !slices.Contains(c.Kinds, k) {
			c.Kinds = append(c.Kinds, k)
		}
		return nil, nil
	}
	switch Kind(kind) {
	case KindSubscription:
		odd, err = decode(text, &c.Subscriptions)
		return append(odd, misnamed(text)...), err
	case KindCSV:
		return decode(text, &c.CSVs)
	case KindInstallPlan:
		return decode(text, &c.Plans)
	case KindOperatorGroup:
		return decode(text, &c.Groups)
	case KindCatalogSource:
		return decode(text, &c.Catalogs)
	case KindOperatorCondition:
		return decode(text, &c.Conditions)
	case KindDefinition:
		return decode(text, &c.Definitions)
	case KindJob:
		return decode(text, &c.Jobs)
	case KindExtension:
		return decode(text, &c.Extensions)
	case KindClusterCatalog:
		return decode(text, &c.Served)
	case KindPackageManifest:
		return decode(text, &c.Packages)
	case KindNamespace:
		var list []struct {
			Metadata ObjectMeta `json:"metadata"`
		}
		odd, err = decode(text, &list)
		for i := range list {
			c.Namespaces = append(c.Namespaces, list[i].Metadata)
		}
		return odd, err
	case "OperatorHub":
		return single(text, &c.Hub)
	case "OLMConfig":
		return single(text, &c.Config)
	}
	return nil, nil
}

// misnamed finds the mistake of those who write a subscription by hand: the API
// calls the package name.
func misnamed(text []byte) []string {
	var s struct {
		Spec struct {
			Name    string `json:"name"`
			Package any    `json:"package"`
		} `json:"spec"`
	}
	if json.Unmarshal(text, &s) != nil || s.Spec.Package == nil || s.Spec.Name != "" {
		return nil
	}
	return []string{fmt.Sprintf("%s: spec.package is no field of the API: write the package as spec.name", subject(text))}
}

// single decodes the only object of a kind.
func single[T any](text []byte, into **T) ([]string, error) {
	var list []T
	odd, err := decode(text, &list)
	if len(list) > 0 {
		*into = &list[0]
	}
	return odd, err
}

// decode appends an object to a list. Fields of another shape are dropped, one
// after the other, until the rest can be decoded.
func decode[T any](text []byte, list *[]T) (odd []string, err error) {
	for range 100 {
		var v T
		err := json.Unmarshal(text, &v)
		var shape *json.UnmarshalTypeError
		switch {
		case err == nil:
			*list = append(*list, v)
			return odd, nil
		case !errors.As(err, &shape) || shape.Field == "":
			return odd, err
		}
		rest, field, ok := drop(text, strings.Split(shape.Field, "."))
		if !ok {
			return odd, err
		}
		odd = append(odd, fmt.Sprintf("%s: %s is %s, which the API does not have there", subject(text), field, article(shape.Value)))
		text = rest
	}
	return odd, errors.New("too many fields have another shape than in the API")
}

// drop removes the field that a path leads to; of a path that ends within lists,
// the first field that has one.
func drop(text []byte, path []string) (rest []byte, field string, ok bool) {
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return nil, "", false
	}
	at := root
	if _, ok := fold(at, path[0]); !ok && len(path) > 1 {
		path = path[1:] // encoding/json names embedded types, too
	}
	for i, key := range path {
		key, ok = fold(at, key)
		if !ok {
			return nil, "", false
		}
		next, isObject := at[key].(map[string]any)
		if i == len(path)-1 || !isObject {
			delete(at, key)
			rest, err := json.Marshal(root)
			return rest, strings.Join(append(slices.Clone(path[:i]), key), "."), err == nil
		}
		at = next
	}
	return nil, "", false
}

// fold finds a key as encoding/json does: if need be in another case.
func fold(o map[string]any, key string) (string, bool) {
	if _, ok := o[key]; ok {
		return key, true
	}
	var found []string
	for k := range o {
		if strings.EqualFold(k, key) {
			found = append(found, k)
		}
	}
	if found == nil {
		return "", false
	}
	slices.Sort(found)
	return found[0], true
}

// article puts one before the name of a shape, as in "an object".
func article(shape string) string {
	shape, _, _ = strings.Cut(shape, " ")
	if strings.ContainsAny(shape[:1], "aeiou") {
		return "an " + shape
	}
	return "a " + shape
}

func subject(text []byte) string {
	var head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(text, &head) // what cannot be read stays empty
	m := fairlead.ObjectMeta{Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}
	return strings.TrimSpace(head.Kind + " " + m.String())
}
