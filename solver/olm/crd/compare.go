package crd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// Change is a change of a definition that could make a valid object invalid, or
// change its meaning.
type Change struct {
	Version string // the version, or "" for the whole definition
	Path    string // the field, such as spec.replicas, or "" for the whole
	Text    string // what changed
	// Default means that only a default changes: valid objects stay valid, but new ones may
	// mean something else.
	Default bool
}

// String returns "version path: text".
func (c Change) String() string {
	where := strings.TrimSpace(c.Version + " " + c.Path)
	if where == "" {
		return c.Text
	}
	return where + ": " + c.Text
}

// Compare returns the unsafe changes from a definition to its replacement:
// another scope; stored versions that are removed; and in each version that both
// have, fields that are removed or become required, other types, defaults that
// are added, removed or changed, values that are no longer allowed, tighter
// bounds, and any other change of validation, whose effect is unknown.
// Descriptions do not count.
//
// The order is that of the versions of the old definition, then of the paths. A
// schema that is not a JSON object is an error.
func Compare(old, new *Definition) ([]Change, error) {
	var found []Change
	if old.Spec.Scope != new.Spec.Scope {
		found = append(found, Change{Text: fmt.Sprintf("scope changes from %s to %s", old.Spec.Scope, new.Spec.Scope)})
	}
	for _, name := range old.Status.StoredVersions {
		if _, ok := new.version(name); !ok {
			found = append(found, Change{Version: name, Text: "the stored version is removed"})
		}
	}
	for _, was := range old.versions() {
		is, ok := new.version(was.Name)
		if !ok {
			continue
		}
		d := differ{version: was.Name}
		a, err := decode(old.schema(was))
		if err != nil {
			return nil, fmt.Errorf("CRD %s, version %s: %w", old.Name, was.Name, err)
		}
		b, err := decode(new.schema(is))
		if err != nil {
			return nil, fmt.Errorf("new CRD %s, version %s: %w", new.Name, was.Name, err)
		}
		d.schema("", a, b)
		slices.SortStableFunc(d.found, func(x, y Change) int { return cmp.Compare(x.Path, y.Path) })
		found = append(found, d.found...)
	}
	return found, nil
}

func decode(schema json.RawMessage) (map[string]any, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var m map[string]any
	if err := json.Unmarshal(schema, &m); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return m, nil
}

type differ struct {
	version string
	found   []Change
}

func (d *differ) add(path, format string, args ...any) {
	d.found = append(d.found, Change{Version: d.version, Path: path, Text: fmt.Sprintf(format, args...)})
}

// lowerBounds and upperBounds are the keywords whose increase, or decrease,
// makes a schema stricter; so does adding one.
var (
	lowerBounds = []string{"minimum", "minItems", "minLength", "minProperties"}
	upperBounds = []string{"maximum", "maxItems", "maxLength", "maxProperties"}
	known       = slices.Concat(lowerBounds, upperBounds, []string{
		"description", "title", "example", "externalDocs", // without effect on validation
		"type", "properties", "items", "additionalProperties", "required", "enum", "default",
	})
)

func (d *differ) schema(path string, a, b map[string]any) {
	if text := differs(a["type"], b["type"]); text != "" {
		d.add(path, "type %s", text)
	}
	if text := differs(a["default"], b["default"]); text != "" {
		d.add(path, "default %s", text)
		d.found[len(d.found)-1].Default = true
	}
	d.enum(path, a, b)
	d.bounds(path, a, b)
	d.required(path, a, b)
	d.properties(path, a, b)
	for _, key := range []string{"items", "additionalProperties"} {
		d.below(path, key, a[key], b[key])
	}
	keys := slices.Sorted(maps.Keys(a))
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if text := differs(a[key], b[key]); text != "" && !slices.Contains(known, key) {
			d.add(path, "%s %s", key, text)
		}
	}
}

// differs returns how one value became another, or "" if they are equal.
func differs(a, b any) string {
	x, y := text(a), text(b)
	switch {
	case x == y:
		return ""
	case a == nil:
		return "is new: " + y
	case b == nil:
		return "goes: " + x
	}
	return fmt.Sprintf("changes from %s to %s", x, y)
}

// text returns JSON with sorted keys.
func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // not reached: v was decoded from JSON
	}
	return string(data)
}

func (d *differ) enum(path string, a, b map[string]any) {
	was, had := a["enum"].([]any)
	is, has := b["enum"].([]any)
	switch {
	case !has:
	case !had:
		d.add(path, "only some values are allowed now: %s", text(b["enum"]))
	default:
		for _, v := range was {
			if !slices.ContainsFunc(is, func(o any) bool { return text(o) == text(v) }) {
				d.add(path, "value %s is no longer allowed", text(v))
			}
		}
	}
}

func (d *differ) bounds(path string, a, b map[string]any) {
	check := func(keys []string, tighter func(was, is float64) bool) {
		for _, key := range keys {
			is, ok := b[key].(float64)
			was, had := a[key].(float64)
			switch {
			case !ok:
			case !had:
				d.add(path, "%s is new: %v", key, is)
			case tighter(was, is):
				d.add(path, "%s is tighter: %v instead of %v", key, is, was)
			}
		}
	}
	check(lowerBounds, func(was, is float64) bool { return is > was })
	check(upperBounds, func(was, is float64) bool { return is < was })
}

func (d *differ) required(path string, a, b map[string]any) {
	was, _ := a["required"].([]any)
	is, _ := b["required"].([]any)
	for _, field := range is {
		name, ok := field.(string)
		if ok && !slices.Contains(was, field) {
			d.add(words.Field(path, name), "is required now")
		}
	}
}

func (d *differ) properties(path string, a, b map[string]any) {
	was, _ := a["properties"].(map[string]any)
	is, _ := b["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		below := words.Field(path, name)
		if _, ok := is[name]; !ok {
			d.add(below, "the field is removed")
			continue
		}
		x, _ := was[name].(map[string]any)
		y, _ := is[name].(map[string]any)
		d.schema(below, x, y)
	}
}

// below compares the schemas of items, or of additional fields.
func (d *differ) below(path, key string, a, b any) {
	x, xok := a.(map[string]any)
	y, yok := b.(map[string]any)
	if xok && yok {
		d.schema(path+map[string]string{"items": "[*]", "additionalProperties": ".*"}[key], x, y)
		return
	}
	if text := differs(a, b); text != "" {
		d.add(path, "%s %s", key, text)
	}
}
