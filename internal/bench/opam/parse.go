package opam

import (
	"fmt"
	"strings"
)

// A node is a value of an opam file, or a part of one.
type node struct {
	// kind is "text", "word" (which is not quoted), "list" of parts, "option" (a
	// value and the condition in braces after it), "not", "?", a relation ("=",
	// ">=", ...) of one part or two, "&" or "|".
	kind  string
	text  string
	parts []*node
}

// parse reads the fields of a file and skips sections.
func parse(text string) (map[string]*node, error) {
	p := &parser{text: text}
	p.next()
	fields := make(map[string]*node)
	for p.kind != "" && p.err == nil {
		name := p.token
		p.take("word")
		if p.kind == ":" {
			p.next()
			fields[name] = p.value()
			continue
		}
		for p.kind == "text" { // the name of a section
			p.next()
		}
		p.section()
	}
	return fields, p.err
}

// A parser reads token by token.
type parser struct {
	text        string
	kind, token string // of the current token; kind is "" at the end
	err         error
}

func (p *parser) fail(what string) {
	if p.err == nil {
		p.err = fmt.Errorf("opam: %s at %q", what, p.token+p.text[:min(len(p.text), 40)])
	}
	p.kind = ""
}

func (p *parser) take(kind string) {
	if p.kind != kind {
		p.fail("want " + kind)
		return
	}
	p.next()
}

// signs are the punctuation tokens, the longer ones first.
var signs = []string{"!=", ">=", "<=", "+=", "=+", ":=", "=:", "[", "]", "(", ")", "{", "}", ":", "&", "|", "!", "?", "=", ">", "<"}

func (p *parser) next() {
	for {
		p.text = strings.TrimLeft(p.text, " \t\r\n")
		switch {
		case strings.HasPrefix(p.text, "#"):
			_, p.text, _ = strings.Cut(p.text, "\n")
			continue
		case strings.HasPrefix(p.text, "(*"):
			_, p.text, _ = strings.Cut(p.text, "*)")
			continue
		}
		break
	}
	if p.text == "" {
		p.kind, p.token = "", ""
		return
	}
	if p.text[0] == '"' {
		p.quoted()
		return
	}
	for _, s := range signs {
		if strings.HasPrefix(p.text, s) {
			p.kind, p.token, p.text = s, s, p.text[len(s):]
			return
		}
	}
	end := strings.IndexFunc(p.text, func(r rune) bool {
		return !strings.ContainsRune("-_+:%{}.", r) && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z') && !(r >= '0' && r <= '9')
	})
	if end < 0 {
		end = len(p.text)
	}
	word := p.text[:end]
	if at := strings.IndexAny(word, "{}"); at >= 0 {
		word = word[:at]
	}
	word = strings.TrimSuffix(word, ":")
	if word == "" {
		p.fail("what is this?")
		return
	}
	p.kind, p.token, p.text = "word", word, p.text[len(word):]
}

func (p *parser) quoted() {
	p.kind = "text"
	end := `"`
	if strings.HasPrefix(p.text, `"""`) {
		end = `"""`
	}
	var out strings.Builder
	for i := len(end); i < len(p.text); i++ {
		if strings.HasPrefix(p.text[i:], end) {
			p.token, p.text = out.String(), p.text[i+len(end):]
			return
		}
		if p.text[i] == '\\' && i+1 < len(p.text) {
			i++
		}
		out.WriteByte(p.text[i])
	}
	p.fail("a text does not end")
}

// section skips what is in braces.
func (p *parser) section() {
	for depth := 0; p.kind != ""; p.next() {
		switch p.kind {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				p.next()
				return
			}
		}
	}
}

// begins reports whether the current token begins a value.
func (p *parser) begins() bool {
	switch p.kind {
	case "text", "word", "[", "(", "!", "?", "=", "!=", ">=", "<=", ">", "<":
		return true
	}
	return false
}

// value reads a formula: "|" binds less than "&".
func (p *parser) value() *node {
	all := []*node{p.both()}
	for p.kind == "|" {
		p.next()
		all = append(all, p.both())
	}
	if len(all) == 1 {
		return all[0]
	}
	return &node{kind: "|", parts: all}
}

func (p *parser) both() *node {
	all := []*node{p.atom()}
	for p.kind == "&" {
		p.next()
		all = append(all, p.atom())
	}
	if len(all) == 1 {
		return all[0]
	}
	return &node{kind: "&", parts: all}
}

func (p *parser) atom() *node {
	n := &node{kind: p.kind, text: p.token}
	switch p.kind {
	case "text", "word":
		p.next()
	case "[":
		p.next()
		for n.kind = "list"; p.begins(); {
			n.parts = append(n.parts, p.value())
		}
		p.take("]")
	case "(":
		p.next()
		n = p.value()
		for p.begins() { // a list of conditions
			n = &node{kind: "&", parts: []*node{n, p.value()}}
		}
		p.take(")")
	case "!", "?":
		p.next()
		n.parts = []*node{p.atom()}
		return n
	case "=", "!=", ">=", "<=", ">", "<":
		p.next()
		n.parts = []*node{p.atom()}
		return n
	default:
		p.fail("want a value")
		return n
	}
	switch p.kind {
	case "=", "!=", ">=", "<=", ">", "<", "+=", "=+", ":=", "=:":
		r := &node{kind: p.kind}
		p.next()
		r.parts = []*node{n, p.atom()}
		return r
	}
	for p.kind == "{" {
		p.next()
		o := &node{kind: "option", parts: []*node{n}}
		if p.kind != "}" {
			o.parts = append(o.parts, p.value())
		}
		p.take("}")
		n = o
	}
	return n
}
