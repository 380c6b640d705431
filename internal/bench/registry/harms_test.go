package registry_test

import (
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	pkgs         = "olm.package"
	channels     = "olm.channel"
	bundles      = "olm.bundle"
	deprecations = "olm.deprecations"
)

func harms() []harm {
	return slices.Concat(packageHarms(), channelHarms(), graphHarms(), entryHarms(), bundleHarms(), packagePropertyHarms(), propertyHarms(), deprecationHarms(), textHarms())
}

func packageHarms() []harm {
	return []harm{
		put(pkgs, "without a name", "name"),
		put(pkgs, "with an empty name", "name", ""),
		put(pkgs, "with a bad name", "name", "A", "a.b", "-a", "a_b", strings.Repeat("a", 64), "a/b", "é", "a b"),
		put(pkgs, "whose name is not a string", "name", 1, true),
		put(pkgs, "whose description is not a string", "description", 1, []any{}),
		put(pkgs, "with a dangling default channel", "defaultChannel", "no-such"),
		put(pkgs, "without a default channel", "defaultChannel"),
		put(pkgs, "whose default channel is not a string", "defaultChannel", 1, object{}),
		put(pkgs, "whose icon is not base64", "icon", object{"base64data": "#", "mediatype": "image/svg+xml"}),
		put(pkgs, "whose icon has no type", "icon", object{"base64data": "AAAA"}),
		put(pkgs, "whose icon is a text", "icon", "x"),
		again(pkgs),
		without(pkgs),
		{name: "package without channels", do: func(r *rand.Rand, c *docs) bool {
			name := pick(r, c.of(pkgs))["name"]
			c.remove(func(d object) bool { return d["schema"] == channels && d["package"] == name })
			return true
		}},
		{name: "package alone", do: func(r *rand.Rand, c *docs) bool {
			name := pick(r, c.of(pkgs))["name"]
			c.remove(func(d object) bool { return d["package"] == name })
			return true
		}},
	}
}

func channelHarms() []harm {
	return []harm{
		put(channels, "without a name", "name"),
		put(channels, "renamed", "name", "other"),
		put(channels, "whose name is not a string", "name", 1, true),
		put(channels, "of an unknown package", "package", "no-such"),
		put(channels, "of no package", "package"),
		put(channels, "without entries", "entries"),
		put(channels, "with no entry", "entries", []any{}),
		put(channels, "whose entries are no list", "entries", object{}, "x", 1),
		put(channels, "with an entry that is not an object", "entries", []any{"x"}, []any{1}, []any{[]any{}}),
		put(channels, "with an entry that is null", "entries", []any{nil}),
		put(channels, "whose properties are wrong", "properties", "x", []any{object{"type": 1}}, []any{"x"}),
		again(channels),
		without(channels),
	}
}

func graphHarms() []harm {
	return []harm{
		entries("with an entry twice", func(r *rand.Rand, l []any) []any { return append(l, pick(r, l)) }),
		entries("with an entry left out", func(r *rand.Rand, l []any) []any { i := r.IntN(len(l)); return slices.Delete(l, i, i+1) }),
		entries("with entries in another order", func(r *rand.Rand, l []any) []any { slices.Reverse(l); return l }),
		entries("with an entry for no bundle", func(r *rand.Rand, l []any) []any { return append(l, object{"name": "no-such"}) }),
		entries("with a second head", func(r *rand.Rand, l []any) []any {
			return append(l, object{"name": "no-such", "replaces": field(pick(r, l), "name")})
		}),
		entries("without edges", func(r *rand.Rand, l []any) []any {
			for i, e := range l {
				l[i] = object{"name": field(e, "name")}
			}
			return l
		}),
		entries("without its head", func(r *rand.Rand, l []any) []any {
			return slices.DeleteFunc(l, func(e any) bool {
				name := field(e, "name")
				return !slices.ContainsFunc(l, func(o any) bool {
					return field(o, "replaces") == name || skips(o, name)
				})
			})
		}),
		entries("whose entries replace each other in a ring", func(r *rand.Rand, l []any) []any {
			for i, e := range l {
				l[i] = object{"name": field(e, "name"), "replaces": field(l[(i+1)%len(l)], "name")}
			}
			return l
		}),
		entries("with a ring behind the head", func(r *rand.Rand, l []any) []any {
			for i, e := range l {
				next := i + 1
				if next == len(l) {
					next = min(1, i)
				}
				l[i] = object{"name": field(e, "name"), "replaces": field(l[next], "name")}
			}
			return l
		}),
	}
}

func entryHarms() []harm {
	return []harm{
		entry("entry renamed", func(r *rand.Rand, e object, _ []any) bool { e["name"] = "no-such"; return true }),
		entry("entry without a name", func(r *rand.Rand, e object, _ []any) bool { delete(e, "name"); return true }),
		entry("entry whose name is not a string", func(r *rand.Rand, e object, _ []any) bool { e["name"] = 1; return true }),
		entry("entry with a bad range", func(r *rand.Rand, e object, _ []any) bool {
			e["skipRange"] = pick(r, []any{"^1.0.0", ">=1.0.0,<2.0.0", "v1.0.0", ">=1", "||", ">1.00.0", "~1.2.0", "*", "x", ">=1.0.0 ||", "<>1.0.0", ">= 1.0.0 < v2.0.0", " ", "1", ">1.x.1"})
			return true
		}),
		entry("entry with a range that is not a string", func(r *rand.Rand, e object, _ []any) bool { e["skipRange"] = 1; return true }),
		entry("entry that skips nothing", func(r *rand.Rand, e object, _ []any) bool { e["skips"] = append(list(e, "skips"), ""); return true }),
		entry("entry that skips itself", func(r *rand.Rand, e object, _ []any) bool {
			e["skips"] = append(list(e, "skips"), e["name"])
			return true
		}),
		entry("entry that skips another", func(r *rand.Rand, e object, others []any) bool {
			e["skips"] = append(list(e, "skips"), field(pick(r, others), "name"))
			return true
		}),
		entry("entry whose skips are a text", func(r *rand.Rand, e object, _ []any) bool { e["skips"] = "x"; return true }),
		entry("entry that replaces itself", func(r *rand.Rand, e object, _ []any) bool { e["replaces"] = e["name"]; return true }),
		entry("entry that replaces another", func(r *rand.Rand, e object, others []any) bool {
			e["replaces"] = field(pick(r, others), "name")
			return true
		}),
		entry("entry that replaces what is not there", func(r *rand.Rand, e object, _ []any) bool { e["replaces"] = "no-such"; return true }),
		entry("entry that replaces nothing", func(r *rand.Rand, e object, _ []any) bool { return set(r, e, "replaces", nil) }),
		entry("entry whose replaces is not a string", func(r *rand.Rand, e object, _ []any) bool { e["replaces"] = []any{}; return true }),
	}
}

func bundleHarms() []harm {
	return []harm{
		put(bundles, "without a name", "name"),
		put(bundles, "renamed", "name", "other"),
		put(bundles, "whose name is not a string", "name", 1, true),
		put(bundles, "of an unknown package", "package", "no-such"),
		put(bundles, "of no package", "package"),
		put(bundles, "without an image", "image"),
		put(bundles, "with a bad image", "image", "UPPER/case", "a@", "a@md5:"+strings.Repeat("0", 32), "a@sha256:00", "a b", "a:", ":a", "r.io/x:"+strings.Repeat("t", 129), strings.Repeat("0", 64), "http://a/b", "a//b", " a"),
		put(bundles, "whose image is not a string", "image", 1, []any{}),
		put(bundles, "with a bad related image", "relatedImages", []any{object{"name": "x", "image": "r.io/X"}}),
		put(bundles, "with an empty related image", "relatedImages", []any{object{"name": "x", "image": ""}}, []any{object{}}),
		put(bundles, "whose related images are no list", "relatedImages", "x", object{}, []any{"x"}),
		put(bundles, "without properties", "properties"),
		put(bundles, "with no property", "properties", []any{}),
		put(bundles, "whose properties are no list", "properties", "x", object{}, 1),
		put(bundles, "with a property that is not an object", "properties", []any{"x"}, []any{1}),
		again(bundles),
		without(bundles),
		{name: "bundles of one package, one the other's version", do: func(r *rand.Rand, c *docs) bool {
			found := c.of(bundles)
			a, b := pick(r, found), pick(r, found)
			v, w := packageValue(a), packageValue(b)
			if a["name"] == b["name"] || a["package"] != b["package"] || v == nil || w == nil {
				return false
			}
			v["version"] = w["version"]
			return true
		}},
		{name: "bundles with each other's names", do: func(r *rand.Rand, c *docs) bool {
			found := c.of(bundles)
			a, b := pick(r, found), pick(r, found)
			a["name"], b["name"] = b["name"], a["name"]
			return a["name"] != b["name"]
		}},
	}
}

func packagePropertyHarms() []harm {
	return []harm{
		inValue("with the property of another package", "packageName", "no-such"),
		inValue("whose property names no package", "packageName"),
		inValue("whose property's package is not a string", "packageName", 1, []any{}),
		inValue("whose version is not a string", "version", 1, object{}),
		inValue("without a version", "version"),
		inValue("with a bad version", "version", "", "v1.0.0", "1.5", "1", "1.05.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0 ", "a.b.c", "1.0.0.0", "99999999999999999999.0.0", "1.0.0-é", "1.0.0+b..c", "-1.0.0"),
		inValue("with a bad release", "release", "01", "a..b", "é", strings.Repeat("a", 21), "a_b", ".", "99999999999999999999"),
		inValue("with a release that its name lacks", "release", "1"),
		inValue("whose release is not a string", "release", 1),
		inValue("with a property of unknown keys", "other", 1),
		on(bundles, "with build metadata and a release", func(_ *rand.Rand, d object) bool {
			v := packageValue(d)
			if v == nil {
				return false
			}
			v["version"], v["release"] = "1.0.0+b", "1"
			return true
		}),
		on(bundles, "with two properties of its package", func(_ *rand.Rand, d object) bool {
			d["properties"] = append(list(d, "properties"), object{"type": pkgs, "value": packageValue(d)})
			return true
		}),
		on(bundles, "without the property of its package", func(_ *rand.Rand, d object) bool {
			d["properties"] = slices.DeleteFunc(slices.Clone(list(d, "properties")), func(p any) bool { return field(p, "type") == pkgs })
			return true
		}),
	}
}

func propertyHarms() []harm {
	wrong := func(kind string, values ...any) []object {
		var all []object
		for _, v := range values {
			all = append(all, object{"type": kind, "value": v})
		}
		return all
	}
	return []harm{
		property("property without a type", object{"value": 1}),
		property("property of an empty type", object{"type": "", "value": 1}),
		property("property whose type is not a string", object{"type": 1, "value": 1}),
		property("property without a value", object{"type": "x"}, object{"type": "olm.gvk"}),
		property("property of value null", object{"type": "x", "value": nil}, object{"type": "olm.gvk", "value": nil}),
		property("property of unknown type", wrong("x", 1, "x", []any{}, object{})...),
		property("package property of wrong form", wrong(pkgs, "x", 1, []any{})...),
		property("API of wrong form", wrong("olm.gvk", "x", 1, []any{}, object{"group": 1}, object{"kind": []any{}})...),
		property("empty API", wrong("olm.gvk", object{}, object{"kind": ""})...),
		property("required API of wrong form", wrong("olm.gvk.required", "x", []any{}, object{"version": 1})...),
		property("required package of wrong form", wrong("olm.package.required", "x", []any{}, object{"packageName": 1})...),
		property("required package of a bad range", wrong("olm.package.required", object{"packageName": "a", "versionRange": "^1"}, object{"versionRange": ""})...),
		property("payload of wrong form", wrong("olm.bundle.object", "x", object{"data": "###"}, object{"data": 1}, object{"data": object{}})...),
		property("payload that is a list", wrong("olm.bundle.object", object{"data": []any{}}, object{"data": []any{123, 125}})...),
		property("payload that is not an object", wrong("olm.bundle.object", object{"data": "eA=="}, object{"data": ""}, object{})...),
		property("CSV of wrong form", wrong("olm.csv.metadata", "x", []any{}, object{"annotations": object{"a": 1}}, object{"crdDescriptions": object{"owned": []any{object{"name": []any{}}}}}, object{"keywords": "x"}, object{"maintainers": object{}})...),
		property("constraint of wrong form", wrong("olm.constraint", "x", 1, object{"cel": 1})...),
		property("old channel of wrong form", wrong("olm.channel", "x", object{"name": 1}, object{"priority": "x"})...),
		property("old skips of wrong form", append(wrong("olm.skips", 1, []any{}, ""), wrong("olm.skipRange", 1, "^1", object{})...)...),
		property("platform of wrong form", wrong("olm.maxOpenShiftVersion", "x", 4.9, object{})...),
	}
}

func deprecationHarms() []harm {
	return []harm{
		reference("of an unknown bundle", object{"schema": bundles, "name": "no-such"}, object{"schema": bundles}),
		reference("of an unknown channel", object{"schema": channels, "name": "no-such"}, object{"schema": channels}),
		reference("of a package by name", object{"schema": pkgs, "name": "no-such"}),
		reference("of an unknown schema", object{"schema": "x"}, object{"schema": "x", "name": "y"}),
		reference("of nothing", object{}, object{"name": "x"}),
		reference("whose reference is not an object", "x", 1, []any{}),
		deprecated("twice", func(r *rand.Rand, c docs, pkg any) []any {
			e := object{"reference": object{"schema": pkgs}, "message": "old"}
			return []any{e, e}
		}),
		deprecated("without a message", func(*rand.Rand, docs, any) []any {
			return []any{object{"reference": object{"schema": pkgs}}}
		}),
		deprecated("whose message is not a string", func(*rand.Rand, docs, any) []any {
			return []any{object{"reference": object{"schema": pkgs}, "message": 1}}
		}),
		deprecated("of a bundle without a message", func(r *rand.Rand, c docs, _ any) []any {
			return []any{object{"reference": object{"schema": bundles, "name": pick(r, c.of(bundles))["name"]}}}
		}),
		deprecated("of a channel without a message", func(r *rand.Rand, c docs, _ any) []any {
			return []any{object{"reference": object{"schema": channels, "name": pick(r, c.of(channels))["name"]}}}
		}),
		deprecated("of nothing at all", func(*rand.Rand, docs, any) []any { return []any{} }),
		deprecated("that is not an object", func(*rand.Rand, docs, any) []any { return []any{"x"} }),
		{name: "deprecations of an unknown package", do: func(_ *rand.Rand, c *docs) bool {
			*c = append(*c, object{"schema": deprecations, "package": "no-such"})
			return true
		}},
		{name: "deprecations of no package", do: func(_ *rand.Rand, c *docs) bool {
			*c = append(*c, object{"schema": deprecations})
			return true
		}},
		{name: "deprecations twice", do: func(r *rand.Rand, c *docs) bool {
			d := object{"schema": deprecations, "package": pick(r, c.of(pkgs))["name"]}
			*c = append(*c, d, d)
			return true
		}},
	}
}

func textHarms() []harm {
	end := func(name string, additions ...string) harm {
		return harm{name: name, text: func(r *rand.Rand, s string) string { return s + pick(r, additions) }}
	}
	swap := func(name, old, new string) harm {
		return harm{name: name, text: func(r *rand.Rand, s string) string { return strings.Replace(s, old, new, 1) }}
	}
	return []harm{
		end("document without a schema", `{"name":"x"}`, `{}`),
		end("document of an empty schema", `{"schema":""}`),
		end("document of an unknown schema", `{"schema":"x"}`, `{"schema":"x","name":"y","package":"z"}`),
		end("document whose schema is not a string", `{"schema":1}`, `{"schema":["olm.package"]}`),
		end("document that is not an object", `[]`, `"x"`, `1`, `true`),
		end("text behind the documents", "}", "x", "]", "{"),
		end("space behind the documents", " \n\t", "\n\n"),
		{name: "file cut short", text: func(r *rand.Rand, s string) string { return strings.TrimRight(s, "}\n") }},
		{name: "file empty", text: func(*rand.Rand, string) string { return "" }},
		swap("comma missing", `,"`, ` "`),
		swap("quote missing", `":`, `:`),
		swap("key in capitals", `"schema":`, `"Schema":`),
		swap("name null", `"name":"`, `"name":null,"x":"`),
		swap("key twice", `"name":`, `"name":"first","name":`),
		swap("bytes that are no UTF-8", `"schema":`, "\"x\":\"\xff\",\"schema\":"),
	}
}

// skips reports whether an entry skips a name.
func skips(entry any, name any) bool {
	skipped, _ := field(entry, "skips").([]any)
	return slices.Contains(skipped, name)
}
