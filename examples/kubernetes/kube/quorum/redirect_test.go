package quorum

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A redirect is an error: another host is not asked, and sees no certificate.
func TestEtcdRedirect(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	if err := (&Etcd{}).post(context.Background(), s.URL, "/v3/cluster/member/list", struct{}{}, nil); err == nil || asked > 0 {
		t.Errorf("%v, the other host was asked %d times", err, asked)
	}
}
