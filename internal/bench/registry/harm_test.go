package registry_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

type object = map[string]any

// harm is one kind of damage to a valid catalog.
type harm struct {
	name string
	do   func(r *rand.Rand, c *docs) bool          // reports whether that was possible
	text func(r *rand.Rand, content string) string // used instead, on the written text
}

// docs are the documents of a catalog, which may be changed.
type docs []object

func (c docs) text() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, d := range c {
		if err := e.Encode(d); err != nil {
			panic(err) // made of JSON
		}
	}
	return b.String()
}

func (c docs) of(schema string) []object {
	var found []object
	for _, d := range c {
		if d["schema"] == schema {
			found = append(found, d)
		}
	}
	return found
}

func (c *docs) remove(which func(object) bool) { *c = slices.DeleteFunc(*c, which) }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func list(d object, key string) []any {
	l, _ := d[key].([]any)
	return l
}

// field returns a member of v, or nil if there is none or v is not an object.
func field(v any, key string) any {
	o, _ := v.(object)
	return o[key]
}

// on returns damage that changes a random document of a schema.
func on(schema, name string, change func(r *rand.Rand, d object) bool) harm {
	return harm{name: strings.TrimPrefix(schema, "olm.") + " " + name, do: func(r *rand.Rand, c *docs) bool {
		found := c.of(schema)
		return len(found) > 0 && change(r, pick(r, found))
	}}
}

// put returns damage that sets a key to one of the given values, or removes it if none
// are given.
func put(schema, name, key string, values ...any) harm {
	return on(schema, name, func(r *rand.Rand, d object) bool { return set(r, d, key, values) })
}

func set(r *rand.Rand, d object, key string, values []any) bool {
	if len(values) > 0 {
		d[key] = pick(r, values)
		return true
	}
	_, there := d[key]
	delete(d, key)
	return there
}

// again returns damage that repeats a document at the end.
func again(schema string) harm {
	return harm{name: strings.TrimPrefix(schema, "olm.") + " twice", do: func(r *rand.Rand, c *docs) bool {
		found := c.of(schema)
		if len(found) == 0 {
			return false
		}
		*c = append(*c, pick(r, found))
		return true
	}}
}

// without returns damage that leaves a document out.
func without(schema string) harm {
	return harm{name: strings.TrimPrefix(schema, "olm.") + " left out", do: func(r *rand.Rand, c *docs) bool {
		found := c.of(schema)
		if len(found) == 0 {
			return false
		}
		gone := pick(r, found)
		c.remove(func(d object) bool {
			return d["schema"] == gone["schema"] && d["name"] == gone["name"] && d["package"] == gone["package"]
		})
		return true
	}}
}

// inValue returns damage that sets a key of an olm.package property to a wrong value.
func inValue(name, key string, values ...any) harm {
	return on("olm.bundle", name, func(r *rand.Rand, d object) bool {
		v := packageValue(d)
		return v != nil && set(r, v, key, values)
	})
}

func packageValue(bundle object) object {
	for _, p := range list(bundle, "properties") {
		if field(p, "type") == "olm.package" {
			v, _ := field(p, "value").(object)
			return v
		}
	}
	return nil
}

// property returns damage that adds a property to a bundle.
func property(name string, properties ...object) harm {
	return on("olm.bundle", name, func(r *rand.Rand, d object) bool {
		d["properties"] = append(slices.Clip(list(d, "properties")), pick(r, properties))
		return true
	})
}

// entry returns damage that changes an entry e of a channel; others are all its
// entries.
func entry(name string, change func(r *rand.Rand, e object, others []any) bool) harm {
	return on("olm.channel", name, func(r *rand.Rand, d object) bool {
		entries := list(d, "entries")
		if len(entries) == 0 {
			return false
		}
		e, ok := pick(r, entries).(object)
		return ok && e != nil && change(r, e, entries)
	})
}

// entries returns damage that changes the list of a channel's entries.
func entries(name string, change func(r *rand.Rand, l []any) []any) harm {
	return on("olm.channel", name, func(r *rand.Rand, d object) bool {
		before := list(d, "entries")
		if len(before) == 0 {
			return false
		}
		d["entries"] = change(r, slices.Clone(before))
		return true
	})
}

// deprecated returns damage in the entries of a package's deprecations.
func deprecated(name string, entries func(r *rand.Rand, c docs, pkg any) []any) harm {
	return harm{name: "deprecation " + name, do: func(r *rand.Rand, c *docs) bool {
		pkg := pick(r, c.of("olm.package"))["name"]
		c.remove(func(d object) bool { return d["schema"] == "olm.deprecations" && d["package"] == pkg })
		*c = append(*c, object{"schema": "olm.deprecations", "package": pkg, "entries": entries(r, *c, pkg)})
		return true
	}}
}

// reference is deprecated with one entry.
func reference(name string, values ...any) harm {
	return deprecated(name, func(r *rand.Rand, _ docs, _ any) []any {
		return []any{object{"reference": pick(r, values), "message": "old"}}
	})
}
