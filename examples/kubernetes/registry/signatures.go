package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// How signatures are stored in registries: as layers of an image that is tagged
// with the digest, or in images that refer to it.
const (
	simpleSigning  = "application/vnd.dev.cosign.simplesigning.v1+json"
	sigstoreBundle = "application/vnd.dev.sigstore.bundle.v0.3+json"
	signatureNote  = "dev.cosignproject.cosign/signature"
)

// Limits of signatures.
const (
	maxSignature  = 256 << 10 // bytes per signature
	maxSignatures = 64        // per image
)

// Signatures implements [signature.Attachments] with the signatures that cosign has
// stored beside an image, under the tag ALGORITHM-HASH.sig of its repository, and
// as bundles that refer to it. Mirrors for digests are used first, as for the
// image.
func (c *Client) Signatures(ctx context.Context, repository, digest string) ([]signature.Attachment, error) {
	ref, err := name.NewDigest(repository + "@" + digest)
	if err != nil {
		return nil, fmt.Errorf("repository %q: %w", repository, err)
	}
	places, err := mirrored(ref, c.options.Mirrors)
	if err != nil {
		return nil, fmt.Errorf("repository %q: %w", repository, err)
	}
	var all []signature.Attachment
	var errs []error
	for _, at := range places {
		found, err := c.attached(ctx, at.(name.Digest))
		all = append(all, found...)
		if err != nil {
			errs = append(errs, fmt.Errorf("repository %q: %w", at.Context().Name(), err))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(all) == 0 {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// attached returns the signatures at one location.
func (c *Client) attached(ctx context.Context, at name.Digest) ([]signature.Attachment, error) {
	options := append([]remote.Option{remote.WithContext(ctx)}, c.remote...)
	images := []name.Reference{at.Context().Tag(strings.Replace(at.DigestStr(), ":", "-", 1) + ".sig")}
	referring, err := remote.Referrers(at, options...)
	if err != nil && !absent(err) {
		return nil, err
	}
	if err == nil {
		list, err := referring.IndexManifest()
		if err != nil {
			return nil, fmt.Errorf("the list of referrers is malformed: %w", err)
		}
		for _, m := range list.Manifests {
			if m.ArtifactType == sigstoreBundle && len(images) <= maxSignatures {
				images = append(images, at.Context().Digest(m.Digest.String()))
			}
		}
	}
	// An error of one of them does not hide the others.
	var all []signature.Attachment
	var errs []error
	for _, image := range images {
		img, err := remote.Image(image, options...)
		if absent(err) {
			continue
		}
		var found []signature.Attachment
		if err == nil {
			found, err = signatures(img, image.Name())
		}
		if all = append(all, found...); err != nil {
			errs = append(errs, fmt.Errorf("signature %q: %w", image.Name(), err))
		}
	}
	return all, errors.Join(errs...)
}

// absent reports whether an error is a registry's answer that something does
// not exist.
func absent(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// signatures reads the signatures in the layers of an image.
func signatures(img v1.Image, image string) ([]signature.Attachment, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	if n := len(m.Layers); n > maxSignatures {
		return nil, &fairlead.InputLimitError{What: "number of signatures of an image", Size: int64(n), Max: maxSignatures}
	}
	var all []signature.Attachment
	for i, l := range m.Layers {
		a := signature.Attachment{Name: fmt.Sprintf("%s, layer %d", image, i+1)}
		kind := string(l.MediaType)
		if kind != simpleSigning && kind != sigstoreBundle {
			continue
		}
		text, err := readLayer(img, l)
		if err != nil {
			return all, fmt.Errorf("layer %d: %w", i+1, err)
		}
		if kind == sigstoreBundle {
			a.Bundle = text
		} else {
			a.Payload = text
			if a.Signature, err = base64.StdEncoding.DecodeString(l.Annotations[signatureNote]); err != nil {
				return all, fmt.Errorf("layer %d: its annotation %s is not base64: %w", i+1, signatureNote, err)
			}
		}
		all = append(all, a)
	}
	return all, nil
}

// readLayer reads a small layer without decompression. Its digest is verified.
func readLayer(img v1.Image, l v1.Descriptor) ([]byte, error) {
	if l.Size > maxSignature {
		return nil, &fairlead.InputLimitError{What: "size of a signature in bytes", Size: l.Size, Max: maxSignature}
	}
	layer, err := img.LayerByDigest(l.Digest)
	if err != nil {
		return nil, err
	}
	r, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxSignature+1))
}
