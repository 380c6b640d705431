package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
)

// bomb returns YAML whose aliases stand for n to the depth values.
func bomb(depth, n int) string {
	var out strings.Builder
	out.WriteString("schema: a\nb0: &b0 [x]\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&out, "b%d: &b%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*b%d,", i-1), n), ","))
	}
	return out.String()
}

// Every kind of hostile input is a finding or a typed limit, and never takes
// memory or time without bound.
func TestHostileInput(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code catalog.Code
		what string // part of the limit's name, for limits
	}{
		"truncated JSON":             {`{"schema":"olm.package","name":"x`, catalog.CodeSyntax, ""},
		"truncated YAML":             {"schema: olm.package\nname: \"x", catalog.CodeSyntax, ""},
		"deep JSON":                  {`{"schema":"a","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", catalog.CodeLimit, "depth"},
		"deep JSON never closed":     {strings.Repeat(`{"a":`, 3_000_000), catalog.CodeLimit, "depth"},
		"deep YAML":                  {"schema: a\nx: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), catalog.CodeLimit, "depth"},
		"deeper than the parser":     {"schema: a\nx: " + strings.Repeat("[", 20_000), catalog.CodeLimit, "depth"},
		"deep block YAML":            {"schema: a\nx:\n " + strings.Repeat("- ", 5000) + "x", catalog.CodeLimit, "depth"},
		"billion laughs":             {bomb(9, 10), catalog.CodeLimit, "number of values"},
		"quadratic blowup":           {"schema: a\na: &a \"" + strings.Repeat("x", 100_000) + "\"\nb: [" + strings.Repeat("*a,", 10_000) + "]", catalog.CodeLimit, "aliases repeat"},
		"alias to itself":            {"schema: a\nx: &x [*x]", catalog.CodeYAML, ""},
		"merge of itself":            {"schema: a\nx: &x\n  <<: *x", catalog.CodeYAML, ""},
		"merge of a text":            {"schema: a\nx:\n  <<: y", catalog.CodeYAML, ""},
		"many small values":          {"schema: a\nx: [" + strings.Repeat("1,", 2_000_000) + "]", catalog.CodeLimit, "number of values"},
		"large JSON":                 {`{"schema":"` + strings.Repeat("x", 17<<20) + `"}`, catalog.CodeLimit, "document size"},
		"large YAML":                 {"schema: |\n" + strings.Repeat("  text\n", 3<<20), catalog.CodeLimit, "document size"},
		"duplicate key by folding":   {`{"schema":"a","SCHEMA":"b"}`, catalog.CodeDuplicateKey, ""},
		"invalid UTF-8 in JSON":      {"{\"schema\":\"\xff\"}", catalog.CodeEncoding, ""},
		"invalid UTF-8 in YAML":      {"schema: \xff", catalog.CodeEncoding, ""},
		"UTF-16":                     {"\xfe\xff\x00s", catalog.CodeEncoding, ""},
		"a program":                  {"\x7fELF\x02\x01\x01\x00\x00", catalog.CodeEncoding, ""},
		"a picture":                  {"\x89PNG\r\n\x1a\n", catalog.CodeEncoding, ""},
		"a list":                     {"- schema: a", catalog.CodeNotObject, ""},
		"a number":                   {"17", catalog.CodeNotObject, ""},
		"a text":                     {"License: ask us\nand: others\n\nhello", catalog.CodeSyntax, ""},
		"no schema":                  {"name: x", catalog.CodeNoSchema, ""},
		"wrong type":                 {`{"schema":"olm.bundle","name":"b","properties":{}}`, catalog.CodeType, ""},
		"tab":                        {"schema: a\nx:\n\t- y", catalog.CodeSyntax, ""},
		"no number of JSON":          {"schema: a\nx: .nan", catalog.CodeYAML, ""},
		"key that is a list":         {"schema: a\n? [x]\n: y", catalog.CodeYAML, ""},
		"undefined alias":            {"schema: a\nx: *y", catalog.CodeSyntax, ""},
		"document within a document": {"schema: a\n{schema: b}", catalog.CodeSyntax, ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			cat, err := open(t, map[string]string{"bad": c.text, "good.json": `{"schema":"olm.package","name":"good"}`})
			var all catalog.Diagnostics
			if !errors.As(err, &all) || all[0].Code != c.code || all[0].Pos.File != "bad" || all[0].Pos.Line < 1 || all[0].Pos.Column < 1 {
				t.Fatalf("%v", err)
			}
			var limit *catalog.LimitError
			if c.what != "" && (!errors.As(err, &limit) || !strings.Contains(limit.What, c.what)) {
				t.Errorf("%v is no limit of the %s", err, c.what)
			}
			if _, ok := cat.Package("good"); !ok {
				t.Error("the other file is not read")
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// huge is a file system with one file of a gigabyte, made as it is read.
type huge struct {
	start, repeat string
	read          *int64
}

const hugeSize = 1 << 30

func (h huge) Open(name string) (fs.File, error) {
	if name == "." {
		return fstest.MapFS{"huge": {}}.Open(".")
	}
	return &hugeFile{huge: h, left: hugeSize}, nil
}

func (h huge) ReadDir(string) ([]fs.DirEntry, error) {
	return []fs.DirEntry{fs.FileInfoToDirEntry(hugeInfo{})}, nil
}

type hugeInfo struct{}

func (hugeInfo) Name() string       { return "huge" }
func (hugeInfo) Size() int64        { return hugeSize }
func (hugeInfo) Mode() fs.FileMode  { return 0o444 }
func (hugeInfo) ModTime() time.Time { return time.Unix(1, 0) }
func (hugeInfo) IsDir() bool        { return false }
func (hugeInfo) Sys() any           { return nil }

type hugeFile struct {
	huge
	left, at int64
}

func (f *hugeFile) Stat() (fs.FileInfo, error) { return hugeInfo{}, nil }
func (f *hugeFile) Close() error               { return nil }

func (f *hugeFile) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), f.left)], f.start[min(f.at, int64(len(f.start))):])
	for n < len(p) && int64(n) < f.left {
		n += copy(p[n:min(int64(len(p)), f.left)], f.repeat)
	}
	f.left -= int64(n)
	f.at += int64(n)
	*f.read += int64(n)
	return n, nil
}

// Of a document of a gigabyte no more is read than the limit allows.
func TestHugeDocument(t *testing.T) {
	for _, start := range []string{`{"schema":"a","x":"`, "schema: a\nx: |\n  "} {
		var read int64
		_, err := catalog.Open(context.Background(), huge{start, "all work and no play ", &read}, nil)
		var limit *catalog.LimitError
		if !errors.As(err, &limit) || limit.Max != 16<<20 || read > 40<<20 {
			t.Errorf("%v after %d bytes", err, read)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":"olm.bundle","name":"b","package":"p","properties":[{"type":"olm.package","value":{"version":"1.0.0"}}]}`))
	f.Add([]byte("schema: olm.channel\nentries:\n- name: a\n  skips: [b]\n"))
	f.Add([]byte("schema: olm.deprecations\nentries:\n- reference: {schema: olm.bundle}\n"))
	f.Add([]byte(bomb(3, 3)))
	f.Fuzz(func(t *testing.T, text []byte) {
		opts := &catalog.Options{MaxDocumentSize: 1 << 16, MaxDepth: 50, MaxYAMLNodes: 10_000}
		for d, err := range catalog.Decode(strings.NewReader(string(text)), opts) {
			if (d == nil) == (err == nil) {
				t.Fatalf("%v and %v", d, err)
			}
			if err != nil {
				var finding *catalog.Diagnostic
				if !errors.As(err, &finding) || finding.Message == "" || finding.Code == "" {
					t.Fatalf("%#v", err)
				}
				continue
			}
			if d.Schema() == "" {
				t.Fatal("a document without schema")
			}
			if _, err := d.JSON(); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Properties(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
