package fbc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/catalog/template"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

func render(c *call) error {
	image := c.Flags.String("image", "", "")
	metadata := c.Flags.Bool("csv-metadata", false, "")
	c.lenient = c.Flags.Bool("lenient", false, "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	d, err := c.renderBundle(c.Arg(0), &bundle.RenderOptions{Image: *image, CSVMetadata: *metadata})
	if err != nil {
		return c.reported(err)
	}
	return d.WriteJSON(c.Stdout)
}

// renderBundle renders a bundle and prints what is missing in the result.
func (c *call) renderBundle(dir string, opts *bundle.RenderOptions) (*bundle.Document, error) {
	b, err := c.bundle(dir, &bundle.Options{Lenient: c.lenient != nil && *c.lenient})
	if err != nil {
		return nil, err
	}
	d, err := b.Render(opts)
	if err != nil {
		return nil, err
	}
	if c.lenient != nil && *c.lenient {
		for _, d := range b.Lint(nil) {
			if d.Code == catalog.CodeDuplicateKey {
				words.Fprintf(c.Stderr, "warning: %s\n", d)
			}
		}
	}
	for _, lost := range b.Unread() {
		words.Fprintf(c.Stderr, "warning: %s\n", lost)
	}
	return d, nil
}

// reported prints an error that is a list of findings.
func (c *call) reported(err error) error {
	var findings catalog.Diagnostics
	if !errors.As(err, &findings) {
		return err
	}
	for _, d := range findings {
		words.Fprintf(c.Stderr, "%v\n", d)
	}
	return args.ErrFindings
}

func expand(c *call) error {
	image := c.Flags.String("image", "", "")
	metadata := c.Flags.Bool("csv-metadata", false, "")
	c.lenient = c.Flags.Bool("lenient", false, "")
	bundles := c.Words("bundle")
	known := c.Flags.String("catalog", "", "")
	format := c.Choice("o", "json", "yaml")
	if err := c.Parse(1, 2); err != nil {
		return err
	}
	kind, file := "", c.Arg(0)
	if c.Arg(1) != "" {
		kind, file = file, c.Arg(1)
		if !slices.Contains(template.Types(), kind) {
			return &args.UsageError{Text: fmt.Sprintf("unknown template type %q; choose one of %s", kind, strings.Join(template.Types(), ", "))}
		}
	}
	data, err := readRegular(file)
	if err != nil {
		return err
	}
	t, err := template.Parse(data, &template.Options{File: filepath.Base(file), Type: kind})
	if err != nil {
		return c.reported(err)
	}
	dirs := map[string]string{}
	for _, b := range *bundles {
		ref, dir, ok := strings.Cut(b, "=")
		if !ok {
			return &args.UsageError{Text: fmt.Sprintf("-bundle %s: write REFERENCE=BUNDLE", b)}
		}
		dirs[ref] = dir
	}
	renderer := template.Renderer(func(_ context.Context, ref string) ([]template.Bundle, error) {
		opts := &bundle.RenderOptions{Image: ref, CSVMetadata: *metadata}
		dir, ok := dirs[ref]
		if !ok { // the reference is a directory, seen from the template
			dir, opts.Image = filepath.Join(filepath.Dir(file), filepath.FromSlash(ref)), *image
		}
		d, err := c.renderBundle(dir, opts)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(d)
		return []template.Bundle{{JSON: text, CSV: d.CSV}}, err
	})
	if *known != "" {
		cat, err := c.open(*known)
		if err != nil {
			return err
		}
		renderer = template.FromBundles(cat, renderer)
	}
	result, err := t.Render(c.Context, renderer)
	if err != nil {
		return c.reported(err)
	}
	for _, w := range result.Warnings {
		words.Fprintf(c.Stderr, "%v\n", w)
	}
	if *format == "yaml" {
		return result.WriteYAML(c.Stdout)
	}
	return result.WriteJSON(c.Stdout)
}

// untemplate converts a catalog to a template.
func untemplate(c *call) error {
	format := c.Choice("o", "json", "yaml")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	cat, err := c.open(c.Arg(0))
	if err != nil {
		return err
	}
	text, err := template.FromCatalog(cat)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if *format == "yaml" {
		text, err = catalog.YAML(text)
		out.Write(text)
	} else {
		err = json.Indent(&out, text, "", "    ")
		out.WriteByte('\n')
	}
	if err == nil {
		_, err = c.Stdout.Write(out.Bytes())
	}
	return err
}
