package signature_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// where returns the path of a signature of the image on a web server.
func where(i int) string {
	return "/sigs/" + strings.Replace(digest, ":", "=", 1) + fmt.Sprintf("/signature-%d", i)
}

// serve runs a web server with a store below /sigs, and opens that.
func serve(tb testing.TB, handler http.HandlerFunc, opts *signature.HTTPOptions) signature.Store {
	tb.Helper()
	server := httptest.NewServer(handler)
	tb.Cleanup(server.Close)
	return open(tb, server.URL+"/sigs", opts)
}

func open(tb testing.TB, address string, opts *signature.HTTPOptions) signature.Store {
	tb.Helper()
	s, err := signature.Open(address, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// files serves the file at each path, and records the requests.
func files(of map[string][]byte, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			*asked = append(*asked, strings.TrimPrefix(r.URL.Path, "/sigs/"+strings.Replace(digest, ":", "=", 1)+"/"))
		}
		body, ok := of[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(body)
	}
}

// A store on a web server is asked for one signature after the other until one
// is missing, until the keyrings are satisfied, or nine times. Those that
// cannot be read are skipped.
func TestWebStore(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	good, bad := sign(t, statement(digest), at(days(-1)), maker), sign(t, statement(other), at(days(-1)), maker)
	at := func(messages ...[]byte) map[string][]byte {
		of := map[string][]byte{}
		for i, m := range messages {
			if m != nil {
				of[where(i+1)] = m
			}
		}
		return of
	}
	nine := slices.Repeat([][]byte{bad}, 8)
	for _, test := range []struct {
		name  string
		of    map[string][]byte
		want  []signature.Reason // nil means trusted
		asked int
	}{
		{"the first is good", at(good, bad), nil, 1},
		{"the second is good", at(bad, good), nil, 2},
		{"the ninth is good", at(append(nine, good)...), nil, 9},
		{"the tenth is good", at(append(append(nine, bad), good)...), slices.Repeat([]signature.Reason{signature.OtherDigest}, 9), 9},
		{"behind one that is not there", at(bad, nil, good), []signature.Reason{signature.OtherDigest}, 2},
		{"there is none", at(), []signature.Reason{signature.Missing}, 1},
		{"oversized, then a good one", at(make([]byte, 51<<10), good), nil, 2},
		{"oversized", at(make([]byte, 51<<10)), []signature.Reason{signature.Limit}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			v := verifier(t, rings, nil, serve(t, files(test.of, &asked), nil))
			err := v.Verify(t.Context(), digest)
			if got := reasons(t, err); !slices.Equal(got, test.want) || len(asked) != test.asked {
				t.Errorf("%v; %v; asked for %v; want %v, and %d questions", err, got, asked, test.want, test.asked)
			}
		})
	}
}

// Servers that fail in various ways: the error says which store failed and
// how, another store still helps, and no more is read than the limit.
func TestBadWebStores(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	good := sign(t, statement(digest), at(days(-1)), maker)
	var sent atomic.Int64
	stranger := httptest.NewServer(files(map[string][]byte{where(1): good}, nil))
	defer stranger.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusFound)
	}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, test := range []struct {
		name  string
		store signature.Store
		says  string // empty means trusted
	}{
		{"a redirect", serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusFound)
		}, nil), ""},
		{"a slash at the end", open(t, stranger.URL+"/sigs/", nil), ""},
		{"a redirect to itself", serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, nil), "redirects more than 5 times"},
		{"a redirect out of TLS", open(t, secure.URL+"/sigs", &signature.HTTPOptions{CA: ca}), "from https to http://"},
		{"not trusted", open(t, secure.URL+"/sigs", nil), "certificate"},
		{"nobody", open(t, "http://"+closed.Addr().String(), nil), "connection refused"},
		{"broken", serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", http.StatusInternalServerError) }, nil), "500 Internal Server Error"},
		{"forbidden", serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", http.StatusForbidden) }, nil), "403 Forbidden"},
		{"broken but for the third", serve(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "-3") {
				w.Write(good)
				return
			}
			http.Error(w, "oh", http.StatusBadGateway)
		}, nil), ""},
		{"hangs up", serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil), "EOF"},
		{"cut short", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:len(good)/2])
		}, nil), "unexpected EOF"},
		{"a sign-in page", serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>please\n\nsign in") }, nil), "begins with \"<html>please"},
		{"endless", serve(t, func(w http.ResponseWriter, r *http.Request) {
			for chunk := make([]byte, 64<<10); ; {
				n, err := w.Write(chunk)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}, nil), "more than 51200 bytes"},
		{"a transport that misses a file", open(t, "http://mirror.example", &signature.HTTPOptions{Transport: away{}}), "no socket: file does not exist"},
		{"badly packed", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "this is not packed with gzip")
		}, nil), "gzip"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := verifier(t, rings, nil, test.store).Verify(t.Context(), digest)
			if test.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			reasons(t, err)
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.store.Name()+": signature-1: ") {
				t.Errorf("%v; want that %s, signature-1, %s", err, test.store.Name(), test.says)
			}
			if err := verifier(t, rings, nil, test.store, hold("memory", good)).Verify(t.Context(), digest); err != nil {
				t.Errorf("with another store: %v", err)
			}
		})
	}
	if n := sent.Load(); n > 200<<20 {
		t.Errorf("%d bytes were sent", n)
	}
}

// away is a transport that reaches no server.
type away struct{}

func (away) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("no socket: %w", fs.ErrNotExist)
}

// silent is a store that yields nothing until it must return.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Signatures(ctx context.Context, _ string) iter.Seq2[signature.Signature, error] {
	return func(func(signature.Signature, error) bool) { <-ctx.Done() }
}

// A store that does not answer takes no longer than its limit, does not delay
// others, and is cancelled once another one was enough.
func TestSlowStores(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	good := sign(t, statement(digest), at(days(-1)), maker)
	var asked, left atomic.Int64
	slow := func(timeout time.Duration) signature.Store {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			<-r.Context().Done()
			left.Add(1)
		}, &signature.HTTPOptions{Timeout: timeout})
	}
	within := func(limit time.Duration, do func()) {
		t.Helper()
		begun := time.Now()
		do()
		if took := time.Since(begun); took > limit {
			t.Errorf("it took %s, and may take %s", took, limit)
		}
	}
	within(5*time.Second, func() { // the other stores are queried at the same time
		if err := verifier(t, rings, nil, slow(time.Hour), slow(time.Hour), hold("memory", good)).Verify(t.Context(), digest); err != nil {
			t.Error(err)
		}
	})
	within(5*time.Second, func() { // limited by its own timeout
		err := verifier(t, rings, nil, slow(50*time.Millisecond)).Verify(t.Context(), digest)
		if got := reasons(t, err); !slices.Equal(got, []signature.Reason{signature.Unreachable}) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v; want that the store took too long", err)
		}
	})
	within(5*time.Second, func() { // limited by the timeout of the verifier
		err := verifier(t, rings, &signature.Options{Timeout: 50 * time.Millisecond}, slow(time.Hour)).Verify(t.Context(), digest)
		if err == nil || !strings.Contains(err.Error(), "the search took too long") {
			t.Errorf("%v; want that the search took too long", err)
		}
	})
	within(10*time.Second, func() { // half of the time that the caller has left
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute/3)
		defer cancel()
		ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		err := verifier(t, rings, nil, slow(time.Hour)).Verify(ctx, digest)
		if err == nil || !strings.Contains(err.Error(), "the search took too long") || ctx.Err() != nil {
			t.Errorf("%v; want that the search took too long, and time left (%v)", err, ctx.Err())
		}
	})
	within(5*time.Second, func() { // half of the time, before the others
		v := verifier(t, rings, &signature.Options{Timeout: time.Second, First: []signature.Store{silent{}}}, hold("memory", good))
		if err := v.Verify(t.Context(), digest); err != nil {
			t.Error(err)
		}
		v = verifier(t, rings, &signature.Options{Timeout: time.Second, First: []signature.Store{silent{}}}, hold("memory"))
		if err := v.Verify(t.Context(), digest); err == nil || !strings.Contains(err.Error(), "; silent: it did not answer in time: ") || !strings.Contains(err.Error(), "; memory: it has no signature") {
			t.Errorf("%v; want the failure of each store", err)
		}
	})
	within(5*time.Second, func() { // the caller's context ends
		ctx, cancel := context.WithCancel(t.Context())
		n := asked.Load()
		go func() {
			for asked.Load() == n {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		err := verifier(t, rings, nil, slow(time.Hour)).Verify(ctx, digest)
		if err == nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("%v; want that the search was interrupted", err)
		}
		if err := verifier(t, rings, nil, hold("memory", good)).Verify(ctx, digest); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
	for begun := time.Now(); left.Load() < asked.Load(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 5*time.Second {
			t.Fatalf("%d requests, and only %d were given up", asked.Load(), left.Load())
		}
	}
}

// Invalid addresses are refused, and no error contains a password.
func TestOpenRefuses(t *testing.T) {
	for _, address := range []string{"", "mirror.example", "ftp://me:secret@mirror.example/x", "http://", "file://", "://", "http://a b/", "https://me:secret@mirror.example:port/x", "https://me:secret@mirror.example/%zz"} {
		if _, err := signature.Open(address, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for name, opts := range map[string]*signature.HTTPOptions{
		"no PEM":             {CA: []byte("x")},
		"a CA and transport": {CA: []byte("x"), Transport: http.DefaultTransport},
	} {
		if _, err := signature.Open("https://mirror.example", opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s := open(t, " https://me:secret@mirror.example/sigs\n", nil); s.Name() != "https://me:xxxxx@mirror.example/sigs" {
		t.Errorf("the name is %q", s.Name())
	}
}

// A directory is also a store.
func TestFileStore(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	root := t.TempDir()
	dir := filepath.Join(root, strings.Replace(digest, ":", "=", 1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	v := verifier(t, rings, nil, open(t, "file://"+root, nil))
	if got := reasons(t, v.Verify(t.Context(), digest)); !slices.Equal(got, []signature.Reason{signature.Missing}) {
		t.Errorf("an empty directory: %v", got)
	}
	write := func(i int, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("signature-%d", i)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "signature-1")); err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(t.Context(), digest); !slices.Equal(reasons(t, err), []signature.Reason{signature.Unreachable}) || !strings.Contains(err.Error(), "signature-1 is not a regular file") {
		t.Errorf("a device: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "signature-1")); err != nil {
		t.Fatal(err)
	}
	write(1, make([]byte, 1<<20))
	if got := reasons(t, v.Verify(t.Context(), digest)); !slices.Equal(got, []signature.Reason{signature.Limit}) {
		t.Errorf("an oversized file: %v", got)
	}
	write(2, sign(t, statement(digest), at(days(-1)), maker))
	if err := v.Verify(t.Context(), digest); err != nil {
		t.Error(err)
	}
}

// The config maps of the cluster: those with the label, in the right namespace,
// and in them the keys of the image.
func TestConfigMaps(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	good := sign(t, statement(digest), at(days(-1)), maker)
	key := strings.Replace(digest, ":", "-", 1)
	object := func(namespace, name string, labels map[string]string, data map[string][]byte) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, BinaryData: data}
	}
	label := map[string]string{signature.Label: ""}
	for _, test := range []struct {
		name    string
		objects []client.Object
		want    []signature.Reason
	}{
		{"right", []client.Object{object(signature.Namespace, "m", label, map[string][]byte{key + "-1": good})}, nil},
		{"with others", []client.Object{
			object(signature.Namespace, "a", label, map[string][]byte{"x": []byte("x"), strings.Replace(other, ":", "-", 1): []byte("x")}),
			object(signature.Namespace, "b", label, map[string][]byte{key: []byte("x"), key + "-2": good}),
		}, nil},
		{"without label", []client.Object{object(signature.Namespace, "m", nil, map[string][]byte{key: good})}, []signature.Reason{signature.Missing}},
		{"elsewhere", []client.Object{object("default", "m", label, map[string][]byte{key: good})}, []signature.Reason{signature.Missing}},
		{"under another key", []client.Object{object(signature.Namespace, "m", label, map[string][]byte{digest[7:]: good})}, []signature.Reason{signature.Missing}},
		{"none", nil, []signature.Reason{signature.Missing}},
	} {
		reader := fake.NewClientBuilder().WithObjects(test.objects...).Build()
		err := verifier(t, rings, nil, signature.ConfigMaps(reader)).Verify(t.Context(), digest)
		if got := reasons(t, err); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v; want %v", test.name, err, test.want)
		}
	}
	away := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the API server is away")
		},
	}).Build()
	err := verifier(t, rings, nil, signature.ConfigMaps(away)).Verify(t.Context(), digest)
	if err == nil || !strings.Contains(err.Error(), "config maps of openshift-config-managed: they cannot be listed: the API server is away") {
		t.Error(err)
	}
	if err := verifier(t, rings, &signature.Options{First: []signature.Store{signature.ConfigMaps(away)}}, hold("memory", good)).Verify(t.Context(), digest); err != nil {
		t.Errorf("with another store: %v", err)
	}
}
