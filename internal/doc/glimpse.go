package doc

import (
	"bytes"
	"slices"
	"strings"
)

// Faulty returns the source of the document that the last [Error] of Next is
// about, as far as it is available: nothing for a document that is too large.
// It is valid until the next call of Next.
func (r *Reader) Faulty() []byte { return r.faulty }

// Glimpse finds the text values of a key in the source of a document that
// cannot be read. It understands just enough of JSON and of block YAML to
// distinguish members of the document from deeper ones, and continues after
// faults. If a key occurs several times, it returns every value, in order and
// each only once; values that are not plain text are left out.
func Glimpse(raw []byte, key string) []string {
	trimmed := bytes.TrimLeft(raw, " \t\r\n\ufeff")
	var found []string
	if len(trimmed) > 0 && trimmed[0] == '{' {
		found = glimpseFlow(trimmed, key)
	} else {
		found = glimpseBlock(raw, key)
	}
	var distinct []string
	for _, text := range found {
		if !slices.Contains(distinct, text) {
			distinct = append(distinct, text)
		}
	}
	return distinct
}

// glimpseFlow reads tokens of JSON, or of flow YAML.
func glimpseFlow(raw []byte, key string) (found []string) {
	depth, name, value := 0, "", false // value: just after a colon of the outermost object
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			depth++
			value, name = false, ""
			i++
		case '}', ']':
			depth--
			value, name = false, ""
			if i++; depth == 0 {
				return found
			}
		case ',':
			value, name = false, ""
			i++
		case ':':
			value = depth == 1 && name != ""
			i++
		case ' ', '\t', '\r', '\n':
			i++
		default:
			token, n, ok := flowToken(raw[i:])
			i += n
			if value && strings.EqualFold(name, key) && ok {
				found = append(found, token)
			}
			if !value {
				name = token
			}
			value = false
		}
	}
	return found
}

// flowToken reads a string or a bare word, and reports whether it can be text.
func flowToken(raw []byte) (token string, n int, ok bool) {
	if quote := raw[0]; quote == '"' || quote == '\'' {
		for n = 1; n < len(raw) && raw[n] != quote && raw[n] != '\n'; n++ {
			if raw[n] == '\\' && quote == '"' {
				n++
			}
		}
		n = min(n, len(raw))
		return string(unescaped(raw[1:n])), min(n+1, len(raw)), n > 1
	}
	for n < len(raw) && !bytes.ContainsRune([]byte("{}[],:\"\n"), rune(raw[n])) {
		n++
	}
	n = max(n, 1)
	token = strings.TrimSpace(string(raw[:n]))
	return token, n, plainText(token)
}

// plainText reports whether an unquoted word of YAML is text.
func plainText(word string) bool {
	switch strings.ToLower(word) {
	case "", "null", "~", "true", "false":
		return false
	}
	return strings.Trim(word, "0123456789.+-eE_") != "" && !strings.ContainsAny(word[:1], "|>&*!%@`{[\"'")
}

// glimpseBlock reads lines of block YAML that are indented like the first key.
func glimpseBlock(raw []byte, key string) (found []string) {
	indent := -1
	for line := range bytes.Lines(raw) {
		text := strings.TrimRight(string(line), " \t\r\n")
		rest := strings.TrimLeft(text, " ")
		if rest == "" || rest[0] == '#' || isMarker(append([]byte(text), '\n')) {
			continue
		}
		if indent < 0 {
			indent = len(text) - len(rest)
		}
		name, value, ok := strings.Cut(rest, ":")
		if len(text)-len(rest) != indent || !ok || !strings.EqualFold(strings.Trim(strings.TrimSpace(name), `"'`), key) {
			continue
		}
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		if value[0] == '"' || value[0] == '\'' {
			if token, _, ok := flowToken([]byte(value)); ok {
				found = append(found, token)
			}
			continue
		}
		if value, _, _ = strings.Cut(value, " #"); plainText(value) {
			found = append(found, strings.TrimSpace(value))
		}
	}
	return found
}
