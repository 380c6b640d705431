package words_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/words"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"a\tb\n":                "a\tb\n",
		"Grüße, 世界 🙂 ٣":         "Grüße, 世界 🙂 ٣",
		"pay\u202Egpj.exe":      "pay⟨U+202E⟩gpj.exe",
		"\u200ba\ufeff":         "⟨U+200B⟩a⟨U+FEFF⟩",
		"\x1b[31mred\x1b[0m":    "⟨U+001B⟩[31mred⟨U+001B⟩[0m",
		"a\rb\x00\x7f":          "a⟨U+000D⟩b⟨U+0000⟩⟨U+007F⟩",
		"\u009b2J\u2028x\u2029": "⟨U+009B⟩2J⟨U+2028⟩x⟨U+2029⟩",
		"\x9b2J\xff":            "�2J�", // one byte of C1, which is no UTF-8
		"tag\U000e0041":         "tag⟨U+E0041⟩",
		"so\u00adft":            "so⟨U+00AD⟩ft",
	} {
		if got := words.Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVisibleLine(t *testing.T) {
	if got, want := words.VisibleLine("a\tb\n::x\r"), "a⟨U+0009⟩b⟨U+000A⟩::x⟨U+000D⟩"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
