package catalog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// Format is how a catalog is written.
type Format uint8

// The formats.
const (
	FormatJSON  Format = iota // JSON objects, each as it is in its file
	FormatYAML                // YAML documents separated by "---" lines
	FormatLines               // JSON objects, each on one line, as a catalog service sends them
)

// String returns json, yaml or jsonl.
func (f Format) String() string {
	switch f {
	case FormatYAML:
		return "yaml"
	case FormatLines:
		return "jsonl"
	}
	return "json"
}

// Ordered returns the documents in the order in which catalogs are written: packages
// by name, and of each the olm.package document, channels by name, bundles by name,
// documents of other schemas by schema, and deprecations; then documents of packages
// that do not exist, and of none. Documents that rank equal stay in the order of the
// files.
func (c *Catalog) Ordered() iter.Seq[*Document] {
	var all []*Document
	for d := range c.Documents() {
		all = append(all, d)
	}
	slices.SortStableFunc(all, c.writeOrder)
	return slices.Values(all)
}

func (c *Catalog) writeOrder(a, b *Document) int {
	return cmp.Or(cmp.Compare(c.packageRank(a), c.packageRank(b)), cmp.Compare(a.Package(), b.Package()),
		cmp.Compare(schemaRank(a.schema), schemaRank(b.schema)), cmp.Compare(a.schema, b.schema), cmp.Compare(a.name, b.name))
}

// packageRank separates documents of packages, of packages that do not exist, and of
// none.
func (c *Catalog) packageRank(d *Document) int {
	if _, known := c.byName[d.Package()]; known {
		return 0
	}
	if d.Package() != "" {
		return 1
	}
	return 2
}

func schemaRank(schema string) int {
	switch schema {
	case SchemaPackage:
		return 0
	case SchemaChannel:
		return 1
	case SchemaBundle:
		return 2
	case SchemaDeprecations:
		return 4
	}
	return 3
}

// Write writes the whole catalog to w, in the order of [Catalog.Ordered].
//
// No content is lost: unknown fields and schemas are written, keys keep their order
// and numbers their digits. A document that is already in the format is written byte
// for byte, in YAML with its comments; in JSON lines, white space between tokens is
// left out. (Only a number too large for a float64, such as 1e400, is not a number
// in YAML.) One document at a time is in memory.
func (c *Catalog) Write(w io.Writer, format Format) error {
	out := bufio.NewWriter(w)
	for d := range c.Ordered() {
		if err := writeDocument(out, d, format); err != nil {
			return fmt.Errorf("catalog: writing %s of %s: %w", d.Subject(), d.start, err)
		}
	}
	return out.Flush()
}

// WriteTree writes the catalog as files, as authors keep it: PACKAGE/catalog with
// the format's extension for each package, and catalog with it for the rest, if
// there is any. create opens a file, whose path is slash-separated, for writing; its
// directories may not exist yet.
func (c *Catalog) WriteTree(format Format, create func(path string) (io.WriteCloser, error)) error {
	byFile := map[string][]*Document{}
	var files []string
	for d := range c.Ordered() {
		file := "catalog." + format.String()
		if _, known := c.byName[d.Package()]; known {
			if file = d.Package() + "/" + file; !fs.ValidPath(file) || strings.Count(file, "/") != 1 || strings.Contains(file, `\`) {
				return fmt.Errorf("catalog: %s of %s: the package name %q cannot be a directory name; rename the package", d.Subject(), d.start, d.Package())
			}
		}
		if byFile[file] == nil {
			files = append(files, file)
		}
		byFile[file] = append(byFile[file], d)
	}
	for _, file := range files {
		if err := writeFile(file, byFile[file], format, create); err != nil {
			return fmt.Errorf("catalog: writing %s: %w", file, err)
		}
	}
	return nil
}

func writeFile(path string, documents []*Document, format Format, create func(path string) (io.WriteCloser, error)) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for _, d := range documents {
		if err = writeDocument(out, d, format); err != nil {
			break
		}
	}
	return cmp.Or(err, out.Flush(), f.Close())
}

func writeDocument(w *bufio.Writer, d *Document, format Format) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	text := raw
	if d.IsYAML() && format != FormatYAML || d.repeats {
		if text, err = d.JSON(); err != nil {
			return err
		}
	}
	switch {
	case format == FormatLines:
		var line bytes.Buffer
		err = json.Compact(&line, text)
		text = line.Bytes()
	case format == FormatYAML && (!d.IsYAML() || d.repeats):
		text, err = YAML(text)
	case format == FormatYAML && !bytes.HasSuffix(raw, []byte("\n")) && bytes.ContainsAny(raw, "|>"):
		// A block at the end of a file without a final newline: one more byte
		// would be one more character of its text.
		if text, err = d.JSON(); err == nil {
			text, err = YAML(text)
		}
	case format == FormatJSON && d.IsYAML():
		var indented bytes.Buffer
		err = json.Indent(&indented, text, "", "  ")
		text = indented.Bytes()
	}
	if err != nil {
		return err
	}
	if format == FormatYAML {
		w.WriteString("---\n")
		text = bytes.TrimLeft(text, "\r\n")
	}
	w.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		w.WriteByte('\n')
	}
	return nil
}

// YAML returns a JSON object as an equivalent YAML document: keys in their order,
// numbers with their digits, long strings as blocks. Strings that a YAML reader of
// any version could take for something else are quoted.
func YAML(object []byte) ([]byte, error) {
	o, err := doc.Parse(object, doc.Limits{Size: len(object) + 1})
	if err != nil {
		return nil, Diagnose(err)
	}
	var y yamlPrinter
	y.value(doc.Tree(o.JSON), 0, false)
	return y.out, nil
}
