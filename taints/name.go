package taints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// What the API allows as keys and values.
const (
	maxName   = 63  // bytes of a value, and of a key after its prefix
	maxPrefix = 253 // bytes of the prefix of a key; leniently, of the whole key
)

// flaw is what is wrong with a text, and where. The zero flaw is none.
type flaw struct {
	at      int    // byte offset
	problem string // what is wrong, to be appended to the text; empty if nothing is
	fix     string // the text that is probably meant; empty if unknown
}

// keyFlaw checks a key by the rules of the API: a name, optionally after a DNS
// subdomain and a slash.
func keyFlaw(key string) flaw {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		return nameFlaw(key, "key")
	}
	if i := strings.IndexByte(name, '/'); i >= 0 {
		return flaw{at: len(prefix) + 1 + i, problem: "a key has one slash at most"}
	}
	if f := prefixFlaw(prefix); f.problem != "" {
		if f.fix != "" {
			f.fix += "/" + name
		}
		return f
	}
	f := nameFlaw(name, "key")
	f.at += len(prefix) + 1
	if f.fix != "" {
		f.fix = prefix + "/" + f.fix
	}
	return f
}

// nameFlaw checks the part of a key after its prefix.
func nameFlaw(name, what string) flaw {
	if name == "" {
		return flaw{problem: "the " + what + " is missing"}
	}
	f := wordFlaw(name)
	if f.problem == "" && len(name) > maxName {
		return flaw{at: maxName, problem: fmt.Sprintf("it has %d characters; %d are allowed, besides a prefix such as example.com/", len(name), maxName)}
	}
	return f
}

// valueFlaw checks a value, which may be empty.
func valueFlaw(value string) flaw {
	if value == "" {
		return flaw{}
	}
	f := wordFlaw(value)
	if f.problem == "" && len(value) > maxName {
		return flaw{at: maxName, problem: fmt.Sprintf("it has %d characters; %d are allowed", len(value), maxName)}
	}
	return f
}

// wordFlaw checks the characters of a name or a value.
func wordFlaw(s string) flaw {
	for i := range len(s) {
		if !alphanumeric(s[i]) && strings.IndexByte("-._", s[i]) < 0 {
			return flaw{at: i, problem: "only letters, digits, '-', '_' and '.' are allowed"}
		}
	}
	trimmed := strings.Trim(s, "-._")
	switch {
	case !alphanumeric(s[0]):
		return flaw{problem: "it must begin with a letter or a digit", fix: trimmed}
	case !alphanumeric(s[len(s)-1]):
		return flaw{at: len(s) - 1, problem: "it must end with a letter or a digit", fix: trimmed}
	}
	return flaw{}
}

// prefixFlaw checks the prefix of a key, a DNS subdomain.
func prefixFlaw(prefix string) flaw {
	if prefix == "" {
		return flaw{problem: "the prefix before '/' is missing"}
	}
	start := 0
	for i := range len(prefix) + 1 {
		if i < len(prefix) && prefix[i] != '.' {
			switch c := prefix[i]; {
			case c >= 'A' && c <= 'Z':
				return flaw{at: i, problem: "the prefix before '/' must be in lower case", fix: strings.ToLower(prefix)}
			case !alphanumeric(c) && c != '-':
				return flaw{at: i, problem: "in the prefix before '/' only lower-case letters, digits, '-' and '.' are allowed"}
			}
			continue
		}
		label := prefix[start:i]
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return flaw{at: start, problem: "each part of the prefix before '/' must begin and end with a lower-case letter or a digit"}
		}
		start = i + 1
	}
	if len(prefix) > maxPrefix {
		return flaw{at: maxPrefix, problem: fmt.Sprintf("the prefix before '/' has %d characters; %d are allowed", len(prefix), maxPrefix)}
	}
	return flaw{}
}

// seedKeyFlaw checks a key leniently: it may have up to 253 characters and
// must begin with a letter or a digit.
func seedKeyFlaw(key string) flaw {
	switch {
	case key == "":
		return flaw{problem: "the key is missing"}
	case len(key) > maxPrefix:
		return flaw{at: maxPrefix, problem: fmt.Sprintf("it has %d characters; %d are allowed", len(key), maxPrefix)}
	}
	return beginFlaw(key, "-._/")
}

// seedValueFlaw checks a value leniently: it may end with any character.
func seedValueFlaw(value string) flaw {
	switch {
	case value == "":
		return flaw{}
	case len(value) > maxName:
		return flaw{at: maxName, problem: fmt.Sprintf("it has %d characters; %d are allowed", len(value), maxName)}
	}
	return beginFlaw(value, "-._")
}

func beginFlaw(s, others string) flaw {
	for i := range len(s) {
		if !alphanumeric(s[i]) && (i == 0 || strings.IndexByte(others, s[i]) < 0) {
			if i == 0 {
				return flaw{problem: "it must begin with a letter or a digit"}
			}
			return flaw{at: i, problem: "only letters, digits, '-', '_' and '.' are allowed"}
		}
	}
	return flaw{}
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// effectFlaw checks a required effect.
func effectFlaw(effect string) flaw {
	names := []string{string(fairlead.NoSchedule), string(fairlead.PreferNoSchedule), string(fairlead.NoExecute)}
	switch {
	case effect == "":
		return flaw{problem: "the effect is missing; write NoSchedule, PreferNoSchedule or NoExecute"}
	case slices.Contains(names, effect):
		return flaw{}
	}
	f := flaw{problem: "there is no such effect; write NoSchedule, PreferNoSchedule or NoExecute"}
	f.fix = meant(effect, names)
	return f
}

// meant returns the name that differs from a misspelt one in case or in a few
// letters, or "".
func meant(word string, names []string) string {
	for _, n := range names {
		if strings.EqualFold(n, word) {
			return n
		}
	}
	return words.Nearest(word, names)
}
