package outbound_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/outbound"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]struct{ standard, public bool }{
		"127.0.0.1": {}, "127.1.2.3": {}, "::1": {}, "::ffff:127.0.0.1": {}, "0.0.0.0": {}, "::": {}, "169.254.169.254": {}, "fe80::1": {},
		"::ffff:169.254.169.254": {}, "64:ff9b::a9fe:a9fe": {}, "64:ff9b::7f00:1": {}, "224.0.0.1": {}, "ff02::1": {},
		"10.1.2.3": {standard: true}, "192.168.1.1": {standard: true}, "172.20.0.1": {standard: true}, "fd00::1": {standard: true}, "100.64.0.1": {standard: true},
		"8.8.8.8": {true, true}, "2001:4860:4860::8888": {true, true}, "64:ff9b::808:808": {true, true},
	} {
		ip := netip.MustParseAddr(text)
		if got := (outbound.Rules{}).Check(ip) == nil; got != want.standard {
			t.Errorf("%s: allowed %v, want %v", text, got, want.standard)
		}
		if got := (outbound.Rules{Public: true}).Check(ip) == nil; got != want.public {
			t.Errorf("%s, public only: allowed %v, want %v", text, got, want.public)
		}
	}
	if err := (outbound.Rules{Local: true}).Check(netip.MustParseAddr("127.0.0.1")); err != nil {
		t.Error(err)
	}
}

// Names are resolved before the address is checked, and redirects lead nowhere else.
func TestTransport(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer s.Close()
	var refused *outbound.RefusedError
	for _, url := range []string{s.URL, "http://localhost:" + s.URL[len("http://127.0.0.1:"):]} {
		_, err := (&http.Client{Transport: outbound.Rules{}.Transport()}).Get(url)
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	c := &http.Client{Transport: outbound.Rules{Local: true}.Transport(), CheckRedirect: outbound.SameHost}
	if _, err := c.Get(s.URL); err == nil || asked > 0 {
		t.Errorf("redirected: %v, asked %d times", err, asked)
	}
}
