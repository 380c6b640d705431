package cudf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A SyntaxError reports text that is not a CUDF document.
type SyntaxError struct {
	Line int    // from 1
	What string // what is wrong, and how to fix it
}

// Error reports what is wrong, and in which line.
func (e *SyntaxError) Error() string { return fmt.Sprintf("cudf: line %d: %s", e.Line, e.What) }

// maxLine is the maximum length of a line, in bytes.
const maxLine = 1 << 24

// Read reads a document: an optional preamble, packages, and a request, which
// may be missing. Unknown properties are skipped, except for integer properties
// of packages, which are kept. The error is [*SyntaxError] or that of r.
func Read(r io.Reader) (*Document, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	d := &reader{doc: &Document{}, seen: make(map[string]bool)}
	for lines.Scan() {
		if err := d.read(lines.Text()); err != nil {
			return nil, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		d.line++
		return nil, d.wrong("the line is longer than %d bytes", maxLine)
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	return d.doc, nil
}

type reader struct {
	doc      *Document
	line     int
	property string // the current line, with those that continue it
	at       int    // where it begins
	stanza   string // "", "preamble", "package" or "request"
	pkg      Package
	version  bool            // the package has one
	request  bool            // there was one
	given    []string        // the properties of the stanza
	seen     map[string]bool // packages with their versions
}

func (d *reader) wrong(format string, args ...any) *SyntaxError {
	return &SyntaxError{d.line, fmt.Sprintf(format, args...)}
}

// read takes one line: a property may continue on lines that begin with a
// space.
func (d *reader) read(text string) error {
	d.line++
	switch {
	case strings.HasPrefix(text, "#"):
		return nil
	case strings.HasPrefix(text, " ") && d.property != "" && strings.TrimSpace(text) != "":
		d.property += text
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return d.end()
	}
	d.property, d.at = text, d.line
	return nil
}

// flush reads the current property.
func (d *reader) flush() error {
	if d.property == "" {
		return nil
	}
	line := d.line
	d.line = d.at
	defer func() { d.line = line }()
	key, value, ok := strings.Cut(d.property, ":")
	d.property = ""
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case !ok || key == "":
		return d.wrong(`no property: write "name: value"`)
	case d.stanza == "":
		return d.begin(key, value)
	case slices.Contains(d.given, key):
		return d.wrong("%s is given twice", key)
	}
	d.given = append(d.given, key)
	switch d.stanza {
	case "package":
		return d.packageProperty(key, value)
	case "request":
		return d.requestProperty(key, value)
	}
	return nil
}

func (d *reader) begin(key, value string) error {
	d.given = append(d.given[:0], key)
	switch key {
	case "package":
		if value == "" {
			return d.wrong("the package has no name")
		}
		d.pkg, d.version = Package{Name: value}, false
	case "request":
		if d.request {
			return d.wrong("a second request")
		}
		d.request = true
	case "preamble":
	default:
		return d.wrong(`%s does not begin a paragraph: begin with "preamble", "package" or "request"`, key)
	}
	d.stanza = key
	return nil
}

// end ends a paragraph.
func (d *reader) end() error {
	if err := d.flush(); err != nil {
		return err
	}
	if d.stanza == "package" {
		if !d.version {
			return d.wrong("package %s has no version", d.pkg.Name)
		}
		key := fmt.Sprintf("%s %d", d.pkg.Name, d.pkg.Version)
		if d.seen[key] {
			return d.wrong("package %s is there twice", key)
		}
		d.seen[key] = true
		d.doc.Packages = append(d.doc.Packages, d.pkg)
	}
	d.stanza = ""
	return nil
}

func (d *reader) packageProperty(key, value string) (err error) {
	p := &d.pkg
	switch key {
	case "version":
		d.version = true
		p.Version, err = d.positive(value)
	case "depends":
		p.Depends, err = d.formula(value)
	case "recommends":
		p.Recommends, err = d.formula(value)
	case "conflicts":
		p.Conflicts, err = d.list(value)
	case "provides":
		p.Provides, err = d.list(value)
		for _, r := range p.Provides {
			if err == nil && r.Op != "" && r.Op != "=" {
				err = d.wrong("%s is provided: only \"=\" can be", r)
			}
		}
	case "installed":
		if p.Installed = value == "true"; !p.Installed && value != "false" {
			err = d.wrong("installed is true or false, not %q", value)
		}
	case "keep":
		at := slices.Index(keeps[:], value)
		if at < 0 {
			return d.wrong("keep is none, version, package or feature, not %q", value)
		}
		p.Keep = Keep(at)
	default:
		if n, bad := strconv.ParseInt(value, 10, 64); bad == nil {
			if p.Numbers == nil {
				p.Numbers = make(map[string]int64)
			}
			p.Numbers[key] = n
		}
	}
	return err
}

func (d *reader) requestProperty(key, value string) (err error) {
	r := &d.doc.Request
	switch key {
	case "install":
		r.Install, err = d.list(value)
	case "remove":
		r.Remove, err = d.list(value)
	case "upgrade":
		r.Upgrade, err = d.list(value)
	}
	return err
}

func (d *reader) positive(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, d.wrong("version %q: it is an integer from 1", value)
	}
	return n, nil
}

// formula reads clauses. A clause with "true!" is always met, and "false!"
// meets none.
func (d *reader) formula(text string) ([]Clause, error) {
	if text == "" {
		return nil, nil
	}
	var all []Clause
	for part := range strings.SplitSeq(text, ",") {
		clause, met := Clause{}, false
		for alternative := range strings.SplitSeq(part, "|") {
			switch word := strings.TrimSpace(alternative); word {
			case "true!":
				met = true
			case "false!":
			default:
				r, err := d.relation(word)
				if err != nil {
					return nil, err
				}
				clause = append(clause, r)
			}
		}
		if !met {
			all = append(all, clause)
		}
	}
	return all, nil
}

func (d *reader) list(text string) ([]Relation, error) {
	if text == "" {
		return nil, nil
	}
	var all []Relation
	for item := range strings.SplitSeq(text, ",") {
		r, err := d.relation(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (d *reader) relation(text string) (Relation, error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		if text == "" || strings.ContainsAny(text, " \t") {
			return Relation{}, d.wrong("%q is not a package, nor a package with a version", text)
		}
		return Relation{Name: text}, nil
	}
	name, rest := strings.TrimSpace(text[:at]), text[at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("<>=!", c) })
	if end < 0 {
		end = len(rest)
	}
	op := rest[:end]
	if name == "" || strings.ContainsAny(name, " \t") || !slices.Contains([]string{"=", "!=", ">", ">=", "<", "<="}, op) {
		return Relation{}, d.wrong("%q is not a package with a version: write \"name >= 2\"", text)
	}
	version, err := d.positive(strings.TrimSpace(rest[end:]))
	return Relation{Name: name, Op: op, Version: version}, err
}
