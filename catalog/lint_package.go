package catalog

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// pkg lints a package, its channels, and what of its bundles the index knows.
func (l *linter) pkg(p *Package) error {
	if l.on[LintIcon] {
		if err := l.icon(p); err != nil {
			return err
		}
	}
	if l.on[LintDeprecatedDefault] {
		if err := l.deprecatedDefault(p); err != nil {
			return err
		}
	}
	l.sameVersion(p)
	for _, ch := range p.channels {
		l.name(ch.Document(), ch.Name(), "channel")
		l.channel(ch)
	}
	for _, b := range p.bundles {
		l.name(b.Document(), b.Name(), "bundle")
		l.bundle(b)
	}
	return nil
}

func (l *linter) name(d *Document, name, what string) {
	if strings.ContainsAny(name, " \t\r\n/\\%?#") {
		l.add(LintName, d, at("name"), "the name of the "+what+" has white space, a slash or another character that needs escapes in paths and URLs",
			"use letters, digits, dots and dashes")
	}
}

// icon checks that an icon is an image of the type that it says.
func (l *linter) icon(p *Package) error {
	info, err := p.Info()
	if err != nil {
		return err
	}
	icon := info.Icon
	if len(icon.Data) == 0 && icon.MediaType == "" {
		return nil
	}
	got := imageType(icon.Data)
	switch {
	case len(icon.Data) == 0:
		l.add(LintIcon, p.Document(), at("icon"), "the icon has no data", "add base64data, or remove the icon")
	case got == "":
		l.add(LintIcon, p.Document(), at("icon", "base64data"), "the icon is no SVG, PNG, JPEG, GIF or WebP image", "use one of those")
	case icon.MediaType != got:
		l.add(LintIcon, p.Document(), at("icon", "mediatype"), fmt.Sprintf("the icon is %s but the media type says %q", got, icon.MediaType), "write "+got)
	}
	return nil
}

// imageType returns the media type of an image by its first bytes.
func imageType(data []byte) string {
	for _, m := range []struct{ magic, mediaType string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.mediaType
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := t.(xml.StartElement); ok {
			if start.Name.Local == "svg" {
				return "image/svg+xml"
			}
			return ""
		}
	}
}

func (l *linter) deprecatedDefault(p *Package) error {
	deprecations, err := p.Deprecations()
	if err != nil {
		return err
	}
	ch, ok := p.Channel(p.DefaultChannel())
	for _, d := range deprecations {
		switch {
		case d.Reference == (Reference{SchemaChannel, p.DefaultChannel()}):
			l.add(LintDeprecatedDefault, p.Document(), at("defaultChannel"), "the default channel "+strconv.Quote(p.DefaultChannel())+" is deprecated",
				"make another channel the default: who names none gets this one, and no warning")
		case ok && d.Reference.Schema == SchemaBundle && slices.Contains(ch.Heads(), d.Reference.Name):
			l.add(LintDeprecatedDefault, ch.Document(), nil, "its head "+strconv.Quote(d.Reference.Name)+" is deprecated, and it is the default channel",
				"add a newer bundle, or make another channel the default")
		}
	}
	return nil
}

// sameVersion reports versions that differ in build metadata only.
func (l *linter) sameVersion(p *Package) {
	first := map[string]*Bundle{}
	for _, b := range p.bundles {
		v, err := semverx.Parse(b.Version())
		if err != nil || b.release() != "" {
			continue
		}
		plain, _, _ := strings.Cut(v.String(), "+")
		switch other := first[plain]; {
		case other == nil:
			first[plain] = b
		case other.Version() != b.Version():
			l.add(LintSameVersion, b.Document(), nil, fmt.Sprintf("its version %s and %s of %q differ in build metadata only, which nothing orders", b.Version(), other.Version(), other.Name()),
				"tell them apart by the patch number, a pre-release or a release")
		}
	}
}

// release returns the release of the bundle's olm.package property.
func (b *Bundle) release() string {
	for _, r := range b.record.properties {
		var v packageValue
		if r.Type == PropertyPackage && r.Value != nil && fits(r.Value, &v) {
			return v.Release
		}
	}
	return ""
}

// imageReuse reports images that several bundles have.
func (l *linter) imageReuse() {
	first := map[string]*Bundle{}
	for _, p := range l.c.packages {
		for _, b := range p.bundles {
			switch other := first[b.Image()]; {
			case b.Image() == "":
			case other == nil:
				first[b.Image()] = b
			default:
				l.add(LintImageReuse, b.Document(), at("image"), fmt.Sprintf("%s has the same image, at %s", other.Document().subject(), other.Document().Pos()),
					"give each bundle the image that holds it")
			}
		}
	}
}
