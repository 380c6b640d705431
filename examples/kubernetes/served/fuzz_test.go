package served

import (
	"strings"
	"testing"
)

// Raw is the codec, for tests that serve.
type Raw = raw

// FuzzMessages decodes arbitrary data as a package and a bundle; the result
// is documents or an error.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x0a\x04shop\x12\x0f\x0a\x06stable\x12\x05shop1"), []byte("\x0a\x05shop1\x12\x04shop\x1a\x06stable"))
	f.Fuzz(func(t *testing.T, p, b []byte) {
		p1, err := readPackage(p)
		if err != nil {
			return
		}
		b1, err := readBundle(b)
		if err != nil {
			return
		}
		texts, err := documents([]pkg{p1}, []bundle{b1})
		if err == nil && len(texts) == 0 || err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%d documents, %v", len(texts), err)
		}
	})
}
