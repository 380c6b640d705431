package unpacked_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/unpacked"
)

type content struct{ bundle, catalog string }

func TestContents(t *testing.T) {
	c := unpacked.New(2, func(a, b *content) bool { return a.bundle == b.bundle })
	want := func(what, name string, all ...content) {
		t.Helper()
		if got := c.Of(name); !slices.Equal(got, all) {
			t.Errorf("%s: %v, want %v", what, got, all)
		}
	}
	c.Keep("a", content{"x", "old"})
	c.Keep("a", content{"y", "old"})
	c.Keep("b", content{"x", "old"})
	before := c.Of("a")
	c.Keep("a", content{"y", "new"})
	want("the same bundle again", "a", content{"x", "old"}, content{"y", "new"})
	c.Keep("a", content{"z", "new"})
	want("one too many", "a", content{"y", "new"}, content{"z", "new"})
	if !slices.Equal(before, []content{{"x", "old"}, {"y", "old"}}) {
		t.Errorf("a returned value has changed: %v", before)
	}
	c.Drop(func(x *content) bool { return x.catalog == "old" })
	want("stale ones are gone", "b")
	want("others are not", "a", content{"y", "new"}, content{"z", "new"})
	c.Forget("a")
	want("forgotten", "a")
}
