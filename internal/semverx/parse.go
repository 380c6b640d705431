package semverx

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ParseRange reads a range by the grammar of the package. Errors are
// [*RangeError]. The cost is linear in the length of s.
func ParseRange(s string) (*Range, error) {
	if len(s) > MaxRangeLen {
		limit := tooLong("version range", s, MaxRangeLen)
		return nil, &RangeError{Text: s, Reason: limit.Error(), Err: limit}
	}
	p := &parser{text: s, start: -1}
	for _, t := range p.tokens() {
		if err := p.token(t); err != nil {
			return nil, err
		}
	}
	if err := p.closeAlternative(len(s)); err != nil {
		return nil, err
	}
	return &Range{text: s, alternatives: p.alternatives, lints: p.lints}, nil
}

type parser struct {
	text         string
	alternatives []alternative
	lints        []string

	// The alternative that is being read: its comparisons, where it starts
	// (-1 before its first token), and where its last token ends.
	open       []comparison
	start, end int
}

// token is a part of the text: its content without spaces, and its position.
type token struct {
	text       string
	start, end int
}

// tokens cuts the text at spaces. A space after <, > or = does not end a token,
// so that "> 1.0.0" is one. A token of one character is dropped: that is how the
// grammar reads "-" and "*", and why the digit 1 alone is not a version.
func (p *parser) tokens() []token {
	var all []token
	start := 0
	cut := func(end int) {
		switch raw := p.text[start:end]; len(raw) {
		case 0:
		case 1:
			p.lintDropped(raw, start)
		default:
			all = append(all, token{strings.ReplaceAll(raw, " ", ""), start, end})
		}
		start = end + 1
	}
	var last byte
	for i := range len(p.text) {
		switch c := p.text[i]; {
		case c != ' ':
			last = c
		case last != '<' && last != '>' && last != '=':
			cut(i)
		}
	}
	if start < len(p.text) {
		cut(len(p.text))
	}
	return all
}

func (p *parser) token(t token) error {
	if t.text == "||" {
		return p.closeAlternative(t.start)
	}
	if p.start < 0 {
		p.start = t.start
	}
	p.end = t.end
	i := strings.IndexFunc(t.text, unicode.IsDigit)
	if i < 0 {
		return p.fail(t, "no version in "+quote(t.text), nil)
	}
	// TrimSpace: the grammar allows a tab around the operator.
	op, version := strings.TrimSpace(t.text[:i]), t.text[i:]
	if strings.Contains(t.text, "x") {
		return p.wildcard(t, op, version)
	}
	known, ok := parseOperator(op)
	if !ok {
		return p.fail(t, "unknown operator "+quote(op), nil)
	}
	return p.add(t, known, version)
}

// wildcard reads a token that contains the letter x. Its last component
// decides: .x as the second of two components covers a major version, as the
// third of three a minor version; anything else has no upper end, so that it
// can only be used with operators that need none.
func (p *parser) wildcard(t token, op, version string) error {
	floor := wildcardFloor(version)
	ceiling := wildcardCeiling(version, floor)
	p.lintWildcard(t, op, version)
	switch op {
	case ">=":
		return p.add(t, greaterEqual, floor)
	case "<":
		return p.add(t, less, floor)
	case ">":
		return p.add(t, greaterEqual, ceiling)
	case "<=":
		return p.add(t, less, ceiling)
	case "", "=", "==":
		if err := p.add(t, greaterEqual, floor); err != nil {
			return err
		}
		return p.add(t, less, ceiling)
	case "!", "!=":
		// Both at once, as in the grammar: never true.
		if err := p.add(t, less, floor); err != nil {
			return err
		}
		return p.add(t, greaterEqual, ceiling)
	default:
		// The grammar drops an unknown operator.
		return p.add(t, equal, floor)
	}
}

// wildcardFloor returns the version where a wildcard begins: the first .x (two
// of them count as one) is read as .0, and a missing patch is 0.
func wildcardFloor(version string) string {
	before, after, ok := strings.Cut(version, ".x.x")
	if ok {
		version = before + ".x" + after
	}
	if before, after, ok = strings.Cut(version, ".x"); ok {
		version = before + ".0" + after
	}
	if strings.Count(version, ".") == 1 {
		version += ".0"
	}
	return version
}

// wildcardCeiling returns the version before which a wildcard ends, and "" if
// there is no such version.
func wildcardCeiling(version, floor string) string {
	if !strings.HasSuffix(version, ".x") {
		return ""
	}
	raise := strings.Count(version, ".") - 1 // which number of the floor
	if raise > 1 {
		return ""
	}
	numbers := strings.Split(floor, ".")
	n, err := strconv.Atoi(numbers[raise])
	if err != nil {
		return ""
	}
	numbers[raise] = strconv.Itoa(n + 1)
	return strings.Join(numbers, ".")
}

// add appends one comparison to the open alternative.
func (p *parser) add(t token, op operator, version string) error {
	if version == "" {
		return p.fail(t, "the wildcard has no upper end: x must be the second of two components or the third of three", nil)
	}
	v, err := Parse(version)
	if err != nil {
		reason, _, limit := diagnoseVersion(version)
		if limit == nil {
			reason = fmt.Sprintf("%s is not a version: %s", quote(version), reason)
		}
		return p.fail(t, reason, err)
	}
	p.open = append(p.open, comparison{op, v})
	return nil
}

// closeAlternative ends the open alternative at a "||" or at the end of the
// text.
func (p *parser) closeAlternative(at int) error {
	if p.start < 0 {
		return p.emptyError(at)
	}
	text := strings.TrimSpace(p.text[p.start:p.end])
	p.alternatives = append(p.alternatives, alternative{text, p.open})
	p.open, p.start = nil, -1
	return nil
}

func (p *parser) emptyError(at int) error {
	e := &RangeError{Text: p.text, Offset: at}
	switch {
	case at < len(p.text) && len(p.alternatives) == 0:
		e.Reason = `nothing is before "||"`
	case at < len(p.text):
		e.Reason = `nothing is between two "||"`
	case len(p.alternatives) > 0:
		e.Reason = `nothing follows the last "||"`
	default:
		e.Offset = 0
		e.Reason = "no comparison in it"
		e.Hint = hintNothing(strings.TrimSpace(p.text))
	}
	return e
}

func (p *parser) fail(t token, reason string, err error) error {
	return &RangeError{Text: p.text, Offset: t.start, Reason: reason, Hint: hint(t.text), Err: err}
}
