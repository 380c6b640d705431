package payload

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Release is the content of release-metadata.
type Release struct {
	Version      string   `json:"version"`                // a semantic version
	Previous     []string `json:"previous,omitempty"`     // versions that may be updated to this one, as listed
	Next         []string `json:"next,omitempty"`         // versions that this one may be updated to, as listed
	URL          string   `json:"url,omitempty"`          // where the release is described
	Channels     []string `json:"channels,omitempty"`     // of the update service, sorted
	Architecture string   `json:"architecture,omitempty"` // "Multi", or empty for that of the machine
}

// Image is one entry of image-references.
type Image struct {
	Tag  string `json:"tag"`  // the name of the image in the release
	Pull string `json:"pull"` // where it is pulled from
}

// The names of release-metadata and its keys.
const (
	metadataKind = "cincinnati-metadata-v0"
	metaURL      = "url"
	metaArch     = "release.openshift.io/architecture"
	metaChannels = "io.openshift.upgrades.graph.release.channels"
)

// metadata reads release-metadata. Errors in it are noted.
func (l *loader) metadata(file string, text []byte) (r Release) {
	if _, err := doc.Parse(text, l.limits); err != nil {
		d := diagnose(err, file)
		d.Hint = cmp.Or(d.Hint, "release-metadata is one JSON object")
		l.note(d)
		return r
	}
	root := doc.Tree(text)
	at := func(path ...any) Position { return positionIn(file, text, root.At(path...)) }
	var m struct {
		Kind     string            `json:"kind"`
		Version  string            `json:"version"`
		Previous []string          `json:"previous"`
		Next     []string          `json:"next"`
		Metadata map[string]string `json:"metadata"`
	}
	for _, f := range doc.Decode(root, &m, 0) {
		l.note(&Diagnostic{Pos: positionIn(file, text, f.Value), Code: CodeMetadata, Message: f.Error(), Hint: f.Hint()})
	}
	if root.Kind != '{' {
		return r
	}
	if m.Kind != metadataKind {
		l.note(&Diagnostic{
			Pos: at("kind"), Code: CodeMetadata, Message: fmt.Sprintf("kind is %s, not %q", quote(m.Kind), metadataKind),
			Hint: "this file must be the release-metadata of a release image",
		})
	}
	if m.Version == "" {
		l.note(&Diagnostic{Pos: at(), Code: CodeMetadata, Message: "it lacks the version", Hint: `write "version": "4.20.1", or whichever it is`})
	} else if _, err := semverx.Parse(m.Version); err != nil {
		l.note(&Diagnostic{Pos: at("version"), Code: CodeMetadata, Message: err.Error(), Err: err})
	}
	r = Release{Version: m.Version, Previous: m.Previous, Next: m.Next, URL: m.Metadata[metaURL]}
	warn := func(key, message string) {
		l.warn(&Diagnostic{Pos: at("metadata", key), Code: CodeMetadata, Message: message})
	}
	if _, err := url.Parse(r.URL); err != nil {
		warn(metaURL, "the url is left out: "+err.Error())
		r.URL = ""
	}
	switch arch := m.Metadata[metaArch]; arch {
	case "":
	case "multi":
		r.Architecture = "Multi"
	default:
		warn(metaArch, "the architecture "+quote(arch)+" is left out: only multi is known")
	}
	if list := m.Metadata[metaChannels]; list != "" {
		for c := range strings.SplitSeq(list, ",") {
			if c == "" {
				warn(metaChannels, "an empty channel is left out of "+quote(list))
				continue
			}
			r.Channels = append(r.Channels, c)
		}
		slices.Sort(r.Channels)
	}
	return r
}

// references reads image-references, and compares its version with that of the
// metadata.
func (l *loader) references(file string, text []byte, version string) []Image {
	reader := doc.NewReader(strings.NewReader(string(text)), file, l.limits)
	reader.YAML11()
	d, err := reader.Next()
	if err == io.EOF {
		l.note(&Diagnostic{Pos: Position{File: file}, Code: CodeReferences, Message: "the file is empty", Hint: "it must hold the ImageStream of the release"})
		return nil
	}
	if err != nil {
		l.note(diagnose(err, file))
		return nil
	}
	root := doc.Tree(d.JSON)
	note := func(v *doc.Value, code Code, message, hint string) {
		l.note(&Diagnostic{Pos: d.Position(v.Offset), Code: code, Message: message, Hint: hint})
	}
	var stream struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct {
					Kind string `json:"kind"`
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	for _, f := range doc.Decode(root, &stream, 0) {
		note(f.Value, CodeReferences, f.Error(), f.Hint())
	}
	if stream.Kind != "ImageStream" || stream.APIVersion != "image.openshift.io/v1" {
		note(root.At("kind"), CodeReferences, fmt.Sprintf("it is a %s of %s, not an ImageStream of image.openshift.io/v1", quote(stream.Kind), quote(stream.APIVersion)), "this file must be the image-references of a release image")
		return nil
	}
	if version != "" && stream.Metadata.Name != version { // a missing one was already noted
		note(root.At("metadata", "name"), CodeMixed, fmt.Sprintf("version from image-references (%s) differs from release-metadata (%s)", stream.Metadata.Name, version),
			"the two files must come from one release image")
	}
	var images []Image
	for _, t := range stream.Spec.Tags {
		if t.From.Kind == "DockerImage" {
			images = append(images, Image{Tag: t.Name, Pull: t.From.Name})
		}
	}
	return images
}

// positionIn returns the position of a value in a JSON text.
func positionIn(file string, text []byte, v *doc.Value) Position {
	before := text[:v.Offset]
	line := strings.LastIndexByte(string(before), '\n')
	return Position{File: file, Line: strings.Count(string(before), "\n") + 1, Column: len([]rune(string(before[line+1:]))) + 1}
}
