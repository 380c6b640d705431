package shape

import (
	"bytes"
	"encoding/xml"
)

// ImageType returns the media type of an image by its first bytes, or "" if
// it is not allowed for icons.
func ImageType(data []byte) string {
	for _, m := range []struct{ magic, mediaType string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.mediaType
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := t.(xml.StartElement); ok {
			if start.Name.Local == "svg" {
				return "image/svg+xml"
			}
			return ""
		}
	}
}
