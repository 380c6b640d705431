package shape_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/long"
)

// TestForms: the quick check of a property's form never takes what the careful
// one refuses, and refuses nothing of plain JSON that the careful one takes.
func TestForms(t *testing.T) {
	types := []string{"olm.package", "olm.package.required", "olm.gvk", "olm.gvk.required", "olm.channel", "olm.csv.metadata", "olm.bundle.object"}
	names := strings.Fields("packageName version release versionRange group kind data channelName priority annotations labels apiServiceDefinitions crdDescriptions owned required name resources specDescriptors path x-descriptors value containerPort description displayName installModes type supported keywords links url maintainers email maturity minKubeVersion nativeAPIs provider VERSION Data unknown")
	scalars := []string{"null", "true", "false", "0", "-1", "1.5", "443", "99999999999999999999", `""`, `"a"`, `"YQ=="`, `"YQ"`, `"\u0041"`, "1e2"}
	r := rand.New(rand.NewPCG(23, 24))
	var value func(depth int) string
	value = func(depth int) string {
		switch k := r.IntN(10); {
		case k < 4 && depth < 6:
			var members []string
			for i := range r.IntN(4) {
				name := names[r.IntN(len(names))]
				if i > 0 && strings.Contains(strings.ToLower(strings.Join(members, "")), strings.ToLower(`"`+name+`"`)) {
					continue
				}
				members = append(members, `"`+name+`": `+value(depth+1))
			}
			return "{" + strings.Join(members, ", ") + "}"
		case k < 6 && depth < 6:
			var elements []string
			for range r.IntN(3) {
				elements = append(elements, value(depth+1))
			}
			return "[ " + strings.Join(elements, " , ") + "]"
		}
		return scalars[r.IntN(len(scalars))]
	}
	both := map[bool]int{}
	for range long.N(8_000, 2_000_000) {
		typ, text := types[r.IntN(len(types))], value(0)
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		quick, careful := conforms(typ, []byte(text))
		both[careful]++
		if quick && !careful {
			t.Fatalf("%s %s: taken, but not of the form", typ, text)
		}
		if careful && !quick && !strings.Contains(text, "1e2") {
			t.Fatalf("%s %s: refused, but of the form", typ, text)
		}
	}
	if both[true] < 1000 || both[false] < 1000 {
		t.Errorf("%v", both)
	}
	// Names of fields count in any case.
	for typ, text := range map[string]string{
		"olm.package": `{"VERSION": 1}`, "olm.gvk": `{"Group": 1}`, "olm.csv.metadata": `{"CRDDescriptions": {"Owned": [{"Name": 1}]}}`,
	} {
		if quick, careful := conforms(typ, []byte(text)); quick || careful {
			t.Errorf("%s %s: taken", typ, text)
		}
	}
	// What is no JSON never conforms.
	for _, text := range []string{"", "{", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "[1 2]", "nul", "tru", "01", "1.", "1e", "-", `"a`, "\"\x01\"", `"\x"`, `"\u12"`, "{} {}", "1 x", strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		if quick, _ := conforms("olm.csv.metadata", []byte(`{"unknown": `+text+`}`)); quick {
			t.Errorf("%q is taken", text)
		}
	}
}

// conforms reports what the two checks of a property's value say: the quick one
// and the one that words faults.
func conforms(typ string, value []byte) (quick, careful bool) {
	s := shape.Properties()[typ]
	tree := doc.Tree(value)
	return s.Conforms(value), tree != nil && s.Mismatch(tree) == nil
}
