package payload_test

import (
	"encoding/base64"
	"hash/fnv"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
)

// TestHash: what is hashed of files is what the reference's reader makes of
// them, which was asked about each of these.
func TestHash(t *testing.T) {
	const yaml, written = "kind: A\nmetadata: {name: a}\n", `{"kind":"A", "x":1.0,"metadata":{"name":"a"}}`
	const again, second = `{"kind":"A","metadata":{"name":"a"},"x":1}`, `{"kind":"B","metadata":{"name":"b"}}`
	member := func(text string) string { return `{"kind":"A","metadata":{"name":"a"},` + text + "}" }
	for _, c := range []struct{ text, want string }{
		{"metadata: {name: a}\nkind: A\n", `{"kind":"A","metadata":{"name":"a"}}`},
		{yaml + "z: <a>&b", member(`"z":"\u003ca\u003e\u0026b"`)},
		{yaml + `z: "\u2028 é \x7f"`, member(`"z":"\u2028 é ` + "\x7f" + `"`)},
		{yaml + "z: [1.50, 1e3, 1e21, 1e-7, 0x1f, 017, 12345678901234567890, -0.0]", member(`"z":[1.5,1000,1e+21,1e-7,31,15,12345678901234567890,-0]`)},
		{yaml + "z: [yes, 'yes', ~, 2020-01-01]", member(`"z":[true,"yes",null,"2020-01-01"]`)},
		{yaml + "z: |\n  text\n", member(`"z":"text\n"`)},
		// The last line counts as ended.
		{yaml + "z: |\n  text", member(`"z":"text\n"`)},
		{yaml + "z: |+\n  text", member(`"z":"text\n"`)},
		{yaml + "z: |-\n  text", member(`"z":"text"`)},
		{yaml + "z: |+\n  text\n\n---\n" + second, member(`"z":"text\n\n"`) + second},
		// JSON is hashed as it is written, up to the first marker or comment.
		{written, written},
		{"\n " + written + "\n" + `{"kind":"B", "metadata":{"name":"b"}}`, written + `{"kind":"B", "metadata":{"name":"b"}}`},
		{"---\n" + written, again},
		{"# comment\n" + written, again},
		{`{"kind":"B", "metadata":{"name":"b"}}` + "\n---\n" + written, `{"kind":"B", "metadata":{"name":"b"}}` + again},
		{"kind: B\nmetadata: {name: b}\n---\n" + written, second + again},
	} {
		all, err := payload.ReadManifests("0000_10_a_x.yaml", []byte(c.text), nil)
		h := fnv.New64()
		h.Write([]byte(c.want))
		if want := base64.URLEncoding.EncodeToString(h.Sum(nil)); err != nil || payload.Hash(all) != want {
			t.Errorf("%q: %s, %v; want %s, that of %s", c.text, payload.Hash(all), err, want, c.want)
		}
	}
}
