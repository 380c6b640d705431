package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/semverx"
)

// pkg lints a package, its channels, and what the index holds about its
// bundles.
func (l *linter) pkg(ctx context.Context, p *catalog.Package) error {
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
	for ch := range p.Channels() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.name(ch.Document(), ch.Name(), "channel")
		if err := l.channel(ctx, ch); err != nil {
			return err
		}
	}
	for b := range p.Bundles() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.name(b.Document(), b.Name(), "bundle")
		l.bundle(b)
	}
	return nil
}

func (l *linter) name(d *catalog.Document, name, what string) {
	if strings.ContainsAny(name, " \t\r\n/\\%?#") {
		l.add(LintName, d, at("name"), "the name of the "+what+" has white space, a slash or another character that must be escaped in paths and URLs",
			"use letters, digits, dots and dashes")
	}
}

// icon checks that an icon is an image of the type that it states.
func (l *linter) icon(p *catalog.Package) error {
	info, err := p.Info()
	if err != nil {
		return err
	}
	icon := info.Icon
	if icon.Data == "" && icon.MediaType == "" {
		return nil
	}
	data, err := icon.Bytes()
	if err != nil {
		return err // the index has checked it: the file has changed
	}
	got := shape.ImageType(data)
	switch {
	case icon.Data == "":
		l.add(LintIcon, p.Document(), at("icon"), "the icon has no data", "add base64data, or remove the icon")
	case got == "":
		l.add(LintIcon, p.Document(), at("icon", "base64data"), "the icon is not an SVG, PNG, JPEG, GIF or WebP image", "use one of those")
	case icon.MediaType != got:
		l.add(LintIcon, p.Document(), at("icon", "mediatype"), fmt.Sprintf("the icon is %s but the media type says %q", got, icon.MediaType), "write "+got)
	}
	return nil
}

func (l *linter) deprecatedDefault(p *catalog.Package) error {
	deprecations, err := p.Deprecations()
	if err != nil {
		return err
	}
	ch, ok := p.Channel(p.DefaultChannel())
	for _, d := range deprecations {
		switch {
		case d.Reference == (catalog.Reference{Schema: catalog.SchemaChannel, Name: p.DefaultChannel()}):
			l.add(LintDeprecatedDefault, p.Document(), at("defaultChannel"), "the default channel "+strconv.Quote(p.DefaultChannel())+" is deprecated",
				"make another channel the default: users who name none get this one, without a warning")
		case ok && d.Reference.Schema == catalog.SchemaBundle && slices.Contains(ch.Heads(), d.Reference.Name):
			l.add(LintDeprecatedDefault, ch.Document(), nil, "its head "+strconv.Quote(d.Reference.Name)+" is deprecated, and it is the default channel",
				"add a newer bundle, or make another channel the default")
		}
	}
	return nil
}

// sameVersion reports versions that differ only in build metadata.
func (l *linter) sameVersion(p *catalog.Package) {
	first := map[string]*catalog.Bundle{}
	for b := range p.Bundles() {
		v, err := semverx.Parse(b.Version())
		if err != nil || release(b) != "" {
			continue
		}
		plain, _, _ := strings.Cut(v.String(), "+")
		switch other := first[plain]; {
		case other == nil:
			first[plain] = b
		case other.Version() != b.Version():
			l.add(LintSameVersion, b.Document(), nil, fmt.Sprintf("its version %s and %s of %q differ only in build metadata, which has no order", b.Version(), other.Version(), other.Name()),
				"use different patch numbers, pre-releases or releases")
		}
	}
}

// release returns the release of the bundle's olm.package property.
func release(b *catalog.Bundle) string {
	for _, r := range b.Document().PropertyIndex() {
		var v packageValue
		if r.Type == catalog.PropertyPackage && r.Value != nil && fits(r.Value, &v) {
			return v.Release
		}
	}
	return ""
}

// imageReuse reports images that several bundles have.
func (l *linter) imageReuse() {
	first := map[string]*catalog.Bundle{}
	for p := range l.c.Packages() {
		for b := range p.Bundles() {
			switch other := first[b.Image()]; {
			case b.Image() == "":
			case other == nil:
				first[b.Image()] = b
			default:
				l.addBeside(LintImageReuse, b.Document(), at("image"), other.Document().Subject()+" has the same image", other.Document().Pos(),
					"give each bundle its own image")
			}
		}
	}
}
