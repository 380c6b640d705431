package fbc

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/rule"
)

// bundles are the commands about one bundle.
func bundles() *args.Command {
	return &args.Command{
		Name: "bundle", About: "check a bundle, or create its metadata",
		Help: bundleHelp,
		Commands: []*args.Command{
			{
				Name: "validate", Usage: "BUNDLE [-v1] [-kube-version VERSION] [-lint] [-suite NAME]... [-dockerfile FILE] [-platforms FILE] [-lenient] [-o text|json|yaml|sarif]",
				About: "check a bundle against the rules of registries and OLM v0",
				Help: `  -v1            also check the rules of OLM v1
  -kube-version  report APIs that this version of Kubernetes does not have (default:
                 minKubeVersion of the CSV)
  -lint          also give advice
  -suite NAME    also check the rules of operatorhub, community or multiarch
  -dockerfile    for community: the Dockerfile with the labels of the image
  -platforms     for multiarch: a JSON object with the platforms of images, such as
                 {"IMAGE": ["linux/amd64"]}` + lenientHelp,
				Run: with(validateBundle),
			},
			{
				Name: "generate", Usage: "DIR -package NAME -channel NAME... [-default NAME]",
				About: "write metadata/annotations.yaml and bundle.Dockerfile for the manifests in DIR/manifests",
				Help:  "  -default NAME  the default channel (default: the first one in lexical order)",
				Run:   with(generateBundle),
			},
		},
	}
}

func validateBundle(c *call) error {
	v1 := c.Flags.Bool("v1", false, "")
	kube := c.Flags.String("kube-version", "", "")
	lint := c.Flags.Bool("lint", false, "")
	lenient := c.Flags.Bool("lenient", false, "")
	format := c.Choice("o", "text", "json", "sarif")
	suites := c.suiteFlags()
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	b, err := c.bundle(c.Arg(0), &bundle.Options{Lenient: *lenient})
	if err != nil {
		return c.reported(err)
	}
	opts := &bundle.ValidateOptions{V1: *v1, KubeVersion: *kube, CompileRule: func(text string) error { _, err := rule.Compile(text, nil); return err }}
	faults := b.Validate(opts)
	var advice catalog.Diagnostics
	if *lint {
		advice = b.Lint(opts)
	}
	found, warned, err := suites.of(b)
	if err != nil {
		return err
	}
	faults, advice = append(faults, found...).Sorted(), append(advice, warned...).Sorted()
	advice = slices.DeleteFunc(advice, func(a *catalog.Diagnostic) bool { // a suite may require what is otherwise advice
		return slices.ContainsFunc(faults, func(f *catalog.Diagnostic) bool { return *a == *f })
	})
	switch *format {
	case "json":
		err = doc.WriteIndented(c.Stdout, struct {
			Valid    bool                `json:"valid"`
			Findings catalog.Diagnostics `json:"findings"`
			Warnings catalog.Diagnostics `json:"warnings,omitempty"`
		}{len(faults) == 0, append(catalog.Diagnostics{}, faults...), advice})
	case "sarif":
		err = check.WriteSARIF(c.Stdout, faults, advice)
	default:
		err = writeFindings(c.Stdout, faults, advice)
	}
	if err == nil && len(faults) > 0 {
		err = args.ErrFindings
	}
	return err
}

func writeFindings(w io.Writer, faults, advice catalog.Diagnostics) error {
	var b strings.Builder
	for _, d := range faults {
		words.Fprintf(&b, "%s [%s]\n", d.Error(), d.Code)
	}
	for _, d := range advice {
		words.Fprintf(&b, "%s [warning: %s]\n", d.Error(), d.Code)
	}
	switch n := len(faults); {
	case n > 0:
		words.Fprintf(&b, "not valid: %s\n", words.Count(n, "finding", "findings"))
	case len(advice) > 0:
		words.Fprintf(&b, "valid, with %s\n", words.Count(len(advice), "warning", "warnings"))
	default:
		b.WriteString("valid\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func generateBundle(c *call) error {
	pkg := c.Flags.String("package", "", "")
	channels := c.Words("channel")
	name := c.Flags.String("default", "", "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	dir := c.Arg(0)
	if info, err := os.Stat(filepath.Join(dir, "manifests")); err != nil || !info.IsDir() {
		return fmt.Errorf("%s has no directory manifests", dir)
	}
	made, err := bundle.Generate(bundle.GenerateOptions{Package: *pkg, Channels: *channels, DefaultChannel: *name})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // links do not lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll("metadata", 0o777); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{"metadata/annotations.yaml", made.Annotations}, {"bundle.Dockerfile", made.Dockerfile}} {
		out, err := root.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.text); err != nil {
			out.Close()
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
		words.Fprintf(c.Stdout, "%s\n", filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	return nil
}
