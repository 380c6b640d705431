package signature_test

import (
	"bytes"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// Whatever a store returns, nothing panics, and only what the maker signed is
// trusted.
func FuzzMessage(f *testing.F) {
	maker := newKey(f, "maker", days(-100), 0)
	k := keyring(f, "ours", maker)
	good := sign(f, statement(digest), at(days(-1)), maker)
	f.Add(good)
	f.Add(sign(f, statement(other), at(days(-1)), maker))
	f.Add(literal(f, statement(digest)))
	f.Add(raw(f, maker))
	f.Add(good[:len(good)/2])
	f.Add(bytes.Repeat(good, 3))
	// A signature of version 4 without subpackets, and so without an issuer,
	// before and after a content.
	anonymous := []byte{0xc2, 12, 4, 0, 22, 8, 0, 0, 0, 0, 0, 0, 0, 0}
	f.Add(append(bytes.Clone(anonymous), literal(f, "x")...))
	f.Add(append(literal(f, "x"), anonymous...))
	f.Fuzz(func(t *testing.T, message []byte) {
		v := verifier(t, []*signature.Keyring{k}, nil, hold("fuzz", message))
		if v.Verify(t.Context(), digest) == nil && !bytes.Contains(message, []byte(digest)) {
			t.Errorf("%x is trusted", message)
		}
		if v.Verify(t.Context(), "sha256:00") == nil {
			t.Errorf("%x is trusted for another image", message)
		}
	})
}

// Whatever a keyring contains, nothing panics.
func FuzzKeyring(f *testing.F) {
	maker := newKey(f, "maker", days(-100), 0)
	f.Add(raw(f, maker))
	f.Add(exported(f, maker))
	f.Add(exported(f, maker)[:200])
	f.Add([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := signature.ParseKeyring("fuzz", data)
		if err == nil && len(k.Keys()) == 0 {
			t.Error("a keyring without keys is taken")
		}
	})
}
