// Package zstd reads catalogs and bundles that are packed with Zstandard, as many
// registries keep the layers of images: the standard library has no decoder.
//
// It lies in this module, since the root module has no requirement for it, and
// whoever has images of a registry has this one.
package zstd

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/fairlead/fairlead/catalog/source"
)

// window is the most memory that a stream may ask for, in bytes: more than any
// level of the zstd program asks for without --ultra.
const window = 128 << 20

// Decoder returns what catalog/source reads such archives and layers with: give it
// in source.Options.Decoders. It is safe for use by many goroutines. A stream that
// asks for a window of more than 128 MiB is refused.
func Decoder() source.Decoder {
	return source.Decoder{Magic: source.MagicZstd, Open: func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}}
}
