package catalog

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/doc"
)

// yamlPrinter writes JSON values as block-style YAML.
type yamlPrinter struct{ out []byte }

// value writes v, which follows a key or dash if inline is set, and otherwise
// begins a document. Its lines are indented by indent spaces.
func (y *yamlPrinter) value(v *doc.Value, indent int, inline bool) {
	switch {
	case v.Kind == '{' && len(v.Members) > 0:
		if inline {
			y.out = append(y.out, '\n')
		}
		y.members(v, indent)
	case v.Kind == '[' && len(v.Members) > 0:
		if inline {
			y.out = append(y.out, '\n')
		}
		y.elements(v, indent)
	default:
		if inline {
			y.out = append(y.out, ' ')
		}
		y.scalar(v, indent)
		y.out = append(y.out, '\n')
	}
}

func (y *yamlPrinter) indent(n int) {
	for range n {
		y.out = append(y.out, ' ')
	}
}

func (y *yamlPrinter) members(v *doc.Value, indent int) {
	for i := range v.Members {
		m := &v.Members[i]
		if i > 0 || len(y.out) == 0 || y.out[len(y.out)-1] == '\n' {
			y.indent(indent)
		}
		y.text(m.Key)
		y.out = append(y.out, ':')
		below := indent + 2
		if m.Kind == '[' {
			below = indent // the dashes of a list are aligned with its key
		}
		y.value(m, below, true)
	}
}

func (y *yamlPrinter) elements(v *doc.Value, indent int) {
	for i := range v.Members {
		e := &v.Members[i]
		y.indent(indent)
		y.out = append(y.out, '-')
		if e.Kind == '{' && len(e.Members) > 0 { // the first member is on the line of the dash
			y.out = append(y.out, ' ')
			y.members(e, indent+2)
			continue
		}
		y.value(e, indent+2, true)
	}
}

func (y *yamlPrinter) scalar(v *doc.Value, indent int) {
	switch v.Kind {
	case '{':
		y.out = append(y.out, "{}"...)
	case '[':
		y.out = append(y.out, "[]"...)
	case '"':
		text, _ := v.Text()
		if isBlock(text) {
			y.block(text, max(indent, 2))
			return
		}
		y.text(text)
	default:
		y.out = append(y.out, v.Raw...)
	}
}

// text writes a string on one line, quoted unless it is surely plain.
func (y *yamlPrinter) text(s string) {
	if isPlain(s) {
		y.out = append(y.out, s...)
		return
	}
	y.out = append(y.out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			y.out = append(y.out, '\\', byte(r))
		case r == '\n':
			y.out = append(y.out, `\n`...)
		case r == '\t':
			y.out = append(y.out, `\t`...)
		case !printable(r):
			y.out = append(y.out, escaped(r)...)
		default:
			y.out = utf8.AppendRune(y.out, r)
		}
	}
	y.out = append(y.out, '"')
}

// escaped returns the escape of a character that YAML cannot hold as it is.
func escaped(r rune) string {
	hex := strconv.FormatInt(int64(r), 16)
	switch {
	case r < 0x100:
		return `\x` + strings.Repeat("0", 2-len(hex)) + hex
	case r < 0x10000:
		return `\u` + strings.Repeat("0", 4-len(hex)) + hex
	}
	return `\U` + strings.Repeat("0", 8-len(hex)) + hex
}

// printable reports whether a character may appear in any kind of YAML
// scalar, line breaks and tabs aside, and readers do not take it for a line
// break or strip it.
func printable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

var (
	plainWords   = regexp.MustCompile(`^[A-Za-z_/](?:[A-Za-z0-9_./@:+~=()*,-]*[A-Za-z0-9_./@+~=()*,-])?(?: [A-Za-z0-9_./(](?:[A-Za-z0-9_./@:+~=()*,-]*[A-Za-z0-9_./@+~=()*,-])?)*$`)
	plainVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(?:[-+][A-Za-z0-9.+-]*)?$`)
	reserved     = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// isPlain reports whether every reader of YAML reads s as this string without
// quotes.
func isPlain(s string) bool {
	if len(s) > 200 || reserved.MatchString(s) {
		return false
	}
	return plainWords.MatchString(s) || plainVersion.MatchString(s)
}

// isBlock reports whether s has several lines and can be written exactly as a
// literal block.
func isBlock(s string) bool {
	if !strings.Contains(strings.TrimRight(s, "\n"), "\n") || strings.HasPrefix(s, "\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") || strings.HasPrefix(line, "\t") {
			return false
		}
		for _, r := range line {
			if r != '\t' && !printable(r) {
				return false
			}
		}
	}
	return s[0] != ' '
}

// block writes a string as a literal block.
func (y *yamlPrinter) block(s string, indent int) {
	y.out = append(y.out, '|')
	if !strings.HasSuffix(s, "\n") {
		y.out = append(y.out, '-')
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		y.out = append(y.out, '\n')
		if line != "" {
			y.indent(indent)
			y.out = append(y.out, line...)
		}
	}
}
