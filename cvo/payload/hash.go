package payload

import (
	"encoding/base64"
	"hash/fnv"

	"github.com/fairlead/fairlead/internal/doc"
)

// Hash returns the hash of manifests in their order, as ClusterVersion shows it
// in status.versionHash: FNV-64 over the text of each, in base64. JSON objects
// at the beginning of a file, with nothing but white space around them, count
// as written. Everything else, including JSON after a marker or comment, counts
// as JSON without white space and with sorted keys.
func Hash(manifests []*Manifest) string {
	h := fnv.New64()
	var text []byte
	for _, m := range manifests {
		if m.asWritten {
			h.Write(m.JSON)
			continue
		}
		text = doc.AppendCanonical(text[:0], doc.Tree(m.JSON), doc.NumbersOfYAML)
		h.Write(text)
	}
	return base64.URLEncoding.EncodeToString(h.Sum(nil))
}
