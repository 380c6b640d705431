package doc_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// TestDecodeFolds checks that a member is decoded into the field whose name differs
// only in the case of letters, as defined by strings.EqualFold, including letters
// of other alphabets.
func TestDecodeFolds(t *testing.T) {
	for _, key := range []string{"maskSize", "MASKSIZE", "masksize", "maſkSize", "mas\u212aSize", "maskSise", "mask", "MaskSizé"} {
		var into struct {
			Size int         `json:"maskSize"`
			Text doc.AnyText `json:"text"`
		}
		faults := doc.Decode(doc.Tree([]byte(`{"`+key+`": 7}`)), &into, 0)
		if want := strings.EqualFold(key, "maskSize"); (into.Size == 7) != want || len(faults) > 0 {
			t.Errorf("%s: %d, %v", key, into.Size, faults)
		}
	}
}

// TestDecodeAnyText checks that a value that is not used must be text anyway.
func TestDecodeAnyText(t *testing.T) {
	var into struct {
		List []struct {
			Text doc.AnyText `json:"text"`
		} `json:"list"`
	}
	for text, want := range map[string]string{`"x"`: "", `null`: "", `7`: "list[1].text is a number, not a string", `[]`: "list[1].text is an array, not a string"} {
		tree := doc.Tree([]byte(`{"list": [{}, {"text": ` + text + `}]}`))
		got := ""
		for _, m := range doc.Decode(tree, &into, 0) {
			got += m.Error()
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
		if loose := doc.Decode(tree, &into, doc.Loose); (len(loose) > 0) != (text == "[]") {
			t.Errorf("%s, loose: %v", text, loose)
		}
	}
}
