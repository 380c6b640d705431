package served_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/serve"
	"github.com/fairlead/fairlead/examples/kubernetes/outbound"
	"github.com/fairlead/fairlead/examples/kubernetes/served"
)

// message encodes fields: each is a number, then a string or another message.
// local lets tests dial their own servers.
var local = outbound.Rules{Local: true}

func message(fields ...any) []byte {
	var out []byte
	for i := 0; i < len(fields); i += 2 {
		out = protowire.AppendTag(out, protowire.Number(fields[i].(int)), protowire.BytesType)
		switch v := fields[i+1].(type) {
		case string:
			out = protowire.AppendString(out, v)
		case []byte:
			out = protowire.AppendBytes(out, v)
		}
	}
	return out
}

// service is a catalog pod: its answers to each method, and the error that
// ends the last of them.
type service struct {
	answers map[string][][]byte
	fails   map[string]error
}

func shop() *service {
	properties := func(version string) []byte {
		return message(1, "olm.package", 2, `{"packageName":"shop","version":"`+version+`"}`)
	}
	return &service{fails: map[string]error{}, answers: map[string][][]byte{
		"ListPackages": {message(1, "shop")},
		"GetPackage": {message(1, "shop",
			2, message(1, "stable", 2, "shop.v2"), 2, message(1, "old", 2, "shop.v1", 3, message(1, "use stable")), 3, "stable")},
		"ListBundles": {
			message(1, "shop.v1", 2, "shop", 3, "old", 6, "quay.io/shop:1", 12, properties("1.0.0"), 15, message(1, "is old")),
			message(1, "shop.v1", 2, "shop", 3, "stable", 6, "quay.io/shop:1", 12, properties("1.0.0"), 15, message(1, "is old")),
			message(1, "shop.v2", 2, "shop", 3, "stable", 4, `{"kind":"ClusterServiceVersion"}`, 10, "<1.5.0", 12, properties("2.0.0"), 13, "shop.v1", 14, "shop.v0", 14, "shop.v00"),
		},
	}}
}

// start starts the service, and returns its address.
func (s *service) start(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(served.Raw{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		full, _ := grpc.MethodFromServerStream(stream)
		name := strings.TrimPrefix(full, "/api.Registry/")
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		for _, m := range s.answers[name] {
			if err := stream.SendMsg(&m); err != nil {
				return err
			}
		}
		return s.fails[name]
	}))
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return l.Addr().String()
}

func write(t testing.TB, c *catalog.Catalog) string {
	t.Helper()
	var out strings.Builder
	if err := c.Write(&out, catalog.FormatLines); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), "")
}

func TestGRPC(t *testing.T) {
	s := shop()
	address := s.start(t)
	client := served.New(&served.Options{Rules: local})
	c, revision, err := client.Catalog(t.Context(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"olm.package","name":"shop","defaultChannel":"stable"}` +
		`{"schema":"olm.channel","package":"shop","name":"old","entries":[{"name":"shop.v1"}]}` +
		`{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v1"},{"name":"shop.v2","replaces":"shop.v1","skips":["shop.v0","shop.v00"],"skipRange":"\u003c1.5.0"}]}` +
		`{"schema":"olm.bundle","package":"shop","name":"shop.v1","image":"quay.io/shop:1","properties":[{"type":"olm.package","value":{"packageName":"shop","version":"1.0.0"}}]}` +
		`{"schema":"olm.bundle","package":"shop","name":"shop.v2","properties":[{"type":"olm.package","value":{"packageName":"shop","version":"2.0.0"}},{"type":"olm.bundle.object","value":{"data":"eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIn0="}}]}` +
		`{"schema":"olm.deprecations","package":"shop","entries":[{"reference":{"schema":"olm.bundle","name":"shop.v1"},"message":"isold"},{"reference":{"schema":"olm.channel","name":"old"},"message":"usestable"}]}`
	if got := write(t, c); got != want {
		t.Errorf("the catalog is\n%s\nwant\n%s", got, want)
	}

	// The same in another order is the same catalog.
	b := s.answers["ListBundles"]
	b[0], b[2] = b[2], b[0]
	if c, again, err := client.Catalog(t.Context(), address, revision); c != nil || again != revision || err != nil {
		t.Errorf("unchanged: %v, %q, %v", c, again, err)
	}
	b[2] = message(1, "shop.v1", 2, "shop", 3, "old", 6, "quay.io/shop:1-fixed", 12, message(1, "olm.package", 2, `{"packageName":"shop","version":"1.0.0"}`))
	if c, again, err := client.Catalog(t.Context(), address, revision); c == nil || again == revision || err != nil {
		t.Errorf("changed: %v, %q, %v", c, again, err)
	}
}

// An incomplete catalog is an error.
func TestHalves(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*service)
		want  string
	}{
		"bundles end early":  {func(s *service) { s.fails["ListBundles"] = status.Error(codes.Unavailable, "going away") }, "ListBundles: rpc error: code = Unavailable desc = going away"},
		"packages end early": {func(s *service) { s.fails["ListPackages"] = status.Error(codes.Internal, "no") }, "ListPackages: rpc error"},
		"another API":        {func(s *service) { s.fails["GetPackage"] = status.Error(codes.Unimplemented, "what?") }, "package shop: rpc error: code = Unimplemented"},
		"the head is gone":   {func(s *service) { s.answers["ListBundles"] = s.answers["ListBundles"][:2] }, "the head of channel stable, shop.v2, is not among the bundles: its catalog has changed"},
		"the package is new": {func(s *service) { s.answers["ListPackages"] = nil }, "belong to packages that are not listed: its catalog has changed"},
		"the channel is new": {func(s *service) {
			s.answers["GetPackage"] = [][]byte{message(1, "shop", 2, message(1, "old", 2, "shop.v1"), 3, "old")}
		}, `bundles are in channels that it does not have, ["stable"]: its catalog has changed`},
		"not a message":  {func(s *service) { s.answers["ListBundles"][0] = []byte{0x0a, 0xff} }, "ListBundles: unexpected EOF"},
		"not a property": {func(s *service) { s.answers["ListBundles"][0] = message(12, message(1, "x", 2, "{")) }, "property of type x is not JSON"},
	} {
		s := shop()
		c.spoil(s)
		found, _, err := served.New(&served.Options{Rules: local}).Catalog(t.Context(), s.start(t), "")
		if found != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", name, found, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	address := shop().start(t)
	var limit *fairlead.InputLimitError
	if _, _, err := served.New(&served.Options{Rules: local, MaxSize: 300}).Catalog(t.Context(), address, ""); !errors.As(err, &limit) {
		t.Errorf("a catalog that is too large: %v", err)
	}
	if _, _, err := served.New(&served.Options{Rules: local, MaxMessage: 100}).Catalog(t.Context(), address, ""); status.Code(errors.Unwrap(errors.Unwrap(err))) != codes.ResourceExhausted {
		t.Errorf("a message that is too large: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := served.New(&served.Options{Rules: local}).Catalog(gone, address, ""); status.Code(errors.Unwrap(errors.Unwrap(err))) != codes.Canceled {
		t.Errorf("a reader that has gone: %v", err)
	}
}

// The API of catalogd: an unchanged catalog is not sent, and an interrupted one
// is not used.
func TestHTTP(t *testing.T) {
	d, err := catalog.NewDocument([]byte(`{"schema":"olm.package","name":"shop","defaultChannel":"stable"}`), catalog.Position{})
	if err != nil {
		t.Fatal(err)
	}
	handler := serve.NewHandler(catalog.New([]*catalog.Document{d}), nil)
	var codes []int
	cut := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"schema":"olm.package","name":"shop","defaultChannel":"stable"}`)
			return
		}
		recorded := httptest.NewRecorder()
		http.StripPrefix("/catalogs/shop", handler).ServeHTTP(recorded, r)
		codes = append(codes, recorded.Code)
		for key, value := range recorded.Header() {
			w.Header()[key] = value
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	}))
	defer s.Close()
	client := served.New(&served.Options{Rules: local})
	c, tag, err := client.Catalog(t.Context(), s.URL+"/catalogs/shop", "")
	if err != nil || tag == "" {
		t.Fatal(tag, err)
	}
	if _, ok := c.Package("shop"); !ok {
		t.Error("the package is not there")
	}
	if c, again, err := client.Catalog(t.Context(), s.URL+"/catalogs/shop", tag); c != nil || again != tag || err != nil {
		t.Errorf("unchanged: %v, %q, %v", c, again, err)
	}
	if fmt.Sprint(codes) != "[200 304]" {
		t.Errorf("answers %v", codes)
	}
	var limit *fairlead.InputLimitError
	if _, _, err := served.New(&served.Options{Rules: local, MaxSize: 10}).Catalog(t.Context(), s.URL+"/catalogs/shop", ""); !errors.As(err, &limit) {
		t.Errorf("too large: %v", err)
	}
	cut = true
	if c, _, err := client.Catalog(t.Context(), s.URL+"/catalogs/shop", tag); c != nil || err == nil {
		t.Errorf("a catalog that was cut: %v, %v", c, err)
	}
}

// TestRefused: a service is not on this machine, nor a file, nor elsewhere than its
// address says.
func TestRefused(t *testing.T) {
	asked := 0
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer inner.Close()
	redirect := httptest.NewServer(http.RedirectHandler(inner.URL+"/latest", http.StatusFound))
	defer redirect.Close()
	for _, address := range []string{inner.URL, strings.TrimPrefix(inner.URL, "http://"), "unix:///run/x.sock", "unix:x", "dns:///" + inner.Listener.Addr().String(), "file:///etc/passwd", "169.254.169.254:80"} {
		if _, _, err := served.New(nil).Catalog(t.Context(), address, ""); err == nil {
			t.Errorf("%s was read", address)
		}
	}
	if _, _, err := served.New(&served.Options{Rules: local}).Catalog(t.Context(), redirect.URL, ""); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("redirected: %v", err)
	}
	if asked > 0 {
		t.Errorf("asked %d times", asked)
	}
}
