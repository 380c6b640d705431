// Package outbound connects to hosts that others name, such as catalog services and
// registries in custom resources: not to the machine itself, its link-local neighbours
// (where clouds serve credentials) or, if wanted, private networks. Addresses are checked
// when they are dialled, after names were resolved, so that a name cannot stand for
// another address later.
package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Rules say which addresses may be dialled. The zero value refuses those of the machine
// itself, link-local, multicast and unspecified ones.
type Rules struct {
	Local  bool // also addresses of the machine and link-local ones
	Public bool // only addresses of the Internet: no private networks
}

// RefusedError says that an address must not be dialled.
type RefusedError struct{ Address string }

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("address %s is refused: it is not one that others may have dialled", e.Address)
}

// Check returns a *RefusedError if an IP address must not be dialled.
func (r Rules) Check(ip netip.Addr) error {
	ip = plain(ip)
	local := ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	switch {
	case !ip.IsValid(), ip.IsMulticast(), local && !r.Local, r.Public && !local && private(ip):
		return &RefusedError{ip.String()}
	}
	return nil
}

// plain returns the IPv4 address in an IPv6 address that leads to it.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

func private(ip netip.Addr) bool {
	return ip.IsPrivate() || netip.MustParsePrefix("100.64.0.0/10").Contains(ip)
}

// Dialer returns a dialer that obeys the rules.
func (r Rules) Dialer() *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: func(network, address string, _ syscall.RawConn) error {
		switch network {
		case "tcp", "tcp4", "tcp6":
		default:
			return &RefusedError{network + " " + address}
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return &RefusedError{address}
		}
		return r.Check(at.Addr())
	}}
}

// Transport returns a transport that obeys the rules. It uses no proxy, which would
// connect in its place.
func (r Rules) Transport() *http.Transport {
	return &http.Transport{
		DialContext: r.Dialer().DialContext, ForceAttemptHTTP2: true,
		MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// SameHost is a CheckRedirect of [http.Client]: redirects lead to the same host only, and
// not from https to http.
func SameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= 5:
		return errors.New("more than five redirects")
	case r.URL.Host != first.Host, first.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("a redirect from %s to %s is refused: it leads to another host", first.Host, r.URL.Host)
	}
	return nil
}
