//go:build unix

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestKubeconfig makes a request to a server with the cluster's certificate,
// using a configuration written to a file and read back.
func TestKubeconfig(t *testing.T) {
	ca, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, ca)
	for _, test := range []struct {
		user   string
		groups []string
	}{
		{"ada", nil},
		{"system:kube-controller-manager", []string{"system:masters"}},
	} {
		c := &Cluster{ca: ca, port: &reservedPort{}}
		config, err := c.ConfigForUser(test.user, test.groups...)
		if err != nil {
			t.Fatal(err)
		}
		config.Host = url
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := WriteKubeconfig(config, file); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of a key: %v, %v", info.Mode(), err)
		}
		read, err := clientcmd.BuildConfigFromFlags("", file)
		if err != nil {
			t.Fatal(err)
		}
		client, err := rest.HTTPClientFor(read)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(test.user, test.groups)
		if err := get(context.Background(), client, read.Host+"/?want="+want); err != nil {
			t.Error(err)
		}
		if err := get(context.Background(), client, read.Host+"/?want=eve"); err == nil {
			t.Errorf("%s is accepted as another user", test.user)
		}
	}
}

// serve answers 200 to clients that identify themselves with a certificate.
func serve(t *testing.T, ca *authority) string {
	t.Helper()
	cert, key, err := ca.server()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		if r.FormValue("want") != fmt.Sprint(subject.CommonName, subject.Organization) {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// TestAuthorities checks that the certificates of one cluster are not accepted
// by another.
func TestAuthorities(t *testing.T) {
	one, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	other, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	cert, _, err := one.client("ada", nil)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(cert)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, ca := range []*authority{one, other} {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca.pem)
		_, err := parsed.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if (err == nil) != (ca == one) {
			t.Errorf("verified by its own authority (%v): %v", ca == one, err)
		}
	}
	if slices.Contains(parsed.ExtKeyUsage, x509.ExtKeyUsageServerAuth) {
		t.Error("the certificate of a user passes for a server's")
	}
}

// TestReservedPort checks that others cannot take the port and that nothing
// answers there.
func TestReservedPort(t *testing.T) {
	port, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer port.release()
	address := fmt.Sprintf("127.0.0.1:%d", port.number)
	if err := (&http.Server{Addr: address}).ListenAndServe(); err == nil {
		t.Error("a reserved port was given to another")
	}
	if err := get(context.Background(), http.DefaultClient, "http://"+address); err == nil {
		t.Error("something answers at a port that is only reserved")
	}
}

// TestMemory compares the memory of this process with its minimum, and asks
// for a process that cannot exist.
func TestMemory(t *testing.T) {
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = byte(i)
	}
	m, err := MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.Resident < int64(len(ballast)) || m.Peak != 0 && m.Peak < m.Resident/2 {
		t.Errorf("memory %+v, with %d bytes of ballast that ends in %d", m, len(ballast), ballast[len(ballast)-1])
	}
	if _, err := MemoryOf(1 << 30); err == nil {
		t.Error("a process that cannot be has memory")
	}
}
