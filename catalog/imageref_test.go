package catalog_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

var (
	sha256 = strings.Repeat("0123456789abcdef", 4)
	sha512 = sha256 + sha256
)

func TestParseImageRef(t *testing.T) {
	for in, want := range map[string]string{
		"etcd":                         "docker.io/library/etcd",
		"etcd:3.5":                     "docker.io/library/etcd:3.5",
		"a/b":                          "docker.io/a/b",
		"index.docker.io/etcd":         "docker.io/library/etcd",
		"docker.io/etcd":               "docker.io/library/etcd",
		"localhost/etcd":               "localhost/etcd",
		"localhost:5000/etcd":          "localhost:5000/etcd",
		"Host.Example:5000/etcd:V_1.-": "Host.Example:5000/etcd:V_1.-",
		"quay.io/a--b/c__d/e.f_g@sha256:" + sha256: "quay.io/a--b/c__d/e.f_g@sha256:" + sha256,
		"quay.io/a:t@sha512:" + sha512:             "quay.io/a:t@sha512:" + sha512,
		"127.0.0.1/x":                              "127.0.0.1/x",
		"x.y_z/a":                                  "x.y_z/a",
	} {
		ref, err := catalog.ParseImageRef(in)
		if err != nil || ref.String() != want || ref.Pinned() != strings.Contains(in, "@") {
			t.Errorf("%s: %v %v", in, ref, err)
		}
		if again, err := catalog.ParseImageRef(ref.String()); err != nil || again != ref {
			t.Errorf("%s is not %s again: %v", ref, in, err)
		}
	}
	for in, want := range map[string]string{
		"":                                      "an empty component in the repository path",
		sha256:                                  "64 hex digits are an image ID",
		"quay.io/A":                             `the repository path "A" has upper-case letters`,
		"quay.io/a/":                            "an empty component",
		"quay.io//a":                            "an empty component",
		"/a":                                    "an empty component",
		"quay.io:/a":                            `the registry "quay.io:" is not a host name`,
		"-a.io/a":                               "is not a host name",
		"quay.io/a..b":                          `the repository path component "a..b" is malformed`,
		"quay.io/a___b":                         "is malformed",
		"quay.io/a.-b":                          "is malformed",
		"quay.io/-a":                            "is malformed",
		"quay.io/a-":                            "is malformed",
		"quay.io/a:":                            `the tag "" is malformed`,
		"quay.io/a:.t":                          "the tag",
		"quay.io/a:" + strings.Repeat("t", 129): "the tag",
		"quay.io/a@":                            `the digest "" is malformed`,
		"quay.io/a@sha256:00":                   "is malformed",
		"quay.io/a@sha256:" + sha512:            "the sha256 digest has 128 hex digits instead of 64",
		"quay.io/a:t@sha256:" + strings.ToUpper(sha256): "upper-case hex digits",
		"quay.io/a@md5:" + sha256:                       `unknown digest algorithm "md5"`,
		"quay.io/a@a-:" + sha256:                        "is malformed",
		"quay.io/a@-a:" + sha256:                        "is malformed",
		"quay.io/a@a--b:" + sha256:                      "is malformed",
		"quay.io/a@a.b+c:" + sha256:                     "unknown digest algorithm",
		"a b":                                           "is malformed",
		"quay.io/" + strings.Repeat("a", 250):           "more than 255 characters",
		"Foo_bar.x/y":                                   "is not a host name",
	} {
		_, err := catalog.ParseImageRef(in)
		var bad *catalog.ImageRefError
		if !errors.As(err, &bad) || !strings.Contains(bad.Reason, want) || bad.Hint == "" || bad.Ref != in {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestImageRefLength(t *testing.T) {
	name := "quay.io/" + strings.Repeat("a", 255-len("quay.io/"))
	if _, err := catalog.ParseImageRef(name); err != nil {
		t.Errorf("255 characters: %v", err)
	}
	if _, err := catalog.ParseImageRef(name + "a"); err == nil {
		t.Error("256 characters are taken")
	}
}

// The grammar as expressions, as the reference libraries have it.
var (
	hostPattern = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?`
	partPattern = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	refPattern  = regexp.MustCompile(`^((?:` + hostPattern + `/)?` + partPattern + `(?:/` + partPattern + `)*)(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)
	digests     = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`)
	identifier  = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// valid judges a reference by the expressions.
func valid(s string) bool {
	domain, rest := "docker.io", s
	if i := strings.IndexByte(s, '/'); i >= 0 && (strings.ContainsAny(s[:i], ".:") || s[:i] == "localhost") {
		if domain, rest = s[:i], s[i+1:]; domain == "index.docker.io" {
			domain = "docker.io"
		}
	}
	if domain == "docker.io" && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	path, _, _ := strings.Cut(rest, ":")
	m := refPattern.FindStringSubmatch(domain + "/" + rest)
	return !identifier.MatchString(s) && strings.ToLower(path) == path && m != nil && len(m[1]) <= 255 && (m[3] == "" || digests.MatchString(m[3]))
}

var refParts = []string{"a", "b1", "A", "quay.io", "localhost", "docker.io", "index.docker.io", "/", "/", "/", ":", ":", "@", ".", "_", "__", "-", "--", "5000", "sha256:", "sha512:", "md5:", "SHA256:", "sha256+b64:", "é", "[::1]", "x_y", sha256, sha256[:32], strings.ToUpper(sha256), "latest", " ", "library", strings.Repeat("n", 100)}

// TestImageRefByExpressions compares the parser with the expressions.
func TestImageRefByExpressions(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	good := 0
	for range long.N(10_000, 5_000_000) {
		s := ""
		for range 1 + r.IntN(8) {
			s += refParts[r.IntN(len(refParts))]
		}
		_, err := catalog.ParseImageRef(s)
		if (err == nil) != valid(s) {
			t.Fatalf("%q: %v", s, err)
		}
		if err == nil {
			good++
		}
	}
	if good < 500 {
		t.Errorf("only %d were good", good)
	}
}

func FuzzParseImageRef(f *testing.F) {
	for _, s := range refParts {
		f.Add("quay.io/" + s)
	}
	f.Add("quay.io/a:t@sha256:" + sha256)
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := catalog.ParseImageRef(s)
		if (err == nil) != valid(s) {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil {
			return
		}
		if again, err := catalog.ParseImageRef(ref.String()); err != nil || again != ref {
			t.Fatalf("%q: %v, again %v, %v", s, ref, again, err)
		}
	})
}
