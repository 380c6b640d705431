package payload_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/payload"
)

// Faults of release-metadata have the line and column of the value that is wrong. Columns
// count characters, from 1, in the first line as in others.
func TestMetadataPositions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"kind": "other", "version": "4.20.1"}`, "1:10"},
		{`{"version": "4.20.1", "url": "ä", "kind": "other"}`, "1:43"},
		{"{\n  \"kind\": \"cincinnati-metadata-v0\",\n  \"version\": \"4.20\"\n}", "3:14"},
		{"{\"version\": \"4.20.1\",\n\"kind\":\n\"other\"}", "3:1"},
		{"\n {\"kind\": \"cincinnati-metadata-v0\"}", "2:2"}, // the object, which lacks the version
	} {
		const file = "release-manifests/release-metadata"
		fsys := payloadOf()
		fsys[file] = &fstest.MapFile{Data: []byte(c.text)}
		_, err := payload.Load(fsys, nil)
		var found payload.Diagnostics
		errors.As(err, &found)
		found = slices.DeleteFunc(found, func(d *payload.Diagnostic) bool { return d.Pos.File != file })
		if len(found) != 1 || fmt.Sprintf("%d:%d", found[0].Pos.Line, found[0].Pos.Column) != c.want {
			t.Errorf("%s: %v, want a fault at %s", c.text, err, c.want)
		}
	}
}
