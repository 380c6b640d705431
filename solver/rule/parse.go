package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// ConstraintError reports why a text is not an olm.constraint.
type ConstraintError struct {
	Offset int    // the byte at which the problem begins
	Path   string // where that is in the constraint, such as all.constraints[1].cel; "" at the top
	Reason string // what is wrong there
	Hint   string // what to write instead, or ""
	Err    error  // the *SyntaxError, *fairlead.InputLimitError or JSON error that caused it, or nil
}

// Error returns the message on one line.
func (e *ConstraintError) Error() string {
	var b strings.Builder
	b.WriteString("olm.constraint")
	if e.Path != "" {
		b.WriteString(" at " + e.Path)
	}
	fmt.Fprintf(&b, " (byte %d): %s", e.Offset, e.Reason)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the error that caused this one, or nil.
func (e *ConstraintError) Unwrap() error { return e.Err }

// ParseConstraint is [Compiler.ParseConstraint] for a single constraint.
func ParseConstraint(data []byte, opts *Options) (*Constraint, error) {
	c, err := NewCompiler(opts)
	if err != nil {
		return nil, err
	}
	return c.ParseConstraint(data)
}

// ParseConstraint reads the JSON value of an olm.constraint property:
//
//  1. It is an object with an optional failureMessage and exactly one of
//     gvk {group, version, kind}, package {packageName, versionRange},
//     cel {rule}, and all, any or not {constraints: [...]}.
//  2. Keys are case-insensitive, and null counts as absent, as in
//     encoding/json.
//  3. What a cluster accepts although it is meaningless is an error here:
//     several kinds at once, of which it would see only one; no kind; a key
//     given twice; anything after the object; an empty name.
//
// Errors are [*ConstraintError]. The cost is linear in the length of the data,
// plus a compilation for each distinct rule.
func (c *Compiler) ParseConstraint(data []byte) (*Constraint, error) {
	if len(data) > c.opts.MaxConstraint {
		limit := &fairlead.InputLimitError{What: "size of the constraint in bytes", Size: int64(len(data)), Max: int64(c.opts.MaxConstraint)}
		return nil, &ConstraintError{Offset: c.opts.MaxConstraint, Reason: limit.Error(), Err: limit}
	}
	p := &constraintParser{compiler: c, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	parsed, err := p.constraint("", 1)
	if err != nil {
		return nil, err
	}
	rest := data[p.dec.InputOffset():]
	if garbage := bytes.TrimLeft(rest, " \t\r\n"); len(garbage) > 0 {
		return nil, p.fail(len(data)-len(garbage), "", "something follows the constraint", "remove it", nil)
	}
	return &parsed, nil
}

type constraintParser struct {
	compiler *Compiler
	data     []byte
	dec      *json.Decoder
}

// next returns the offset of the next token.
func (p *constraintParser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	return at
}

func (p *constraintParser) fail(at int, path, reason, hint string, err error) error {
	return &ConstraintError{Offset: at, Path: path, Reason: reason, Hint: hint, Err: err}
}

// token reads one token. An error in the JSON itself is reported with its position.
func (p *constraintParser) token(path string) (json.Token, error) {
	at := p.next()
	tok, err := p.dec.Token()
	if err == nil {
		return tok, nil
	}
	switch {
	case len(bytes.TrimSpace(p.data)) == 0:
		return nil, p.fail(0, path, "no constraint: the value is empty", "", err)
	case at == len(p.data), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, p.fail(len(p.data), path, "the JSON ends too early", "", err)
	}
	return nil, p.fail(at, path, "malformed JSON from here on", "", err)
}

// object reads an object, or null, and calls member with each key, spelled as
// in keys, and its offset. It reports whether there was an object.
func (p *constraintParser) object(path string, keys []string, member func(key string, at int) error) (bool, error) {
	start := p.next()
	tok, err := p.token(path)
	if err != nil || tok == nil {
		return false, err
	}
	if tok != json.Delim('{') {
		return false, p.fail(start, path, "want an object, got "+describe(tok), "", nil)
	}
	seen := map[string]bool{}
	for p.dec.More() {
		at := p.next()
		tok, err := p.token(path)
		if err != nil {
			return false, err
		}
		written := tok.(string) // the decoder accepts nothing else as a key
		key, ok := matchKey(written, keys)
		if !ok {
			return false, p.fail(at, path, fmt.Sprintf("unknown key %q", written), keyHint(written, keys), nil)
		}
		if seen[key] {
			return false, p.fail(at, path, fmt.Sprintf("the key %q is given twice", key), "", nil)
		}
		seen[key] = true
		if err := member(key, at); err != nil {
			return false, err
		}
	}
	_, err = p.token(path)
	return true, err
}

// text reads a string; null reads "".
func (p *constraintParser) text(path string) (string, error) {
	at := p.next()
	tok, err := p.token(path)
	if err != nil {
		return "", err
	}
	switch s := tok.(type) {
	case string:
		return s, nil
	case nil:
		return "", nil
	}
	return "", p.fail(at, path, "want a string, got "+describe(tok), "", nil)
}

var (
	kindKeys       = []string{"gvk", "package", "cel", "all", "any", "not"}
	constraintKeys = append([]string{"failureMessage"}, kindKeys...)
)

func (p *constraintParser) constraint(path string, depth int) (Constraint, error) {
	var c Constraint
	var kinds []string
	start := p.next()
	if depth > MaxDepth {
		limit := &fairlead.InputLimitError{What: "nesting depth of the constraint", Size: int64(depth), Max: MaxDepth}
		return c, p.fail(start, "", limit.Error(), "", limit)
	}
	_, err := p.object(path, constraintKeys, func(key string, at int) error {
		inner := words.Field(path, key)
		if key == "failureMessage" {
			var err error
			c.FailureMessage, err = p.text(inner)
			return err
		}
		present, err := p.kind(&c, key, inner, depth)
		if present {
			kinds = append(kinds, key)
		}
		if len(kinds) > 1 {
			return p.fail(at, path, fmt.Sprintf("both %s and %s at once", kinds[0], kinds[1]),
				"put them under all, or split them into two constraints", nil)
		}
		return err
	})
	if err == nil && len(kinds) == 0 {
		err = p.fail(start, path, "the constraint is empty", "give one of "+strings.Join(kindKeys, ", "), nil)
	}
	return c, err
}

// kind reads the value under the key of a kind, and reports whether it was
// there (null is not).
func (p *constraintParser) kind(c *Constraint, key, path string, depth int) (present bool, err error) {
	switch key {
	case "gvk":
		c.GVK, err = p.gvk(path)
		return c.GVK != nil, err
	case "package":
		c.Package, err = p.packageRequirement(path)
		return c.Package != nil, err
	case "cel":
		c.CEL, err = p.cel(path)
		return c.CEL != nil, err
	}
	group, err := p.group(path, depth)
	switch key {
	case "all":
		c.All = group
	case "any":
		c.Any = group
	default:
		c.Not = group
	}
	return group != nil, err
}

func (p *constraintParser) gvk(path string) (*GVK, error) {
	var gvk GVK
	start := p.next()
	present, err := p.object(path, []string{"group", "version", "kind"}, func(key string, _ int) (err error) {
		switch key {
		case "group":
			gvk.Group, err = p.text(words.Field(path, key))
		case "version":
			gvk.Version, err = p.text(words.Field(path, key))
		default:
			gvk.Kind, err = p.text(words.Field(path, key))
		}
		return err
	})
	if err != nil || !present {
		return nil, err
	}
	if gvk.Kind == "" {
		return nil, p.fail(start, path, "no kind", `give "kind"`, nil)
	}
	if gvk.Version == "" {
		return nil, p.fail(start, path, "no version", `give "version"`, nil)
	}
	return &gvk, nil
}

func (p *constraintParser) packageRequirement(path string) (*PackageRequirement, error) {
	var req PackageRequirement
	start, rangeAt := p.next(), 0
	present, err := p.object(path, []string{"packageName", "versionRange"}, func(key string, _ int) (err error) {
		if key == "packageName" {
			req.PackageName, err = p.text(words.Field(path, key))
			return err
		}
		rangeAt = p.next()
		req.VersionRange, err = p.text(words.Field(path, key))
		return err
	})
	if err != nil || !present {
		return nil, err
	}
	if req.PackageName == "" {
		return nil, p.fail(start, path, "no package name", `give "packageName"`, nil)
	}
	if req.VersionRange == "" {
		return nil, p.fail(start, path, "no version range", `give "versionRange"; ">=0.0.0-0" is any version`, nil)
	}
	if req.parsed, err = semverx.ParseRange(req.VersionRange); err != nil {
		return nil, p.fail(rangeAt, words.Field(path, "versionRange"), err.Error(), "", err)
	}
	return &req, nil
}

func (p *constraintParser) cel(path string) (*Rule, error) {
	var src string
	start, ruleAt := p.next(), -1
	present, err := p.object(path, []string{"rule"}, func(key string, _ int) (err error) {
		ruleAt = p.next()
		src, err = p.text(words.Field(path, key))
		return err
	})
	if err != nil || !present {
		return nil, err
	}
	if ruleAt < 0 {
		return nil, p.fail(start, path, "no rule", `give "rule"`, nil)
	}
	rule, err := p.compiler.Compile(src)
	if err != nil {
		return nil, p.fail(ruleAt, words.Field(path, "rule"), err.Error(), "", err)
	}
	return rule, nil
}

// group reads {constraints: [...]}; it returns nil for null, and a non-nil
// slice if empty.
func (p *constraintParser) group(path string, depth int) ([]Constraint, error) {
	list := words.Field(path, "constraints")
	group := []Constraint{}
	present, err := p.object(path, []string{"constraints"}, func(string, int) error {
		start := p.next()
		tok, err := p.token(list)
		if err != nil || tok == nil {
			return err
		}
		if tok != json.Delim('[') {
			return p.fail(start, list, "want a list, got "+describe(tok), "", nil)
		}
		for p.dec.More() {
			c, err := p.constraint(fmt.Sprintf("%s[%d]", list, len(group)), depth+1)
			if err != nil {
				return err
			}
			group = append(group, c)
		}
		_, err = p.token(list)
		return err
	})
	if err != nil || !present {
		return nil, err
	}
	return group, nil
}

func describe(tok json.Token) string {
	switch v := tok.(type) {
	case json.Delim:
		if v == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a string"
	case bool:
		return "a bool"
	case json.Number:
		return "a number"
	}
	return "null"
}

// matchKey returns the key that matches what is written, ignoring case.
func matchKey(written string, keys []string) (string, bool) {
	for _, key := range keys {
		if strings.EqualFold(key, written) {
			return key, true
		}
	}
	return "", false
}

// keyHint suggests what an unknown key may mean.
func keyHint(written string, keys []string) string {
	meant := map[string]string{
		"name": "packageName", "package": "packageName", "version": "versionRange", "range": "versionRange",
		"message": "failureMessage", "none": "not", "or": "any", "and": "all", "constraint": "constraints",
		"expression": "rule", "apiVersion": "version",
	}[written]
	if _, ok := matchKey(meant, keys); ok {
		return fmt.Sprintf("write %q", meant)
	}
	return "the keys here are " + strings.Join(keys, ", ")
}
