package rule_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/solver/rule"
)

const benchRule = `properties.exists(p, p.type == "olm.package" && p.value.packageName == "etcd" && semver_compare(p.value.version, "3.5.0") >= 0)`

func benchProperties(n int) *rule.Properties {
	pairs := []string{}
	for i := range n - 1 {
		pairs = append(pairs, "olm.gvk", fmt.Sprintf(`{"group":"example.com","version":"v1","kind":"Kind%d"}`, i))
	}
	return props(append(pairs, "olm.package", `{"packageName":"etcd","version":"3.5.9"}`)...)
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("properties=%d", n), func(b *testing.B) {
			r, p := mustCompile(b, benchRule), benchProperties(n)
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := r.Match(b.Context(), p); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			c, err := rule.NewCompiler(nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				src := benchRule
				if !cached {
					src += fmt.Sprintf(" || 1 == %d", i)
				}
				if _, err := c.Compile(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkConstraint(b *testing.B) {
	c := mustParse(b, group("all", pkgFoo, group("not", gvkFoo), group("any", gvkFoo, pkgFoo)))
	p := props("olm.package", `{"packageName":"foo","version":"1.2.0"}`)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := c.Match(b.Context(), p); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	list := []rule.Property{}
	for range 10 {
		list = append(list, rule.Property{Type: "olm.gvk", Value: []byte(`{"group":"example.com","version":"v1","kind":"Kind"}`)})
	}
	b.ReportAllocs()
	for b.Loop() {
		rule.Prepare(list)
	}
}
