package signature

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// The limits of a message.
const (
	maxMessage    = 50 << 10 // bytes, as stored
	maxContent    = 1 << 20  // bytes, decompressed
	maxSignatures = 16       // in one message
)

// message is a parsed OpenPGP message. Nothing in it is verified.
type message struct {
	content    []byte
	signatures []part
}

// part is one signature of a message.
type part struct {
	raw    []byte
	issuer uint64    // the claimed key
	made   time.Time // the claimed time
}

// parse parses an OpenPGP message. The message may come from anyone: parse
// must return for any input.
func parse(data []byte) (m *message, err *Failure) {
	defer func() {
		if r := recover(); r != nil { // a panic of the library, on a malicious message
			m, err = nil, failure(Unreadable, "it is not a readable OpenPGP message")
		}
	}()
	switch {
	case len(data) > maxMessage:
		return nil, failure(Limit, "it has more than %d bytes", maxMessage)
	case len(data) == 0:
		return nil, failure(Unreadable, "it is empty")
	case data[0]&0x80 == 0:
		return nil, failure(Unreadable, "it is not an OpenPGP message in binary form: it begins with %q", data[:min(len(data), 16)])
	}
	r := &reader{packets: packet.NewReader(bytes.NewReader(data))}
	for {
		p, err := r.packets.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, unreadable("it is not a readable OpenPGP message", err)
		}
		if err := r.take(p); err != nil {
			return nil, err
		}
	}
	if !r.literal {
		return nil, failure(Unreadable, "it is an OpenPGP message without content")
	}
	return &r.m, nil
}

// reader processes the packets of one message.
type reader struct {
	packets *packet.Reader
	m       message
	packed  bool // a compressed packet was opened
	literal bool // the content was read
	count   int
}

// take processes the next packet.
func (r *reader) take(p packet.Packet) *Failure {
	if r.count++; r.count > 4*maxSignatures {
		return failure(Limit, "it has more than %d packets", 4*maxSignatures)
	}
	switch p := p.(type) {
	case *packet.Compressed:
		if r.packed {
			return failure(Unreadable, "it is compressed more than once")
		}
		r.packed = true
		limit := int64(maxContent)
		if err := r.packets.Push(p.LimitedBodyReader(&limit)); err != nil {
			return failure(Unreadable, "it cannot be decompressed: %w", err)
		}
	case *packet.OnePassSignature: // announces a signature that follows
	case *packet.Signature:
		return r.signature(p)
	case *packet.LiteralData:
		if r.literal {
			return failure(Unreadable, "it has more than one content")
		}
		r.literal = true
		content, err := io.ReadAll(p.Body) // uncompressed content is no larger than the message
		if err != nil {
			return unreadable("its content cannot be read", err)
		}
		r.m.content = content
	default:
		return failure(Unreadable, "it has a packet that signed messages do not have (%T)", p)
	}
	return nil
}

// unreadable returns why a part of a message cannot be read.
func unreadable(what string, err error) *Failure {
	if errors.Is(err, pgperrors.ErrMessageTooLarge) {
		return failure(Limit, "decompressed it has more than %d bytes", maxContent)
	}
	return failure(Unreadable, "%s: %w", what, err)
}

// signature records a signature.
func (r *reader) signature(p *packet.Signature) *Failure {
	var b bytes.Buffer
	switch {
	case p.IssuerKeyId == nil:
		return failure(Unreadable, "it has a signature that does not name its key")
	case len(r.m.signatures) == maxSignatures:
		return failure(Limit, "it has more than %d signatures", maxSignatures)
	}
	if err := p.Serialize(&b); err != nil {
		return failure(Unreadable, "it has a signature that cannot be read: %w", err)
	}
	r.m.signatures = append(r.m.signatures, part{raw: b.Bytes(), issuer: *p.IssuerKeyId, made: p.CreationTime})
	return nil
}

// verify returns nil if a key of the keyring signed the message, and was
// valid at that time and is now. Of several failures it returns the one that
// came closest.
func (k *Keyring) verify(m *message, now time.Time) (err *Failure) {
	defer func() {
		if r := recover(); r != nil { // a panic of the library, on a malicious message
			err = failure(Forged, "its signature cannot be verified")
		}
	}()
	closest := failure(Unsigned, "it is not signed")
	for _, s := range m.signatures {
		known := false
		for _, g := range k.keys {
			if !slices.Contains(g.ids, s.issuer) {
				continue
			}
			known = true
			f := g.verify(m.content, s, now)
			if f == nil {
				return nil
			}
			closest = f
		}
		if !known && closest.Reason == Unsigned {
			closest = failure(UnknownKey, "it is signed by the key %016X, which is not in the keyring", s.issuer)
		}
	}
	return closest
}

// verify returns nil if the key made the signature and is valid.
func (g *packetGroup) verify(content []byte, s part, now time.Time) *Failure {
	e, err := g.entity()
	if err != nil {
		return failure(Forged, "the key %016X cannot be read: %w", s.issuer, err)
	}
	config := &packet.Config{Time: func() time.Time { return now }}
	if s.made.After(now) {
		return failure(Expired, "its signature was made at %s, which is in the future: is the clock right?", s.made.UTC().Format(time.RFC3339))
	}
	_, _, err = openpgp.VerifyDetachedSignature(openpgp.EntityList{e}, bytes.NewReader(content), bytes.NewReader(s.raw), config)
	if err == nil { // the key was valid when it signed
		if _, err = e.VerifyPrimaryKey(now, config); err == nil {
			if _, ok := e.SigningKeyById(now, s.issuer, config); !ok {
				return failure(Expired, "the key %016X was valid when it signed, and no longer is", s.issuer)
			}
		}
	}
	return explain(err, s)
}

// explain returns why a signature is not valid, in our words.
func explain(err error, s part) *Failure {
	var weak pgperrors.WeakAlgorithmError
	var signature pgperrors.SignatureError
	var structure pgperrors.StructuralError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return failure(Expired, "the key %016X has expired", s.issuer)
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return failure(Revoked, "the key %016X was revoked", s.issuer)
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return failure(Expired, "its signature has expired")
	case errors.Is(err, pgperrors.ErrSignatureOlderThanKey):
		return failure(Forged, "its signature was made at %s, before the key %016X", s.made.UTC().Format(time.RFC3339), s.issuer)
	case errors.As(err, &weak):
		return failure(Weak, "the key %016X is too weak: %w", s.issuer, err)
	case errors.As(err, &signature) && bytes.HasPrefix([]byte(signature), []byte("insecure")):
		return failure(Weak, "its signature is too weak: %w", err)
	case errors.As(err, &structure):
		return failure(Weak, "the key %016X must not be used for signing: %w", s.issuer, err)
	}
	return failure(Forged, "its signature is not by the key %016X: %w", s.issuer, fmt.Errorf("%s", oneLine(err.Error())))
}
