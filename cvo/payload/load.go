package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// The directories of a payload, in the order in which they are applied, and the
// two files that identify the release.
const (
	DirOwn     = "manifests"         // of the cluster version operator itself; its files are templates
	DirRelease = "release-manifests" // of everything else
	FileMeta   = "release-metadata"  // in DirRelease
	FileImages = "image-references"  // in DirRelease
)

// Options say how a payload is read. The zero value is useful.
type Options struct {
	// ReleaseImage is what {{.ReleaseImage}} stands for in the operator's own
	// manifests.
	ReleaseImage string
	// Profile is what {{.ClusterProfile}} stands for. Empty means
	// [DefaultProfile].
	Profile string
	// MaxDocument is the size of the largest document in bytes. Zero means
	// 16 MiB.
	MaxDocument int
	// MaxManifests is how many manifests a payload may have. Zero means 200,000.
	MaxManifests int
}

// DefaultProfile is the default cluster profile.
const DefaultProfile = "self-managed-high-availability"

// LimitManifests is what Options.MaxManifests limits, as LimitError.What.
const LimitManifests = "number of manifests"

// Payload is what a release image holds.
type Payload struct {
	Release   Release     `json:"release"`             // which release it is
	Images    []Image     `json:"images,omitempty"`    // the images of the release, in the order of image-references
	Manifests []*Manifest `json:"manifests,omitempty"` // all of them, in load order: by directory, file name and document
	Warnings  Diagnostics `json:"warnings,omitempty"`  // what is odd, but no reason to refuse the payload
}

// Load reads a payload: a directory with the directories manifests and
// release-manifests, of which the latter contains release-metadata and
// image-references.
//
//  1. Manifests are the documents, JSON or YAML, of files whose names end in
//     .yaml, .yml or .json. Other files and deeper directories are left out.
//  2. Files are ordered by directory, manifests first, and then by name, byte by
//     byte.
//  3. Files of manifests are templates. One that uses an unknown value is left
//     out with a warning, because it may be from a newer release.
//  4. What oc adm release extract writes is one directory with the files of
//     release-manifests. It is read as such; the manifests of the operator itself are
//     missing then, which is a warning.
//  5. Each manifest needs a kind and a name, and no file may contain the same
//     resource twice. Empty documents do not count.
//
// The error is a [Diagnostics] with everything that is wrong in all files. What
// is merely odd is in Payload.Warnings. If there is an error, the payload has
// nothing else. Nil options mean the defaults.
func Load(fsys fs.FS, opts *Options) (*Payload, error) {
	l := newLoader(fsys, opts)
	p := new(Payload)
	dirs := []string{DirOwn, DirRelease}
	if extracted(fsys) {
		l.fsys, dirs = flat{fsys}, dirs[1:]
		l.warn(&Diagnostic{Pos: Position{File: FileMeta}, Code: CodeRead, Message: "the directory is an extracted one, without the manifests of the cluster version operator itself", Hint: "extract the whole image for those: its directories manifests and release-manifests"})
	}
	if _, err := fs.Stat(l.fsys, DirRelease); err == nil { // otherwise it is noted below
		l.release(p)
	}
	for _, dir := range dirs {
		l.directory(dir)
	}
	if err := l.found.Sorted().Err(); err != nil {
		return &Payload{Warnings: l.warnings.Sorted()}, err
	}
	p.Manifests, p.Warnings = l.manifests, l.warnings.Sorted()
	return p, nil
}

// extracted reports whether a directory is what oc adm release extract writes.
func extracted(fsys fs.FS) bool {
	_, err := fs.Stat(fsys, DirRelease)
	_, own := fs.Stat(fsys, DirOwn)
	meta, there := fs.Stat(fsys, FileMeta)
	return errors.Is(err, fs.ErrNotExist) && errors.Is(own, fs.ErrNotExist) && there == nil && !meta.IsDir()
}

// flat has the files of a directory in the directory release-manifests.
type flat struct{ fs.FS }

// Open implements fs.FS.
func (f flat) Open(name string) (fs.File, error) {
	if name == DirRelease {
		return f.FS.Open(".")
	}
	inner, ok := strings.CutPrefix(name, DirRelease+"/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.FS.Open(inner)
}

// release reads the identity of the release.
func (l *loader) release(p *Payload) {
	meta, images := DirRelease+"/"+FileMeta, DirRelease+"/"+FileImages
	if text := l.read(meta); text != nil {
		p.Release = l.metadata(meta, text)
	}
	if text := l.read(images); text != nil {
		p.Images = l.references(images, text, p.Release.Version)
	}
	l.images = make(map[string]string, len(p.Images))
	for _, i := range p.Images {
		l.images[i.Tag] = i.Pull
	}
}

// ReadManifests reads the documents of one file, by the rules of [Load]. The
// name determines the place in the order. If the error is not nil, it is a
// [Diagnostics], and the valid manifests are still returned.
func ReadManifests(file string, text []byte, opts *Options) ([]*Manifest, error) {
	l := newLoader(nil, opts)
	l.documents(file, bytes.NewReader(text), int64(len(text)))
	return l.manifests, l.found.Sorted().Err()
}

// loader reads a payload.
type loader struct {
	fsys      fs.FS
	opts      Options
	limits    doc.Limits
	reader    *doc.Reader
	images    map[string]string
	manifests []*Manifest
	found     Diagnostics
	warnings  Diagnostics
	full      bool // there are too many manifests, which was noted
}

func newLoader(fsys fs.FS, opts *Options) *loader {
	l := &loader{fsys: fsys}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Profile == "" {
		l.opts.Profile = DefaultProfile
	}
	if l.opts.MaxManifests <= 0 {
		l.opts.MaxManifests = 200_000
	}
	l.limits = doc.Limits{Size: l.opts.MaxDocument}
	l.reader = doc.NewReader(strings.NewReader(""), "", l.limits)
	l.reader.YAML11()
	l.reader.Lenient()
	return l
}

func (l *loader) note(d *Diagnostic) { l.found = append(l.found, d) }

func (l *loader) warn(d *Diagnostic) { l.warnings = append(l.warnings, d) }

// unread notes a file or directory that cannot be read.
func (l *loader) unread(name, what string, err error) {
	d := &Diagnostic{Pos: Position{File: name}, Code: CodeRead, Message: "it cannot be read: " + err.Error(), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		d.Message, d.Hint = "the "+what+" is missing", "a payload has the directories manifests and release-manifests, the latter with release-metadata and image-references"
	}
	l.note(d)
}

// read returns the content of a file, or nil if it cannot be read.
func (l *loader) read(file string) []byte {
	text, err := fs.ReadFile(l.fsys, file)
	if err != nil {
		l.unread(file, "file", err)
		return nil
	}
	return text
}

// directory reads the manifests of a directory.
func (l *loader) directory(dir string) {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		l.unread(dir, "directory", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		switch ext := path.Ext(e.Name()); ext {
		case ".yaml", ".yml", ".json":
			l.file(dir+"/"+e.Name(), dir == DirOwn)
		default:
			if lower := strings.ToLower(ext); lower == ".yaml" || lower == ".yml" || lower == ".json" {
				l.warn(&Diagnostic{
					Pos: Position{File: dir + "/" + e.Name()}, Code: LintFileName,
					Message: "the file is left out: its name ends in " + ext, Hint: "write " + lower + " if it holds manifests",
				})
			}
		}
	}
}

// file reads the manifests of a file.
func (l *loader) file(file string, template bool) {
	if template {
		text := l.read(file)
		if text == nil {
			return
		}
		text, err := l.render(file, text)
		if err != nil {
			l.warn(&Diagnostic{
				Pos: Position{File: file}, Code: LintTemplate, Err: err,
				Message: "the file is left out: " + err.Error(), Hint: "a newer version may know it",
			})
			return
		}
		l.documents(file, bytes.NewReader(text), int64(len(text)))
		return
	}
	f, err := l.fsys.Open(file)
	if err != nil {
		l.unread(file, "file", err)
		return
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	l.documents(file, f, size)
}

// documents reads the documents of a file.
func (l *loader) documents(file string, src io.Reader, size int64) {
	name, reason := parseFileName(path.Base(file))
	if reason != "" {
		l.warn(&Diagnostic{
			Pos: Position{File: file}, Code: LintFileName, Err: &NameError{path.Base(file), reason},
			Message: "the name does not follow the grammar: " + reason,
			Hint:    "name it 0000_<runlevel>_<component>_<name>.yaml; as it is, it and its neighbours wait for each other in order",
		})
	}
	l.reader.Reset(src, file, size)
	first := len(l.manifests)
	stream := true // only JSON objects so far
	for n := 0; !l.full; n++ {
		d, err := l.reader.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			l.note(diagnose(err, file))
			if l.found[len(l.found)-1].Code == CodeRead {
				return
			}
			continue
		}
		stream = stream && d.Format == doc.JSON && !d.Apart
		for _, k := range d.Repeats() {
			l.warn(&Diagnostic{
				Pos: k.Pos, Code: CodeDuplicateKey, Hint: "keep one of the two",
				Message: "the key " + quote(k.Key) + " is already in this object: the last one counts",
			})
		}
		if m := l.manifest(d); m != nil {
			m.File, m.Name, m.Document, m.asWritten = file, name, n, stream
			l.add(m, l.manifests[first:])
		}
	}
}

// add keeps a manifest, unless its file already has the resource.
func (l *loader) add(m *Manifest, before []*Manifest) {
	if len(l.manifests) == l.opts.MaxManifests {
		l.full = true
		err := &LimitError{What: LimitManifests, Max: int64(l.opts.MaxManifests)}
		l.note(&Diagnostic{Pos: m.Pos, Code: CodeLimit, Message: fmt.Sprintf("the payload has more than %d manifests", err.Max), Hint: "raise Options.MaxManifests if that is intended", Err: err})
		return
	}
	for _, o := range before {
		if o.ID == m.ID {
			l.note(&Diagnostic{
				Pos: m.Pos, Code: CodeDuplicate, Subject: m.ID.String(),
				Message: fmt.Sprintf("the file already contains this resource, at line %d", o.Pos.Line), Hint: "keep one of the two",
			})
			return
		}
	}
	l.manifests = append(l.manifests, m)
}
