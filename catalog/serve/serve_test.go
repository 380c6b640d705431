package serve_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/serve"
	"github.com/fairlead/fairlead/internal/samples"
)

const shop = `schema: olm.package
name: shop
defaultChannel: stable
---
schema: olm.channel
package: shop
name: stable
entries: [{name: shop.v1.0.0}]
---
schema: olm.bundle
package: shop
name: shop.v1.0.0
image: quay.io/shop:1.0.0
properties: [{type: olm.package, value: {packageName: shop, version: 1.0.0}}]
---
schema: olm.package
name: bank
defaultChannel: stable
`

// ask makes a request; headers are as "Name: value".
func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAPI: the cases of catalogd's own tests.
func TestAPI(t *testing.T) {
	h := serve.NewHandler(samples.Text(t, shop), nil)
	for _, c := range []struct {
		method, path string
		status       int
		schemas      string // of the documents
	}{
		{"GET", "/api/v1/all", 200, "olm.package olm.package olm.channel olm.bundle"},
		{"GET", "/api/v1/metas", 200, "olm.package olm.package olm.channel olm.bundle"},
		{"GET", "/api/v1/metas?schema=olm.package", 200, "olm.package olm.package"},
		{"GET", "/api/v1/metas?package=shop", 200, "olm.channel olm.bundle"},
		{"GET", "/api/v1/metas?name=shop", 200, "olm.package"},
		{"GET", "/api/v1/metas?schema=olm.bundle&package=shop&name=shop.v1.0.0", 200, "olm.bundle"},
		{"GET", "/api/v1/metas?schema=olm.bundle&package=bank", 200, ""},
		{"GET", "/api/v1/metas?name=shop&name=bank", 200, "olm.package"},
		{"GET", "/api/v1/metas?version=1", 400, "-"},
		{"GET", "/api/v1/nothing", 404, "-"},
		{"HEAD", "/api/v1/all", 200, ""},
		{"HEAD", "/api/v1/metas?schema=olm.package", 200, ""},
		{"POST", "/api/v1/all", 405, "-"},
		{"PUT", "/api/v1/metas", 405, "-"},
		{"DELETE", "/api/v1/metas", 405, "-"},
	} {
		w := ask(h, c.method, c.path)
		if w.Code != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, w.Code)
		}
		if c.schemas == "-" {
			continue
		}
		var schemas []string
		for d, err := range catalog.Decode(w.Body, nil) {
			if err != nil {
				t.Fatal(err)
			}
			schemas = append(schemas, d.Schema())
		}
		if got := strings.Join(schemas, " "); got != c.schemas || w.Header().Get("Content-Type") != "application/jsonl" {
			t.Errorf("%s %s: %q of type %s", c.method, c.path, got, w.Header().Get("Content-Type"))
		}
	}
	with := serve.NewHandler(samples.Text(t, shop), &serve.Options{WithPackage: true})
	if w := ask(with, "GET", "/api/v1/metas?package=shop"); strings.Count(w.Body.String(), "\n") != 3 {
		t.Errorf("with the package: %s", w.Body)
	}
}

// TestConditional: who has an answer is not sent it again.
func TestConditional(t *testing.T) {
	modified := time.Date(2026, 5, 1, 12, 0, 0, 500, time.UTC)
	h := serve.NewHandler(samples.Text(t, shop), &serve.Options{Modified: modified})
	plain := ask(h, "GET", "/api/v1/all")
	tag := plain.Header().Get("ETag")
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"If-None-Match: " + tag}, 304},
		{[]string{"If-None-Match: \"x\", W/" + tag}, 304},
		{[]string{"If-None-Match: *"}, 304},
		{[]string{"If-None-Match: \"x\""}, 200},
		{[]string{"If-None-Match: \"x\"", "If-Modified-Since: Fri, 01 May 2026 12:00:00 GMT"}, 200},
		{[]string{"If-Modified-Since: Fri, 01 May 2026 12:00:00 GMT"}, 304},
		{[]string{"If-Modified-Since: Fri, 01 May 2026 11:59:59 GMT"}, 200},
		{[]string{"If-Modified-Since: yesterday"}, 200},
		{[]string{"Range: bytes=0-9"}, 206},
		{[]string{"Range: bytes=0-9", "Accept-Encoding: gzip"}, 206},
		{[]string{"Accept-Encoding: gzip", "If-None-Match: " + tag}, 200}, // what it has is not compressed
	} {
		w := ask(h, "GET", "/api/v1/all", c.headers...)
		if w.Code != c.status || c.status == 304 && w.Body.Len() > 0 || c.status == 206 && w.Body.String() != plain.Body.String()[:10] {
			t.Errorf("%v: %d with %d bytes", c.headers, w.Code, w.Body.Len())
		}
	}
	for accept, zipped := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "br": false, "": false, "gzip;q=x": false} {
		w := ask(h, "GET", "/api/v1/all", "Accept-Encoding: "+accept)
		body := io.Reader(w.Body)
		if zipped {
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Errorf("%q: %v", accept, err)
				continue
			}
			body = z
		}
		text, err := io.ReadAll(body)
		if err != nil || string(text) != plain.Body.String() || (w.Header().Get("Content-Encoding") == "gzip") != zipped || (w.Header().Get("ETag") == tag) == zipped {
			t.Errorf("%q: %v, %q", accept, err, w.Header())
		}
	}
}

// TestClient: what the client reads is what is served.
func TestClient(t *testing.T) {
	s := httptest.NewServer(serve.NewHandler(samples.Text(t, shop), nil))
	defer s.Close()
	c, err := (&serve.Client{URL: s.URL + "/"}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := c.Package("shop"); !ok || p.DefaultChannel() != "stable" || p.Version("shop.v1.0.0") != "1.0.0" {
		t.Error("the package is not there")
	}
	n := 0
	for d, err := range (&serve.Client{URL: s.URL}).Metas(t.Context(), catalog.SchemaBundle, "shop", "") {
		if err != nil || d.Name() != "shop.v1.0.0" {
			t.Error(d, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d bundles", n)
	}
	var status *serve.StatusError
	if _, err := (&serve.Client{URL: s.URL + "/elsewhere"}).Catalog(t.Context()); !errors.As(err, &status) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&serve.Client{URL: s.URL}).Catalog(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestChanged: an answer whose file has changed is cut off rather than wrong.
func TestChanged(t *testing.T) {
	files := fstest.MapFS{"shop.yaml": {Data: []byte(shop)}}
	c, err := catalog.Open(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := serve.NewHandler(c, nil)
	files["shop.yaml"] = &fstest.MapFile{Data: []byte("schema: olm.package\n")}
	if w := ask(h, "GET", "/api/v1/all"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "has changed") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func ExampleNewHandler() {
	c, err := catalog.Open(context.Background(), fstest.MapFS{"shop.yaml": {Data: []byte(shop)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/catalogs/shop/", http.StripPrefix("/catalogs/shop", serve.NewHandler(c, nil)))
	s := httptest.NewServer(mux)
	defer s.Close()
	for d, err := range (&serve.Client{URL: s.URL + "/catalogs/shop"}).Metas(context.Background(), catalog.SchemaPackage, "", "") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Name())
	}
	// Output:
	// bank
	// shop
}

func ExampleClient() {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := (&serve.Client{URL: s.URL}).Catalog(context.Background())
	fmt.Println(strings.ReplaceAll(err.Error(), s.URL, "URL"))
	// Output:
	// catalog: URL/api/v1/all answers 404 Not Found: is it the address of a catalog, up to /api?
}
