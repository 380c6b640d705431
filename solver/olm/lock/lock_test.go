package lock_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/lock"
)

// shop is a catalog with a web shop, which needs a database.
const shop = `
{"schema":"olm.package","name":"shop","defaultChannel":"stable","description":"a shop"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v2.0.0","replaces":"shop.v1.0.0"},{"name":"shop.v1.0.0"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v2.0.0","image":"example.com/shop:2","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"2.0.0"}},
  {"type":"olm.package.required","value":{"packageName":"database","versionRange":">=4.0.0"}}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.0","image":"example.com/shop:1","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"1.0.0"}}]}
{"schema":"olm.package","name":"database","defaultChannel":"stable"}
{"schema":"olm.channel","package":"database","name":"stable","entries":[{"name":"database.v4.2.0"}]}
{"schema":"olm.bundle","package":"database","name":"database.v4.2.0","image":"example.com/database:4.2","properties":[
  {"type":"olm.package","value":{"packageName":"database","version":"4.2.0"}}]}
`

func open(t testing.TB, text string, opts *olm.Options) *olm.Resolver {
	t.Helper()
	held, err := catalog.Open(context.Background(), fstest.MapFS{"c.json": {Data: []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c", Namespace: "ns"}, Catalog: held}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func request(t testing.TB, r *olm.Resolver, installed ...string) *olm.Request {
	t.Helper()
	req, err := r.Request("ns", &olm.Case{Subscriptions: []string{"shop/stable", "database"}, Installed: installed})
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func newLock(t testing.TB, r *olm.Resolver, req *olm.Request) *lock.Lock {
	t.Helper()
	l, err := lock.New(context.Background(), r, req)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRoundTrip writes, reads and writes a lock. Equal inputs give equal bytes in
// any order, and what resolution does not see does not count.
func TestRoundTrip(t *testing.T) {
	r := open(t, shop, nil)
	req := request(t, r, "shop.v1.0.0", "database.v4.2.0")
	text := newLock(t, r, req).Format()
	l, err := lock.Parse("lock.json", text)
	if err != nil {
		t.Fatal(err)
	}
	if again := l.Format(); !bytes.Equal(text, again) {
		t.Errorf("got %s, want %s", again, text)
	}
	if err := l.Verify(context.Background(), r, req); err != nil {
		t.Error(err)
	}
	slices.Reverse(req.Subscriptions)
	slices.Reverse(req.Installed)
	other := open(t, strings.ReplaceAll(strings.ReplaceAll(shop, "a shop", "another"), `":`, `": `), nil)
	if again := newLock(t, other, req).Format(); !bytes.Equal(text, again) {
		t.Errorf("got %s, want %s", again, text)
	}
}

// TestVerify changes one input at a time.
func TestVerify(t *testing.T) {
	r := open(t, shop, nil)
	installed := request(t, r, "shop.v1.0.0", "database.v4.2.0")
	tests := []struct {
		name   string
		text   string
		change func(req *olm.Request)
		answer bool
		want   string
	}{
		{"nothing", shop, func(*olm.Request) {}, false, ""},
		{"an image", strings.Replace(shop, "shop:1", "shop:1a", 1), func(*olm.Request) {}, false, "catalog ns/c: its content differs"},
		{"the image chosen", strings.Replace(shop, "shop:2", "shop:2a", 1), func(*olm.Request) {}, true,
			"catalog ns/c: its content differs; chosen shop: image was \"example.com/shop:2\", is \"example.com/shop:2a\"; chosen shop: its content differs"},
		{"an edge", strings.Replace(shop, `,"replaces":"shop.v1.0.0"`, `,"skips":["shop.v1.0.0"]`, 1), func(*olm.Request) {}, false, "catalog ns/c: its content differs"},
		{"a property", strings.Replace(shop, ">=4.0.0", ">=4.1.0", 1), func(*olm.Request) {}, true,
			"catalog ns/c: its content differs; chosen shop: its content differs"},
		{"no update", strings.Replace(shop, `,"replaces":"shop.v1.0.0"},{"name":"shop.v1.0.0"}`, `}`, 1), func(*olm.Request) {}, true,
			`catalog ns/c: its content differs; chosen shop: gone: shop.v2.0.0; served shop: operator was "shop.v2.0.0", is "shop.v1.0.0"`},
		{"a channel", shop, func(req *olm.Request) { req.Subscriptions[1].Spec.Channel = "stable" }, false, `subscription database: channel was "", is "stable"`},
		{"one subscription less", shop, func(req *olm.Request) { req.Subscriptions = req.Subscriptions[:1] }, true,
			"subscription database: gone: package database; served database: gone: database.v4.2.0"},
		{"nothing installed", shop, func(req *olm.Request) {
			req.Installed, req.Subscriptions[1].Status.InstalledCSV = req.Installed[:1], ""
		}, true,
			`subscription database: installedCSV was "database.v4.2.0", is ""; installed database.v4.2.0: gone: database.v4.2.0; chosen database: new: database.v4.2.0`},
		{"another CSV", shop, func(req *olm.Request) { req.Installed[1].Spec.Version = "4.2.1" }, false, "installed database.v4.2.0: its content differs"},
		{"a group", shop, func(req *olm.Request) {
			req.Group = &olm.OperatorGroup{}
			req.Group.Spec.UpgradeStrategy = olm.UpgradeFailForward
		}, false, `group: failsForward was "false", is "true"`},
		{"a copy", shop, func(req *olm.Request) {
			req.Installed = append(req.Installed, olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: "x.v1", Namespace: "ns"}, Status: olm.CSVStatus{Reason: olm.ReasonCopied}})
		}, false, ""},
		{"another namespace", shop, func(req *olm.Request) {
			req.Namespace = "other"
			for i := range req.Subscriptions {
				req.Subscriptions[i].Namespace = "other"
			}
			for i := range req.Installed {
				req.Installed[i].Namespace = "other"
			}
		}, false, `namespace: name was "ns", is "other"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts := &olm.Options{GlobalNamespace: "ns"}
			l := newLock(t, open(t, shop, opts), installed)
			req := *installed
			req.Subscriptions, req.Installed = slices.Clone(req.Subscriptions), slices.Clone(req.Installed)
			test.change(&req)
			err := l.Verify(context.Background(), open(t, test.text, opts), &req)
			var mismatch *lock.MismatchError
			if !errors.As(err, &mismatch) {
				if err != nil || test.want != "" {
					t.Fatalf("got %v, want %s", err, test.want)
				}
				return
			}
			var lines []string
			for _, d := range mismatch.Differences {
				lines = append(lines, d.String())
			}
			if got := strings.Join(lines, "; "); got != test.want || mismatch.Answer() != test.answer {
				t.Errorf("got %s (answer %v)\nwant %s (answer %v)", got, mismatch.Answer(), test.want, test.answer)
			}
		})
	}
}

// TestVerifyUnsatisfiable: the error says why nothing can be chosen any more.
func TestVerifyUnsatisfiable(t *testing.T) {
	r := open(t, shop, nil)
	req := request(t, r)
	l := newLock(t, r, req)
	req.Subscriptions[0].Spec.Channel = "none"
	err := l.Verify(context.Background(), r, req)
	var unsat *olm.UnsatError
	if !errors.As(err, &unsat) {
		t.Errorf("got %v, want *olm.UnsatError", err)
	}
}

// TestOrder: it is a difference if two catalogs, or two subscriptions, swap places.
func TestOrder(t *testing.T) {
	r := open(t, shop, &olm.Options{KeepOrder: true})
	req := request(t, r)
	l := newLock(t, r, req)
	slices.Reverse(req.Subscriptions)
	var mismatch *lock.MismatchError
	if err := l.Verify(context.Background(), r, req); !errors.As(err, &mismatch) {
		t.Fatal(err)
	}
	want := "[subscription order: was shop, database, is database, shop served order: was shop, database, is database, shop]"
	if got := fmt.Sprint(mismatch.Differences); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestParseErrors changes a valid text in one place.
func TestParseErrors(t *testing.T) {
	r := open(t, shop, nil)
	good := string(newLock(t, r, request(t, r)).Format())
	tests := []struct{ old, new, want string }{
		{good, "", "f: the file is empty: write the lock again"},
		{"{\n", "[\n", "f:1:1: not a lock: it does not begin with {"},
		{`"lockVersion": 1`, `"lockVersion": 2`, "f:2:3: lockVersion is 2; this program reads version 1: write the lock again, or use a program that knows its version"},
		{`"lockVersion": 1`, `"lockVersion": "1"`, `f:2:3: lockVersion is "1"; this program reads version 1`},
		{"  \"lockVersion\": 1,\n", "", "f:1:1: there is no lockVersion; this program reads version 1"},
		{`"namespace": "ns",`, `"namespace": 5,`, "f:3:3: namespace is a number, not a string"},
		{`"namespace"`, `"nameSpace"`, "f:3:3: there is no field nameSpace; write namespace"},
		{`"priority": 0`, `"priority": 1.5`, "f:10:9: inputs.catalogs[0].priority is a number"},
		{`"priority": 0`, `"priority": 1`, "f:5:5: the digest does not match the inputs: they were edited manually; write the lock again"},
		{`"name": "shop"`, `"name": "shop`, "f:"},
		{`"served": [`, `"served":  [`, "f:"},
		{"\n}\n", "\n}\n{}\n", "f:79:1: something follows the lock: remove it"},
		{"\n}\n", "\n}", "f:78:1: this line is not in the form that locks are written in"},
		{`"subscription": "shop"`, `"subscription": "database"`, "database is listed twice in answer.served: write the lock again"},
		{`"namespace": "ns",`, `"namespace": "ns", "namespace": "ns",`, "f:"},
	}
	for _, test := range tests {
		if !strings.Contains(good, test.old) {
			t.Fatalf("the text has no %q:\n%s", test.old, good)
		}
		l, err := lock.Parse("f", []byte(strings.Replace(good, test.old, test.new, 1)))
		var parse *lock.ParseError
		if !errors.As(err, &parse) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q for %q: got %v, want %s", test.new, test.old, err, test.want)
		}
		if err != nil && l != nil {
			t.Errorf("%q for %q: a lock beside the error", test.new, test.old)
		}
	}
	if _, err := lock.Parse("f", make([]byte, lock.MaxSize+1)); err == nil || !strings.Contains(err.Error(), "more than the limit") {
		t.Errorf("too large: got %v", err)
	}
}

// FuzzParse checks that a text that is accepted is what Format would write.
func FuzzParse(f *testing.F) {
	r := open(f, shop, nil)
	good := newLock(f, r, request(f, r, "shop.v1.0.0")).Format()
	f.Add(good)
	for _, seed := range []string{"", "{}", `{"lockVersion":1}`, `{"lockVersion":1,"inputs":{"catalogs":[{}]}}`, "a: b", "[", strings.Repeat("[", 100)} {
		f.Add([]byte(seed))
	}
	f.Add(bytes.Replace(good, []byte("shop"), []byte("<&\u2028"), 3))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := lock.Parse("f", text)
		var parse *lock.ParseError
		switch {
		case err == nil && !bytes.Equal(l.Format(), text):
			t.Errorf("taken, but written as %s", l.Format())
		case err != nil && !errors.As(err, &parse):
			t.Errorf("%T: %v", err, err)
		}
	})
}
