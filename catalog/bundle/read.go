package bundle

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// Options say how a bundle directory is read. The zero value is what catalog
// tools do.
type Options struct {
	// EveryDocument takes every document of a manifest file, as OLM v1's
	// operator-controller does. Without it only the first counts, as for
	// catalog tools, and the others are reported as lost.
	EveryDocument bool
	// Lenient reads bundles that are published and cannot be changed any more:
	// if a key is in an object twice, the last one counts, as for the tools that
	// accepted such bundles. Duplicates are reported as advice, not as faults.
	Lenient bool
	// MaxFiles is how many files and directories manifests and metadata may
	// hold together. Default 10,000.
	MaxFiles int
	// MaxBytes is how large their files may be together. Default 64 MiB.
	MaxBytes int64
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxFiles <= 0 {
		out.MaxFiles = 10_000
	}
	if out.MaxBytes <= 0 {
		out.MaxBytes = 64 << 20
	}
	return out
}

// reader is the state of one Read.
type reader struct {
	ctx      context.Context
	fsys     fs.FS
	options  Options
	docs     *doc.Reader
	b        *Bundle
	found    *findings
	files    int
	bytes    int64
	maxBytes int64
	taken    map[role]string // the file for each role in metadata
}

// fileInfo is what rules need to know about a file besides its content.
type fileInfo struct {
	name   string
	dir    bool
	data   []byte
	truths []doc.Truth
	chart  bool // it looks like the description of a Helm chart
}

// Read reads the bundle directory at the root of fsys: its directories
// manifests and metadata.
//
//  1. Files are taken in the order of their names. Directories within are not
//     entered; files of manifests whose names start with a dot are skipped.
//  2. In a manifest file the first document counts (see
//     [Options.EveryDocument]); of several ClusterServiceVersions, the first.
//  3. Files of metadata may have any name. The first that holds annotations,
//     the first that holds dependencies and the first that holds properties
//     count, and one file may hold all three.
//
// Content that is wrong, missing or skipped is not an error: the bundle holds
// what could be read, and [Bundle.Validate] reports the rest. Read returns an
// error, a *[catalog.Diagnostic], when a directory cannot be listed or a limit
// of opts is exceeded; when ctx ends, it returns its cause.
func Read(ctx context.Context, fsys fs.FS, opts *Options) (*Bundle, error) {
	if fsys == nil {
		return nil, errors.New("bundle: the file system is nil; pass the one whose root is the bundle directory")
	}
	o := opts.withDefaults()
	b := &Bundle{}
	r := &reader{ctx: ctx, fsys: fsys, options: o, b: b, found: &b.found, maxBytes: o.MaxBytes, taken: map[role]string{}}
	r.docs = doc.NewReader(strings.NewReader(""), "", doc.Limits{})
	r.docs.YAML11()
	if o.Lenient {
		r.docs.Lenient()
	}
	if err := r.dir("manifests", r.manifest); err != nil {
		return nil, err
	}
	if err := r.dir("metadata", r.metadata); err != nil {
		return nil, err
	}
	r.complete()
	return b, nil
}

// dir calls read for every file of a directory, in the order of their names.
func (r *reader) dir(name string, read func(*file)) error {
	entries, err := fs.ReadDir(r.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		r.absent(name)
		return nil
	}
	if err != nil {
		return &catalog.Diagnostic{
			Pos: catalog.Position{File: name}, Code: catalog.CodeRead, Err: err,
			Message: "the directory cannot be listed: " + reason(err),
			Hint:    "a bundle has the directories manifests and metadata",
		}
	}
	if r.files += len(entries); r.files > r.options.MaxFiles {
		return r.limit(name, "number of files", int64(r.options.MaxFiles))
	}
	for _, e := range entries {
		at := catalog.Position{File: path.Join(name, e.Name())}
		if e.IsDir() {
			r.b.files = append(r.b.files, fileInfo{name: at.File, dir: true})
			r.found.advice(CodeIgnoredFile, at, "", "directories in "+name+" are ignored by catalog tools and rejected by OLM v1",
				"move its files one level up")
			continue
		}
		if name == "manifests" && strings.HasPrefix(e.Name(), ".") {
			r.found.advice(CodeIgnoredFile, at, "", "files whose names start with a dot are ignored", "rename or delete the file")
			continue
		}
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		f, err := r.parse(at.File, e)
		if err != nil {
			return err
		}
		read(f)
	}
	return nil
}

func (r *reader) absent(name string) {
	code := CodeNoManifests
	if name == "metadata" {
		code = CodeNoMetadata
	}
	r.found.fault(code, catalog.Position{File: name}, "", "there is no directory "+name,
		"a bundle has the directories manifests and metadata").stops = true
}

// complete reports what is missing once everything is read. What may be in a
// file that could not be read is not reported.
func (r *reader) complete() {
	broken := func(dir string) bool {
		return slices.ContainsFunc(*r.found, func(f finding) bool {
			return !f.lint && (f.Pos.File == dir || strings.HasPrefix(f.Pos.File, dir+"/") && f.unread)
		})
	}
	root := catalog.Position{File: "manifests"}
	switch {
	case broken("manifests"):
	case len(r.b.Manifests) == 0:
		r.found.fault(CodeNoManifests, root, "", "no file in it holds an object that can be read",
			"a bundle has a ClusterServiceVersion and the CustomResourceDefinitions it owns").stops = true
	case r.b.CSV == nil:
		r.found.fault(CodeNoCSV, root, "", "no object in it is a ClusterServiceVersion", r.kindHint()).stops = true
	}
	if r.b.Annotations.src == nil && !broken("metadata") {
		r.found.fault(CodeNoAnnotations, catalog.Position{File: "metadata"}, r.b.subject(),
			"no file in it holds the annotations of the bundle",
			"write metadata/annotations.yaml with annotations: and "+AnnotationPackage+" below it").stops = true
	}
	for i := range *r.found {
		// Without a CSV or annotations there is nothing to render.
		f := &(*r.found)[i]
		f.stops = f.stops || f.unread && (r.b.CSV == nil || r.b.Annotations.src == nil)
	}
}

// kindHint names an object that was probably meant to be the CSV.
func (r *reader) kindHint() string {
	for _, m := range r.b.Manifests {
		if strings.EqualFold(m.Kind, kindCSV) || strings.HasPrefix(m.APIVersion, "operators.coreos.com/") {
			return m.Position.String() + " has kind " + quote(m.Kind) + "; kinds are case-sensitive"
		}
	}
	return "add the manifest whose kind is " + kindCSV
}
