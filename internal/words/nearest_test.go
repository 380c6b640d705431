package words_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/words"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"stabel", []string{"alpha", "stable", "staple"}, "stable"},
		{"ectd", []string{"etcd"}, "etcd"}, // swapped letters are one slip
		{"stable", []string{"stable"}, ""}, // the name itself is not a correction
		{"beta", []string{"alpha"}, ""},
		{"ab", []string{"b", "a"}, "b"},                // the first of equally near ones
		{"abcdefghijkl", []string{"abcdefghxxxx"}, ""}, // four are too many
		{"kubernetes-nmstate", []string{"kubernetes-nmstate-operator", "kubernets-nmstat"}, "kubernets-nmstat"},
		{"x", nil, ""},
	} {
		if got := words.Nearest(c.name, c.candidates); got != c.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", c.name, c.candidates, got, c.want)
		}
	}
}

// TestDistance compares Distance with its definition for all short words made
// of two letters.
func TestDistance(t *testing.T) {
	all := []string{""}
	for i := 0; i < len(all); i++ {
		if len(all[i]) < 4 {
			all = append(all, all[i]+"a", all[i]+"b")
		}
	}
	for _, a := range all {
		for _, b := range all {
			for limit := 1; limit <= 6; limit++ {
				if got, want := words.Distance(a, b, limit), defined(a, b); min(got, limit) != min(want, limit) {
					t.Errorf("Distance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
				}
			}
		}
	}
}

// defined computes the distance by its definition.
func defined(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	change := defined(a[1:], b[1:])
	if a[0] != b[0] {
		change++
	}
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		change = min(change, defined(a[2:], b[2:])+1)
	}
	return min(change, defined(a[1:], b)+1, defined(a, b[1:])+1)
}
