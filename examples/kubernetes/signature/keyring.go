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

// Keyring holds public keys, one of which must have signed. It does not change
// and is safe for concurrent use.
type Keyring struct {
	name    string
	keys    []*packetGroup
	skipped []string
}

// Name returns what the keyring is called in messages.
func (k *Keyring) Name() string { return k.name }

// Keys returns the fingerprints of the keys, in hexadecimal digits, as they
// stand in the keyring.
func (k *Keyring) Keys() []string {
	var list []string
	for _, g := range k.keys {
		list = append(list, fmt.Sprintf("%X", g.fingerprint))
	}
	return list
}

// Skipped says which keys are of a kind that is not supported. Signatures by
// these do not satisfy the keyring.
func (k *Keyring) Skipped() []string { return append([]string(nil), k.skipped...) }

// packetGroup is one key with what belongs to it. It is kept as bytes, since
// the library notes in a key what it has verified, which is not safe for
// concurrent use.
type packetGroup struct {
	raw         []byte
	fingerprint []byte
	ids         []uint64 // of the key and its subkeys
	revocations int      // of the key and of its subkeys that are supported, good or not
	unsupported error    // why the key itself is not supported
}

// entity returns the key in a form of its own.
func (g *packetGroup) entity() (*openpgp.Entity, error) {
	return openpgp.ReadEntity(packet.NewReader(bytes.NewReader(g.raw)))
}

// revoked counts the revocations of the key and its subkeys that the key made.
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
// A keyring that cannot be used as a whole is an error: a block that is cut
// short, a key whose own signature is wrong, a secret key, no key at all, and a
// revocation that cannot be verified, as by another key: to pass over it would
// be to trust a key that somebody has given up. A key that has expired or is
// revoked is taken, and satisfies nobody. Keys of kinds that are not supported
// are passed over, unless there are no others.
func ParseKeyring(name string, data []byte) (k *Keyring, err error) {
	fail := func(format string, args ...any) (*Keyring, error) {
		return nil, fmt.Errorf("the keyring %s cannot be used: %w; export it with gpg --export --armor", name, fmt.Errorf(format, args...))
	}
	defer func() {
		if r := recover(); r != nil { // the library's, on packets that are malformed
			k, err = fail("it has a packet that is malformed")
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
			return fail("key %d, %X, has a revocation that it did not make itself, or that is not valid: leave the key out, or, if it is to be trusted, that revocation", i+1, e.PrimaryKey.Fingerprint)
		}
		g.fingerprint = e.PrimaryKey.Fingerprint
		g.ids = append(g.ids, e.PrimaryKey.KeyId)
		for _, sub := range e.Subkeys {
			g.ids = append(g.ids, sub.PublicKey.KeyId)
		}
		k.keys = append(k.keys, g)
	}
	if len(k.keys) == 0 {
		return fail("no key of it is supported (%s)", k.skipped)
	}
	return k, nil
}

// dearmor returns the packets of all blocks of ASCII armor; what has none is
// taken as it is.
func dearmor(data []byte) ([]byte, error) {
	const begin, end = "-----BEGIN PGP ", "-----END PGP "
	blocks := bytes.Count(data, []byte(begin))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it is empty")
	}
	if blocks == 0 && data[0]&0x80 == 0 {
		return nil, errors.New("it holds no block of ASCII armor")
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
			return nil, fmt.Errorf("block %d of its ASCII armor has no proper head: %w", i+1, err)
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

// The numbers of packets that a keyring has.
const (
	tagSignature = 2
	tagSecret    = 5
	tagPublic    = 6
	tagSecretSub = 7
	tagPublicSub = 14
)

// The types of signatures that revoke a key and a subkey.
const (
	revokesKey    = 0x20
	revokesSubkey = 0x28
)

// signatureType is the type that a packet of a signature says it has.
func signatureType(contents []byte) byte {
	at := 1
	if len(contents) > 0 && contents[0] < 4 { // the old versions have a length before
		at = 2
	}
	if len(contents) <= at {
		return 0
	}
	return contents[at]
}

// unsupported returns why a packet is of a kind that is not supported.
func unsupported(p *packet.OpaquePacket) error {
	_, err := p.Parse()
	if as := pgperrors.UnsupportedError(""); errors.As(err, &as) {
		return err
	}
	return nil
}

// split parts the packets of a keyring by keys.
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
			return nil, errors.New("it holds a secret key, which must not be here")
		case p.Tag == tagPublic:
			groups = append(groups, &packetGroup{unsupported: unsupported(p)})
			passed = false
		case len(groups) == 0:
			return nil, fmt.Errorf("it begins with a packet of type %d, and not with a public key", p.Tag)
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
