package crd

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// lost returns the path of the first field of an object that is kept under the old
// schema and dropped under the new one, in the order of member names, or "" if there
// is none. An empty schema keeps everything.
func lost(data, old, new json.RawMessage) (string, error) {
	var parts [3]any
	for i, text := range []json.RawMessage{data, old, new} {
		if len(text) == 0 {
			continue
		}
		var err error
		if parts[i], err = number(text); err != nil {
			return "", err
		}
	}
	object, ok := parts[0].(map[string]any)
	if !ok {
		return "", nil
	}
	for _, own := range []string{"apiVersion", "kind", "metadata"} {
		delete(object, own) // those are always kept
	}
	return dropped("", object, parts[1], parts[2], 0), nil
}

func dropped(path string, value, old, new any, depth int) string {
	if depth > maxDepth {
		return ""
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			field := name
			if path != "" {
				field = path + "." + name
			}
			was, kept := member(old, name)
			is, stays := member(new, name)
			if kept && !stays {
				return field
			}
			if !stays {
				continue
			}
			if found := dropped(field, v[name], was, is, depth+1); found != "" {
				return found
			}
		}
	case []any:
		was, is := items(old), items(new)
		for i := range v {
			if found := dropped(path+"["+strconv.Itoa(i)+"]", v[i], was, is, depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// member returns the schema of a member, or nil if everything below it is kept, and
// whether the member itself is kept.
func member(schema any, name string) (any, bool) {
	rules, ok := schema.(map[string]any)
	if !ok {
		return nil, true
	}
	if properties, ok := rules["properties"].(map[string]any); ok {
		if own, ok := properties[name]; ok {
			return own, true
		}
	}
	switch more := rules["additionalProperties"].(type) {
	case bool:
		if more {
			return nil, true
		}
	case map[string]any:
		return more, true
	}
	if all, _ := rules["x-kubernetes-preserve-unknown-fields"].(bool); all {
		return nil, true
	}
	embedded, _ := rules["x-kubernetes-embedded-resource"].(bool)
	return nil, embedded && (name == "apiVersion" || name == "kind" || name == "metadata")
}

// items returns the schema of the elements of a list.
func items(schema any) any {
	rules, _ := schema.(map[string]any)
	return rules["items"]
}
