package signature_test

import (
	"bytes"
	"crypto"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// today is the date of the tests.
var today = time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)

// days returns the time n days from today.
func days(n int) time.Time { return today.AddDate(0, 0, n) }

// at returns a configuration of the library for a time.
func at(t time.Time) *packet.Config {
	return &packet.Config{Time: func() time.Time { return t }, Algorithm: packet.PubKeyAlgoEdDSA, DefaultHash: crypto.SHA256}
}

// newKey makes a key. Its lifetime is in days; 0 means no limit.
func newKey(tb testing.TB, name string, made time.Time, lifetime int) *openpgp.Entity {
	tb.Helper()
	config := at(made)
	config.KeyLifetimeSecs = uint32(lifetime * 24 * 3600)
	e, err := openpgp.NewEntity(name, "", name+"@example.com", config)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// exported returns the public part of keys, as ASCII armor.
func exported(tb testing.TB, keys ...*openpgp.Entity) []byte {
	tb.Helper()
	return armored(tb, openpgp.PublicKeyType, func(w io.Writer) error {
		for _, e := range keys {
			if err := e.Serialize(w); err != nil {
				return err
			}
		}
		return nil
	})
}

func armored(tb testing.TB, kind string, write func(io.Writer) error) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := armor.Encode(&b, kind, nil)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// keyring returns the keyring of these keys.
func keyring(tb testing.TB, name string, keys ...*openpgp.Entity) *signature.Keyring {
	tb.Helper()
	k, err := signature.ParseKeyring(name, exported(tb, keys...))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// sign returns a message with the signatures of keys.
func sign(tb testing.TB, content string, config *packet.Config, keys ...*openpgp.Entity) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := openpgp.SignWithParams(&b, keys, &openpgp.SignParams{Config: config})
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// The image of the tests, and another one.
const (
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	other  = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	image  = "quay.example:5000/org/release:4.19.3"
)

// statement returns the statement about an image.
func statement(digest string) string {
	return fmt.Sprintf(`{"critical": {"image": {"docker-manifest-digest": %q}, "type": "atomic container signature", `+
		`"identity": {"docker-reference": %q}}, "optional": {"creator": "the maker", "timestamp": 1900000000}}`, digest, image)
}
