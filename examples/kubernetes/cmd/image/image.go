package main

import (
	"archive/tar"
	"bytes"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the user and group that the program runs as: neither exists in any
// system.
const user = "65532:65532"

// imageOf makes an image of a program and certificates. Nothing in it depends
// on when or where it was made.
func imageOf(program, certificates []byte, p *v1.Platform, version string) (v1.Image, error) {
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	files := []tar.Header{
		{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "etc/ssl/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "etc/ssl/certs/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "etc/ssl/certs/ca-certificates.crt", Typeflag: tar.TypeReg, Mode: 0o444, Size: int64(len(certificates))},
		{Name: "operator", Typeflag: tar.TypeReg, Mode: 0o555, Size: int64(len(program))},
	}
	for i := range files {
		h := &files[i]
		h.ModTime, h.Format = time.Unix(0, 0), tar.FormatUSTAR
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		content := certificates
		if h.Name == "operator" {
			content = program
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(content); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.AppendLayers(img, layer); err != nil {
		return nil, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":  "fairlead-operator",
		"org.opencontainers.image.source": "https://github.com/fairlead/fairlead",
	}
	if version != "" {
		labels["org.opencontainers.image.version"] = version
	}
	before, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := before.DeepCopy()
	config.OS, config.Architecture, config.Variant = p.OS, p.Architecture, p.Variant
	config.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{"/operator"}, WorkingDir: "/", Labels: labels,
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
	}
	return mutate.ConfigFile(img, config)
}

// indexOf makes one image of images for several platforms.
func indexOf(images []v1.Image) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		config, err := img.ConfigFile()
		if err != nil {
			panic(err) // it was made by imageOf, from memory
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	return index
}
