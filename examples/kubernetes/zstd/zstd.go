// Package zstd reads catalogs and bundles that are compressed with Zstandard,
// like the layers of images in many registries: the standard library has no
// decoder.
//
// It is part of this module, because the root module does not require a
// decoder, and programs that use images in registries use this module anyway.
package zstd

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/fairlead/fairlead/catalog/source"
)

// window limits the memory that a stream may request, in bytes: it is more
// than any level of the zstd program requests without --ultra.
const window = 128 << 20

// Decoder returns the decoder with which catalog/source reads such archives and
// layers: set it in source.Options.Decoders. It is safe for concurrent use. A
// stream that requests a window of more than 128 MiB is refused.
func Decoder() source.Decoder {
	return source.Decoder{Magic: source.MagicZstd, Open: func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}}
}
