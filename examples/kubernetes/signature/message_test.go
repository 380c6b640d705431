package signature_test

import (
	"bytes"
	"crypto"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// raw returns the public key as packets.
func raw(tb testing.TB, e *openpgp.Entity) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := e.Serialize(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// literal returns a message without a signature.
func literal(tb testing.TB, content string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := packet.SerializeLiteral(nopCloser{&b}, true, "", 0)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }

// weak returns a key that is too short today.
func weak(tb testing.TB) *openpgp.Entity {
	tb.Helper()
	e, err := openpgp.NewEntity("weak", "", "weak@example.com", &packet.Config{
		Rand: rand.NewChaCha8([32]byte{}), Time: at(days(-100)).Time, Algorithm: packet.PubKeyAlgoRSA, RSABits: 1024, MinRSABits: 1024,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// many returns a message with n signatures by one key, followed by one by
// another key.
func many(tb testing.TB, content string, n int, by, last *openpgp.Entity) []byte {
	tb.Helper()
	return slices.Concat(
		bytes.Repeat(detached(tb, content, by, crypto.SHA256, days(-1)), n),
		detached(tb, content, last, crypto.SHA256, days(-1)),
		literal(tb, content))
}

// onePass returns a packet that announces a signature that does not follow.
func onePass(tb testing.TB, e *openpgp.Entity) []byte {
	tb.Helper()
	var b bytes.Buffer
	ops := packet.OnePassSignature{Version: 3, SigType: packet.SigTypeBinary, Hash: crypto.SHA256, PubKeyAlgo: e.PrimaryKey.PubKeyAlgo, KeyId: e.PrimaryKey.KeyId}
	if err := ops.Serialize(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// foreign returns a packet that signed messages do not have.
func foreign(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := packet.NewUserId("somebody", "", "").Serialize(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// packed returns a message in a compressed packet.
func packed(tb testing.TB, message []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := packet.SerializeCompressed(nopCloser{&b}, packet.CompressionZLIB, nil)
	if err == nil {
		_, err = w.Write(message)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// padded returns a valid message of a size.
func padded(tb testing.TB, e *openpgp.Entity, size int) []byte {
	tb.Helper()
	for n := size - 1000; n < size; {
		content := statement(digest) + strings.Repeat(" ", n-len(statement(digest)))
		m := slices.Concat(detached(tb, content, e, crypto.SHA256, days(-1)), literal(tb, content))
		if len(m) == size {
			return m
		}
		n += size - len(m)
	}
	tb.Fatalf("no message has %d bytes", size)
	return nil
}

// before returns a message whose signature is changed before it is made.
func before(tb testing.TB, content string, e *openpgp.Entity, change func(*packet.Signature)) []byte {
	tb.Helper()
	return append(detachedAs(tb, content, e, crypto.SHA256, days(-1), change), literal(tb, content)...)
}

// detached returns only a signature, even if the key must not be used for it.
// Before the content it makes a message of the old format.
func detached(tb testing.TB, content string, e *openpgp.Entity, hash crypto.Hash, made time.Time) []byte {
	tb.Helper()
	return detachedAs(tb, content, e, hash, made, func(*packet.Signature) {})
}

func detachedAs(tb testing.TB, content string, e *openpgp.Entity, hash crypto.Hash, made time.Time, change func(*packet.Signature)) []byte {
	tb.Helper()
	s := &packet.Signature{
		Version: 4, SigType: packet.SigTypeBinary, PubKeyAlgo: e.PrimaryKey.PubKeyAlgo, Hash: hash,
		CreationTime: made, IssuerKeyId: &e.PrimaryKey.KeyId,
	}
	change(s)
	h := hash.New()
	h.Write([]byte(content))
	plain := false // without a salt, for which SHA1 is too short
	if err := s.Sign(h, e.PrivateKey, &packet.Config{NonDeterministicSignaturesViaNotation: &plain}); err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Serialize(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}
