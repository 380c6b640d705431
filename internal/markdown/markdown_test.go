package markdown_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/markdown"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"the entry shop.v2.0.0 is missing": "the entry shop.v2.0.0 is missing",
		"> 1":                              "\\> 1", "1. x": "1\\. x", "- y": "\\- y", "12) z": "12\\) z",
		"a *b* _c_ `d` <e> | ~f~ &amp; ![x](y) $z$": "a \\*b\\* \\_c\\_ \\`d\\` \\<e> \\| \\~f\\~ \\&amp; \\!\\[x\\](y) \\$z\\$",
		"a\n\n# Passes":                "`a⟨U+000A⟩⟨U+000A⟩# Passes`",
		"ask @release-bot":             "`ask @release-bot`",
		"see https://evil.example/`x`": "`` see https://evil.example/`x` ``",
		"\x1b[31m\u202e":               "⟨U+001B⟩\\[31m⟨U+202E⟩",
	} {
		if got := markdown.Text(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for text, want := range map[string]string{"a": "`a`", "": "`  `", "`": "`` ` ``", "a``b": "```a``b```", "a\nb": "`a⟨U+000A⟩b`"} {
		if got := markdown.Code(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"": "```", "a": "```", "a\n`````\nb```": "``````"} {
		if got := markdown.Fence(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
