package catalog_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/long"
)

// damage is one kind of harm to a valid catalog.
type damage struct {
	name string
	code catalog.Code // that has to be found
	// do harms s, and reports whether it could.
	do func(r *rand.Rand, s *synth) bool
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// onBundle makes damage of a change to a bundle.
func onBundle(name string, code catalog.Code, change func(r *rand.Rand, b *synthBundle)) damage {
	return damage{name, code, func(r *rand.Rand, s *synth) bool {
		change(r, pick(r, s.Bundles))
		return true
	}}
}

// onPackageValue makes damage of a change to an olm.package property.
func onPackageValue(name string, code catalog.Code, change func(value object)) damage {
	return onBundle(name, code, func(_ *rand.Rand, b *synthBundle) { change(b.Properties[0]["value"].(object)) })
}

// onEntry makes damage of a change to a channel's entry.
func onEntry(name string, code catalog.Code, change func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool) damage {
	return damage{name, code, func(r *rand.Rand, s *synth) bool {
		ch := pick(r, s.Channels)
		return change(r, ch, &ch.Entries[r.IntN(len(ch.Entries))])
	}}
}

// add makes damage of one more property of a bundle.
func add(name string, code catalog.Code, property object) damage {
	return onBundle(name, code, func(r *rand.Rand, b *synthBundle) { b.Properties = append(b.Properties, property) })
}

// deprecate makes damage of a deprecation.
func deprecate(name string, reference any, message string) damage {
	return damage{name, check.CodeDeprecation, func(r *rand.Rand, s *synth) bool {
		s.Deprecations = []map[string]any{{"schema": catalog.SchemaDeprecations, "package": pick(r, s.Packages)["name"],
			"entries": []any{object{"reference": reference, "message": message}}}}
		return true
	}}
}

// covers reports whether an entry replaces or skips another.
func covers(e catalog.Entry, name string) bool {
	return e.Replaces == name || slices.Contains(e.Skips, name)
}

// headOf returns the index of the entry that no other covers.
func headOf(ch *synthChannel) int {
	return slices.IndexFunc(ch.Entries, func(e catalog.Entry) bool {
		return !slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return covers(o, e.Name) })
	})
}

func damages() []damage {
	return slices.Concat(documentDamages(), bundleDamages(), graphDamages(), deprecationDamages())
}

func documentDamages() []damage {
	return []damage{
		{"package without a name", check.CodePackageName, func(r *rand.Rand, s *synth) bool { delete(pick(r, s.Packages), "name"); return true }},
		{"package with a bad name", check.CodePackageName, func(r *rand.Rand, s *synth) bool {
			pick(r, s.Packages)["name"] = pick(r, []string{"A", "a.b", "-a", strings.Repeat("a", 64), "a_b"})
			return true
		}},
		{"package twice", check.CodeDuplicate, func(r *rand.Rand, s *synth) bool { s.Packages = append(s.Packages, pick(r, s.Packages)); return true }},
		{"package removed", check.CodeUnknownPackage, func(r *rand.Rand, s *synth) bool {
			i := r.IntN(len(s.Packages))
			s.Packages = slices.Delete(s.Packages, i, i+1)
			return true
		}},
		{"default channel misspelt", check.CodeDefaultChannel, func(r *rand.Rand, s *synth) bool { pick(r, s.Packages)["defaultChannel"] = "c9"; return true }},
		{"default channel removed", check.CodeDefaultChannel, func(r *rand.Rand, s *synth) bool { delete(pick(r, s.Packages), "defaultChannel"); return true }},
		{"channel without a name", check.CodeChannelName, func(r *rand.Rand, s *synth) bool { pick(r, s.Channels).Name = ""; return true }},
		{"channel twice", check.CodeDuplicate, func(r *rand.Rand, s *synth) bool { s.Channels = append(s.Channels, pick(r, s.Channels)); return true }},
		{"channel of another package", check.CodeUnknownPackage, func(r *rand.Rand, s *synth) bool { pick(r, s.Channels).Package = "zz"; return true }},
		{"channel of no package", check.CodeUnknownPackage, func(r *rand.Rand, s *synth) bool { pick(r, s.Channels).Package = ""; return true }},
		{"channel without entries", check.CodeEmptyChannel, func(r *rand.Rand, s *synth) bool { pick(r, s.Channels).Entries = nil; return true }},
		{"all channels of a package removed", check.CodeNoChannel, func(r *rand.Rand, s *synth) bool {
			name := pick(r, s.Packages)["name"]
			s.Channels = slices.DeleteFunc(s.Channels, func(c *synthChannel) bool { return c.Package == name })
			return true
		}},
		{"bundle removed", check.CodeMissingBundle, func(r *rand.Rand, s *synth) bool {
			i := r.IntN(len(s.Bundles))
			s.Bundles = slices.Delete(s.Bundles, i, i+1)
			s.Deprecations = nil
			return true
		}},
		{"bundle twice", check.CodeDuplicate, func(r *rand.Rand, s *synth) bool { s.Bundles = append(s.Bundles, pick(r, s.Bundles)); return true }},
		onBundle("bundle renamed", check.CodeNotInChannel, func(r *rand.Rand, b *synthBundle) { b.Name += "x" }),
		onBundle("bundle of another package", check.CodeUnknownPackage, func(r *rand.Rand, b *synthBundle) { b.Package = "zz" }),
		onBundle("bundle of no package", check.CodeUnknownPackage, func(r *rand.Rand, b *synthBundle) { b.Package = "" }),
	}
}

func bundleDamages() []damage {
	return []damage{
		onBundle("image removed", check.CodeImage, func(r *rand.Rand, b *synthBundle) { b.Image = "" }),
		onBundle("image malformed", check.CodeImage, func(r *rand.Rand, b *synthBundle) {
			b.Image = pick(r, []string{"UPPER/case", "a@", "a@md5:" + strings.Repeat("0", 32), "a@sha256:00", "a b", "a:", ":a", "r.io/x:" + strings.Repeat("t", 129), strings.Repeat("0", 64)})
		}),
		onBundle("related image malformed", check.CodeImage, func(r *rand.Rand, b *synthBundle) { b.RelatedImages[0]["image"] = "r.io/X" }),
		onBundle("package property removed", check.CodePackageProperty, func(r *rand.Rand, b *synthBundle) { b.Properties = b.Properties[1:] }),
		onBundle("package property twice", check.CodePackageProperty, func(r *rand.Rand, b *synthBundle) { b.Properties = append(b.Properties, b.Properties[0]) }),
		onPackageValue("package property of another package", check.CodePackageProperty, func(v object) { v["packageName"] = "zz" }),
		onPackageValue("version as a number", check.CodeProperty, func(v object) { v["version"] = 1.5 }),
		onPackageValue("version removed", check.CodeVersion, func(v object) { delete(v, "version") }),
		onPackageValue("version with a v", check.CodeVersion, func(v object) { v["version"] = "v" + v["version"].(string) }),
		onPackageValue("version with two numbers", check.CodeVersion, func(v object) { v["version"] = "1.5" }),
		onPackageValue("version with a leading zero", check.CodeVersion, func(v object) { v["version"] = "1.05.0" }),
		onPackageValue("release malformed", check.CodeRelease, func(v object) { v["release"] = "01" }),
		onPackageValue("release that the name lacks", check.CodeBundleName, func(v object) { v["release"] = "1" }),
		onPackageValue("release beside build metadata", check.CodeRelease, func(v object) { v["version"], v["release"] = v["version"].(string)+"+b", "1" }),
		{"version taken", check.CodeVersionConflict, func(r *rand.Rand, s *synth) bool {
			a, b := pick(r, s.Bundles), pick(r, s.Bundles)
			if a == b || a.Package != b.Package {
				return false
			}
			a.Properties[0]["value"].(object)["version"] = b.Properties[0]["value"].(object)["version"]
			return true
		}},
		add("property without a value", check.CodeProperty, object{"type": "x"}),
		add("API that is a text", check.CodeProperty, object{"type": "olm.gvk", "value": "x"}),
		add("API whose group is a number", check.CodeProperty, object{"type": "olm.gvk.required", "value": object{"group": 1}}),
		add("requirement that is a list", check.CodeProperty, object{"type": "olm.package.required", "value": []any{}}),
		add("payload that is not base64", check.CodeProperty, object{"type": "olm.bundle.object", "value": object{"data": "###"}}),
		add("annotation that is a number", check.CodeProperty, object{"type": "olm.csv.metadata", "value": object{"annotations": object{"a": 1}}}),
		add("described API whose name is a list", check.CodeProperty, object{"type": "olm.csv.metadata", "value": object{"crdDescriptions": object{"owned": []any{object{"name": []any{}}}}}}),
	}
}

func graphDamages() []damage {
	return []damage{
		onEntry("entry twice", check.CodeDuplicate, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool {
			ch.Entries = append(ch.Entries, *e)
			return true
		}),
		onEntry("entry renamed", check.CodeMissingBundle, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool { e.Name += "x"; return true }),
		onEntry("entry without a name", check.CodeEntryName, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool { e.Name = ""; return true }),
		onEntry("range malformed", check.CodeSkipRange, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool {
			e.SkipRange = pick(r, []string{"^1.0.0", ">=1.0.0,<2.0.0", "v1.0.0", ">=1", "||", ">1.00.0", "~1.2.0", "*"})
			return true
		}),
		onEntry("empty skip", check.CodeEmptySkip, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool {
			e.Skips = append(e.Skips, "")
			return true
		}),
		onEntry("head replaced by an old entry", check.CodeNoHead, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool {
			head := ch.Entries[headOf(ch)].Name
			if e.Name == head {
				return false
			}
			e.Replaces = head
			return !slices.ContainsFunc(ch.Entries, func(e catalog.Entry) bool {
				return !slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return covers(o, e.Name) })
			})
		}),
		onEntry("edge of the head removed", check.CodeMultipleHeads, func(r *rand.Rand, ch *synthChannel, _ *catalog.Entry) bool {
			e := &ch.Entries[headOf(ch)]
			e.Replaces, e.Skips = "", nil
			n := 0
			for _, e := range ch.Entries {
				if !slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return covers(o, e.Name) }) {
					n++
				}
			}
			return n > 1
		}),
		onEntry("entry replaces itself", check.CodeReplacesCycle, func(r *rand.Rand, ch *synthChannel, e *catalog.Entry) bool {
			// On the chain, and not skipped: then the walk comes to it.
			if e.Name == ch.Entries[headOf(ch)].Name || slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return slices.Contains(o.Skips, e.Name) }) {
				return false
			}
			was := e.Replaces
			e.Replaces = e.Name
			return !slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return o.Name == was })
		}),
		onEntry("edge within the chain moved", check.CodeStrandedBundle, func(r *rand.Rand, ch *synthChannel, _ *catalog.Entry) bool {
			// The head skips what it replaces: what lies behind has no way.
			e := &ch.Entries[headOf(ch)]
			i := slices.IndexFunc(ch.Entries, func(o catalog.Entry) bool { return o.Name == e.Replaces })
			if i < 0 || !slices.ContainsFunc(ch.Entries, func(o catalog.Entry) bool { return o.Name == ch.Entries[i].Replaces }) {
				return false
			}
			e.Skips = append(e.Skips, e.Replaces)
			return true
		}),
	}
}

func deprecationDamages() []damage {
	return []damage{
		deprecate("deprecation of a bundle that is not there", object{"schema": "olm.bundle", "name": "zz"}, "m"),
		deprecate("deprecation of a channel that is not there", object{"schema": "olm.channel", "name": "zz"}, "m"),
		deprecate("deprecation of a package by name", object{"schema": "olm.package", "name": "zz"}, "m"),
		deprecate("deprecation of another schema", object{"schema": "zz"}, "m"),
		deprecate("deprecation of nothing", object{}, "m"),
		deprecate("deprecation without a message", object{"schema": "olm.package"}, ""),
		{"deprecations of another package", check.CodeUnknownPackage, func(r *rand.Rand, s *synth) bool {
			s.Deprecations = append(s.Deprecations, object{"schema": catalog.SchemaDeprecations, "package": "zz"})
			return true
		}},
		{"deprecations twice", check.CodeDuplicate, func(r *rand.Rand, s *synth) bool {
			if len(s.Deprecations) == 0 {
				return false
			}
			s.Deprecations = append(s.Deprecations, pick(r, s.Deprecations))
			return true
		}},
		{"deprecation twice", check.CodeDuplicate, func(r *rand.Rand, s *synth) bool {
			if len(s.Deprecations) == 0 {
				return false
			}
			d := pick(r, s.Deprecations)
			entries := d["entries"].([]any)
			d["entries"] = append(entries, entries[0])
			return true
		}},
	}
}

// TestDamage harms valid catalogs in every way, by seed: the finding is there,
// complete, on the document that was harmed, and opm refuses the catalog, too.
func TestDamage(t *testing.T) {
	for i, d := range damages() {
		r := rand.New(rand.NewPCG(19, uint64(i)))
		done := 0
		for range long.N(400, 10_000) {
			s := newSynth(r)
			if !d.do(r, s) {
				continue
			}
			if done++; done > long.N(8, 2000) {
				break
			}
			text := s.text()
			_, report := mustCheck(t, text)
			if !slices.ContainsFunc(append(report.Findings(), report.Hidden()...), func(f *catalog.Diagnostic) bool { return f.Code == d.code }) || report.Valid() {
				t.Fatalf("%s: no %s in %v\n%s", d.name, d.code, report.Findings(), text)
			}
			if report.OPM() == "" {
				t.Fatalf("%s: opm takes it\n%s", d.name, text)
			}
			for _, f := range report.Findings() {
				if f.Pos.File == "" || f.Pos.Line == 0 || f.Pos.Column == 0 || f.Message == "" || f.Hint == "" {
					t.Fatalf("%s: incomplete: %+v", d.name, f)
				}
			}
		}
		if done < 5 {
			t.Errorf("%s: done only %d times", d.name, done)
		}
	}
	if n := len(damages()); n < 40 {
		t.Errorf("only %d kinds", n)
	}
}
