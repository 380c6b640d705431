package cvo_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
)

func TestIsDigest(t *testing.T) {
	for text, want := range map[string]bool{
		"sha256:" + strings.Repeat("8c", 32): true,
		"sha512:00":                          true,
		"tar+gz.sha-256_b:Az09=_-":           true,
		"":                                   false,
		"latest":                             false,
		"sha256:":                            false,
		":8c04":                              false,
		"sha256:8c/04":                       false,
		"sha256:8c04\n":                      false,
		" sha256:8c04":                       false,
		"SHA256:8c04":                        false,
		"sha256:8c:04":                       false,
		"sha256:8c@sha256:04":                false,
		"a..b:8c04":                          false,
		"../a:8c04":                          false,
	} {
		if got := cvo.IsDigest(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
