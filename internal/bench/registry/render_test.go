package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/pkg/image"
	"github.com/operator-framework/operator-registry/pkg/registry"
	"github.com/sirupsen/logrus"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/bench/cost"
)

// renderTheirs renders a directory with opm's own code: with the library calls that
// opm render makes, since its own package cannot be linked without GPG.
func renderTheirs(dir string) (string, error) {
	in, err := registry.NewImageInput(image.SimpleReference(""), dir)
	if err != nil {
		return "", err
	}
	objects, properties, err := registry.ObjectsAndPropertiesFromBundle(in.Bundle)
	if err != nil {
		return "", err
	}
	csv, err := in.Bundle.ClusterServiceVersion()
	if err != nil {
		return "", err
	}
	d := declcfg.Bundle{Schema: declcfg.SchemaBundle, Name: in.Bundle.Name, Package: in.Bundle.Package, Properties: properties, Objects: objects}
	var spec struct {
		RelatedImages []declcfg.RelatedImage `json:"relatedImages"`
	}
	if err := json.Unmarshal(csv.Spec, &spec); err != nil {
		return "", err
	}
	d.RelatedImages = spec.RelatedImages
	images, err := csv.GetOperatorImages()
	if err != nil {
		return "", err
	}
	for name := range images {
		if !slices.ContainsFunc(d.RelatedImages, func(r declcfg.RelatedImage) bool { return r.Image == name }) {
			d.RelatedImages = append(d.RelatedImages, declcfg.RelatedImage{Image: name})
		}
	}
	text, err := json.Marshal(d)
	return string(text), err
}

func renderOurs(dir string) (string, error) {
	b, err := bundle.Read(context.Background(), os.DirFS(dir), nil)
	if err != nil {
		return "", err
	}
	d, err := b.Render(nil)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(d)
	return string(text), err
}

// parts summarizes the content of a document. (The tests of catalog/bundle check that
// it is the same to the letter.)
func parts(b *testing.B, text string) string {
	var d declcfg.Bundle
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("%s of %s with %d properties and %d images", d.Name, d.Package, len(d.Properties), len(d.RelatedImages))
}

// BenchmarkRender renders 300 bundle directories within the process, from reading the
// files to the text of the document: those of the real data, repeated.
func BenchmarkRender(b *testing.B) {
	logrus.SetLevel(logrus.FatalLevel)
	var dirs []string
	originals := realBundles(b, 64)
	for i, files := range originals {
		dir := filepath.Join(b.TempDir(), string(rune('a'+i%26))+string(rune('a'+i/26)))
		for _, file := range slices.Sorted(maps.Keys(files)) {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(files[file]), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		theirs, err := renderTheirs(dir)
		if err != nil {
			continue // opm refuses it
		}
		ours, err := renderOurs(dir)
		if err != nil {
			b.Fatal(err)
		}
		if a, z := parts(b, ours), parts(b, theirs); a != z {
			b.Fatalf("bundle %d: %s, theirs %s", i, a, z)
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		b.Skip("no bundles")
	}
	all := func(render func(dir string) (string, error)) func() error {
		return func() error {
			for i := range 300 {
				if _, err := render(dirs[i%len(dirs)]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for range b.N {
		costs, err := cost.MeasureAll(3, all(renderOurs), all(renderTheirs))
		if err != nil {
			b.Fatal(err)
		}
		for i, who := range []string{"ours", "opm"} {
			b.ReportMetric(float64(costs[i].Time.Microseconds())/1000, "ms-"+who)
			b.ReportMetric(float64(costs[i].Bytes)/1e6, "MB-"+who)
			b.ReportMetric(float64(costs[i].Allocs), "allocs-"+who)
		}
		b.ReportMetric(float64(costs[1].Time)/float64(costs[0].Time), "times")
	}
}
