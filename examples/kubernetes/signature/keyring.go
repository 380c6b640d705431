package signature

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// Keyring contains public keys, one of which must have signed. It is immutable
// and safe for concurrent use.
type Keyring struct {
	name    string
	keys    []*packetGroup
	skipped []string
}

// Name returns the name of the keyring in messages.
func (k *Keyring) Name() string { return k.name }

// Keys returns the fingerprints of the keys, in hexadecimal, in the order of
// the keyring.
func (k *Keyring) Keys() []string {
	var list []string
	for _, g := range k.keys {
		list = append(list, fmt.Sprintf("%X", g.fingerprint))
	}
	return list
}

// Skipped describes the keys of unsupported kinds. Signatures by these do not
// satisfy the keyring.
func (k *Keyring) Skipped() []string { return append([]string(nil), k.skipped...) }

// packetGroup contains the packets of one key. It is kept as bytes, because
// the library records verifications in keys, which is not safe for concurrent
// use.
type packetGroup struct {
	raw         []byte
	fingerprint []byte
	ids         []uint64 // of the key and its subkeys
	revocations int      // of the key and of its supported subkeys, valid or not
	unsupported error    // why the key itself is not supported
}

// entity returns a new copy of the key.
func (g *packetGroup) entity() (*openpgp.Entity, error) {
	return openpgp.ReadEntity(packet.NewReader(bytes.NewReader(g.raw)))
}

// revoked counts the revocations of the key and its subkeys that were made by
// the key.
func revoked(e *openpgp.Entity) (n int) {
	for _, r := range e.Revocations {
		if e.PrimaryKey.VerifyRevocationSignature(r.Packet) == nil {
			n++
		}
	}
	for _, sub := range e.Subkeys {
		for _, r := range sub.Revocations {
			if e.PrimaryKey.VerifySubkeyRevocationSignature(r.Packet, sub.PublicKey) == nil {
				n++
			}
		}
	}
	return n
}

// ParseKeyring reads public keys: one or more blocks of ASCII armor, or binary.
// name is for messages.
//
// A keyring that cannot be used completely is an error: a truncated block, a
// key whose self-signature is wrong, a secret key, no key at all, or a
// revocation that cannot be verified, for example by another key: ignoring it
// could mean trusting a key that was given up. A key that has expired or is
// revoked is accepted, but satisfies no keyring. Keys of unsupported kinds are
// skipped, unless there are no others.
func ParseKeyring(name string, data []byte) (k *Keyring, err error) {
	fail := func(format string, args ...any) (*Keyring, error) {
		return nil, fmt.Errorf("the keyring %s cannot be used: %w; export it with gpg --export --armor", name, fmt.Errorf(format, args...))
	}
	defer func() {
		if r := recover(); r != nil { // a panic of the library, on malformed packets
			k, err = fail("it has a malformed packet")
		}
	}()
	data, err = dearmor(data)
	if err != nil {
		return fail("%w", err)
	}
	groups, err := split(data)
	if err != nil {
		return fail("%w", err)
	}
	k = &Keyring{name: name}
	for i, g := range groups {
		if g.unsupported != nil {
			k.skipped = append(k.skipped, fmt.Sprintf("key %d: %s", i+1, oneLine(g.unsupported.Error())))
			continue
		}
		e, err := g.entity()
		if err != nil {
			return fail("key %d cannot be read: %w", i+1, err)
		}
		if _, err := e.VerifyPrimaryKey(time.Time{}, nil); err != nil && !errors.Is(err, pgperrors.ErrKeyRevoked) {
			return fail("key %d, %X, is not signed by itself: %w", i+1, e.PrimaryKey.Fingerprint, err)
		}
		if revoked(e) != g.revocations {
			return fail("key %d, %X, has a revocation that it did not make itself, or that is not valid: remove the key, or the revocation if the key is to be trusted", i+1, e.PrimaryKey.Fingerprint)
		}
		g.fingerprint = e.PrimaryKey.Fingerprint
		g.ids = append(g.ids, e.PrimaryKey.KeyId)
		for _, sub := range e.Subkeys {
			g.ids = append(g.ids, sub.PublicKey.KeyId)
		}
		k.keys = append(k.keys, g)
	}
	if len(k.keys) == 0 {
		return fail("it has no supported key (%s)", k.skipped)
	}
	return k, nil
}

// dearmor returns the packets of all blocks of ASCII armor; data without
// armor is returned as it is.
func dearmor(data []byte) ([]byte, error) {
	const begin, end = "-----BEGIN PGP ", "-----END PGP "
	blocks := bytes.Count(data, []byte(begin))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it is empty")
	}
	if blocks == 0 && data[0]&0x80 == 0 {
		return nil, errors.New("it contains no block of ASCII armor")
	}
	if blocks == 0 {
		return data, nil
	}
	if ends := bytes.Count(data, []byte(end)); ends != blocks {
		return nil, fmt.Errorf("%d blocks of ASCII armor begin, and %d end", blocks, ends)
	}
	var out []byte
	in := bufio.NewReader(bytes.NewReader(data))
	for i := range blocks {
		block, err := armor.Decode(in)
		if err != nil {
			return nil, fmt.Errorf("block %d of its ASCII armor has no valid header: %w", i+1, err)
		}
		if block.Type != openpgp.PublicKeyType {
			return nil, fmt.Errorf("block %d is a %s, not a public key", i+1, oneLine(block.Type))
		}
		body, err := io.ReadAll(block.Body)
		if err != nil {
			return nil, fmt.Errorf("block %d of its ASCII armor cannot be read: %w", i+1, err)
		}
		out = append(out, body...)
	}
	return out, nil
}

// The tags of packets in keyrings.
const (
	tagSignature = 2
	tagSecret    = 5
	tagPublic    = 6
	tagSecretSub = 7
	tagPublicSub = 14
)

// The types of signatures that revoke a key or a subkey.
const (
	revokesKey    = 0x20
	revokesSubkey = 0x28
)

// signatureType returns the type in a signature packet.
func signatureType(contents []byte) byte {
	at := 1
	if len(contents) > 0 && contents[0] < 4 { // old versions have a length before it
		at = 2
	}
	if len(contents) <= at {
		return 0
	}
	return contents[at]
}

// unsupported returns why the kind of a packet is not supported.
func unsupported(p *packet.OpaquePacket) error {
	_, err := p.Parse()
	if as := pgperrors.UnsupportedError(""); errors.As(err, &as) {
		return err
	}
	return nil
}

// split groups the packets of a keyring by key.
func split(data []byte) ([]*packetGroup, error) {
	var groups []*packetGroup
	passed := false // the last subkey is not supported
	for in := packet.NewOpaqueReader(bytes.NewReader(data)); ; {
		p, err := in.Next()
		if err == io.EOF && len(groups) > 0 {
			return groups, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a list of OpenPGP packets: %w", err)
		}
		switch {
		case p.Tag == tagSecret || p.Tag == tagSecretSub:
			return nil, errors.New("it contains a secret key, which must not be here")
		case p.Tag == tagPublic:
			groups = append(groups, &packetGroup{unsupported: unsupported(p)})
			passed = false
		case len(groups) == 0:
			return nil, fmt.Errorf("it begins with a packet of type %d, not with a public key", p.Tag)
		}
		var b bytes.Buffer
		if err := p.Serialize(&b); err != nil {
			return nil, fmt.Errorf("it is not a list of OpenPGP packets: %w", err)
		}
		last := groups[len(groups)-1]
		last.raw = append(last.raw, b.Bytes()...)
		switch kind := signatureType(p.Contents); {
		case p.Tag == tagPublicSub:
			passed = unsupported(p) != nil
		case p.Tag == tagSignature && (kind == revokesKey || kind == revokesSubkey && !passed):
			last.revocations++
		}
	}
}
