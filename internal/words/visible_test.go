package words_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/words"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"a\tb\n":           "a\tb\n",
		"Grüße, 世界 🙂":      "Grüße, 世界 🙂",
		"pay\u202Egpj.exe": "pay⟨U+202E⟩gpj.exe",
		"\u200ba\ufeff":    "⟨U+200B⟩a⟨U+FEFF⟩",
	} {
		if got := words.Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
