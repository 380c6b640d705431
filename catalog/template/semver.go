package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// archetypes are the prefixes of channel names, the least stable first.
var archetypes = []string{"candidate", "fast", "stable"}

// The types of channels: all versions of a major, or of a minor.
const (
	major = "major"
	minor = "minor"
)

// semver is lists of bundles, from whose versions channels follow.
type semver struct {
	types   []string // of channels to make, major before minor
	prefer  string   // the type of the default channel
	bundles [][]reference
}

// semverFile is a semver template as it is written.
type semverFile struct {
	Schema                       string        `json:"schema"`
	GenerateMajorChannels        bool          `json:"generateMajorChannels"`
	GenerateMinorChannels        bool          `json:"generateMinorChannels"`
	DefaultChannelTypePreference string        `json:"defaultChannelTypePreference"`
	Candidate                    semverBundles `json:"candidate"`
	Fast                         semverBundles `json:"fast"`
	Stable                       semverBundles `json:"stable"`
}

type semverBundles struct {
	Bundles []*doc.Value `json:"bundles"`
}

func (p *parser) semver(tree *doc.Value) expander {
	var t semverFile
	p.decode(tree, "", &t, doc.Strict)
	s := &semver{prefer: t.DefaultChannelTypePreference}
	if t.GenerateMajorChannels {
		s.types = append(s.types, major)
	}
	if t.GenerateMinorChannels || !t.GenerateMajorChannels {
		s.types = append(s.types, minor)
	}
	pref := at(tree, "defaultChannelTypePreference")
	switch {
	case s.prefer == "":
		s.prefer = s.types[len(s.types)-1]
	case s.prefer != major && s.prefer != minor:
		p.fault(CodeField, pref, fmt.Sprintf("defaultChannelTypePreference is %q, but channels are of type major or minor", s.prefer), "write major or minor")
	case !slices.Contains(s.types, s.prefer):
		p.fault(CodeField, pref, fmt.Sprintf("defaultChannelTypePreference is %s, but no %s channels are generated", s.prefer, s.prefer),
			"set generate"+strings.ToUpper(s.prefer[:1])+s.prefer[1:]+"Channels: true")
	}
	count := 0
	for i, list := range []semverBundles{t.Candidate, t.Fast, t.Stable} {
		refs := p.semverBundles(archetypes[i], list.Bundles)
		s.bundles = append(s.bundles, refs)
		count += len(list.Bundles)
	}
	if count == 0 {
		p.fault(CodeField, tree, "the template lists no bundles", "list them below candidate, fast or stable, as bundles: with image: for each")
	}
	return s
}

func (p *parser) semverBundles(archetype string, list []*doc.Value) []reference {
	var refs []reference
	for i, v := range list {
		path := fmt.Sprintf("%s.bundles[%d]", archetype, i)
		var b struct {
			Image *doc.Value `json:"image"`
		}
		faults := len(p.found)
		p.decode(v, path, &b, doc.Strict)
		ref, ok := b.Image.Text()
		switch {
		case len(p.found) > faults:
		case !ok || ref == "":
			p.fault(CodeField, v, path+" names no image", "write image: with the reference of the bundle's image")
		case slices.ContainsFunc(refs, func(r reference) bool { return r.ref == ref }):
			p.fault(CodeField, b.Image, fmt.Sprintf("%s lists %q a second time", path, ref), "delete the entry")
		default:
			refs = append(refs, reference{ref, b.Image})
		}
	}
	return refs
}

func (s *semver) references() []reference { return slices.Concat(s.bundles...) }

// expand makes package, channels and bundles.
func (s *semver) expand(x *expansion) []json.RawMessage {
	all := s.collect(x)
	if len(x.found) > 0 {
		return nil
	}
	var channels []*channel
	var docs []json.RawMessage
	pkg := ""
	done := map[string]bool{}
	for i, archetype := range archetypes {
		for _, typ := range s.types {
			channels = append(channels, makeChannels(archetype, typ, all[i])...)
		}
		for _, b := range all[i] {
			if pkg = b.packages[0].PackageName; !done[b.name] {
				done[b.name] = true
				docs = append(docs, b.json)
			}
		}
	}
	for _, ch := range channels {
		docs = append(docs, ch.document(pkg))
	}
	return append(docs, s.packageDocument(x, pkg, channels))
}

// collect returns the bundles of each archetype by version, and reports those
// that conflict.
func (s *semver) collect(x *expansion) [][]*rendered {
	all := make([][]*rendered, len(s.bundles))
	var first *rendered
	byName := map[string]string{} // references
	for i, refs := range s.bundles {
		for _, r := range refs {
			bundles := x.bundles[r.ref]
			if len(bundles) != 1 {
				x.fault(CodeBundle, r.at, fmt.Sprintf("%q renders to %d bundles, but must render to one", r.ref, len(bundles)), "name the image of one bundle")
				continue
			}
			b := bundles[0]
			if fault, hint := b.versions(); fault != "" {
				x.fault(CodeVersion, r.at, fault, hint)
				continue
			}
			if first == nil {
				first = b
			}
			if own := b.packages[0].PackageName; own != first.packages[0].PackageName {
				x.fault(CodeBundle, r.at, fmt.Sprintf("bundle %q is in package %q, and bundle %q in package %q: a template is for one package", b.name, own, first.name, first.packages[0].PackageName),
					"keep the bundles of one of them")
			}
			if ref, ok := byName[b.name]; ok && ref != r.ref {
				x.fault(CodeBundle, r.at, fmt.Sprintf("%q and %q both render to bundle %q", ref, r.ref, b.name), "keep one of them")
				continue
			}
			byName[b.name] = r.ref
			all[i] = s.insert(x, all[i], b, r)
		}
	}
	return all
}

// insert adds a bundle to a list that is sorted by version.
func (s *semver) insert(x *expansion, list []*rendered, b *rendered, r reference) []*rendered {
	at, same := slices.BinarySearchFunc(list, b, func(a, b *rendered) int { return a.version.Compare(b.version) })
	if same {
		x.fault(CodeVersion, r.at, fmt.Sprintf("bundles %q and %q have versions %s and %s, which have no order: build metadata does not count", list[at].name, b.name, list[at].versionText, b.versionText),
			"give them versions that differ before the +")
		return list
	}
	return slices.Insert(list, at, b)
}

// packageDocument makes the olm.package document.
func (s *semver) packageDocument(x *expansion, pkg string, channels []*channel) json.RawMessage {
	def := defaultChannel(channels, s.prefer)
	head := def.bundles[len(def.bundles)-1]
	picture, fault := head.icon()
	if fault != "" {
		x.warnings = append(x.warnings, &catalog.Diagnostic{
			Pos: x.src.Start, Code: CodeBundle, Message: fmt.Sprintf("the package gets no icon: that of bundle %q cannot be read: %s", head.name, fault), Hint: "fix the icon of the bundle",
		})
	}
	return marshal(struct {
		Schema         string `json:"schema"`
		Name           string `json:"name"`
		DefaultChannel string `json:"defaultChannel"`
		Icon           *icon  `json:"icon,omitempty"`
		Description    string `json:"description,omitempty"`
	}{catalog.SchemaPackage, pkg, def.name, picture, head.description()})
}

// marshal returns v as compact JSON.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("template: marshal " + err.Error()) // the types of this package always marshal
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
