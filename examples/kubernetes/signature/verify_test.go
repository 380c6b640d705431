package signature_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// held is a store in memory, with signatures by digest.
type held struct {
	name string
	of   map[string][][]byte
	mu   sync.Mutex
	n    int // how often it was queried
}

func hold(name string, messages ...[]byte) *held {
	return &held{name: name, of: map[string][][]byte{digest: messages}}
}

func (h *held) Name() string { return h.name }

func (h *held) Signatures(_ context.Context, digest string) iter.Seq2[signature.Signature, error] {
	return func(yield func(signature.Signature, error) bool) {
		h.mu.Lock()
		h.n++
		h.mu.Unlock()
		for i, m := range h.of[digest] {
			if !yield(signature.Signature{Name: fmt.Sprintf("signature-%d", i+1), Message: m}, nil) {
				return
			}
		}
	}
}

// clockAt returns a stopped clock.
func clockAt(t time.Time) *fairlead.ManualClock {
	c := new(fairlead.ManualClock)
	c.Set(t)
	return c
}

func verifier(tb testing.TB, keyrings []*signature.Keyring, opts *signature.Options, stores ...signature.Store) *signature.Verifier {
	tb.Helper()
	if opts == nil {
		opts = &signature.Options{}
	}
	if opts.Clock == nil {
		opts.Clock = clockAt(today)
	}
	v, err := signature.New(keyrings, stores, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// reasons returns the reasons of all attempts of an error; nil if there is no
// error.
func reasons(tb testing.TB, err error) (list []signature.Reason) {
	tb.Helper()
	if err == nil {
		return nil
	}
	var e *signature.Error
	if !errors.As(err, &e) {
		tb.Fatalf("%T: %v; want an *Error", err, err)
	}
	if s := err.Error(); strings.Contains(s, "\n") || !strings.HasPrefix(s, fmt.Sprintf("unable to verify %q", e.Digest)) {
		tb.Errorf("the error says %q; want one line about the image", s)
	}
	for _, a := range e.Attempts {
		list = append(list, a.Failure.Reason)
	}
	return list
}

// Each way in which a signature can be wrong has its own reason, and none of
// them is trusted.
func TestSignatures(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	stranger := newKey(t, "stranger", days(-100), 0)
	shortLived := newKey(t, "short-lived", days(-100), 50)
	ends := newKey(t, "ends", days(-100), 101)
	good := statement(digest)
	revoked := func(reason packet.ReasonForRevocation) (*openpgp.Entity, []byte) {
		e := newKey(t, "revoked", days(-100), 0)
		before := sign(t, good, at(days(-50)), e)
		if err := e.Revoke(reason, "", at(days(-10))); err != nil {
			t.Fatal(err)
		}
		return e, before
	}
	compromised, byCompromised := revoked(packet.KeyCompromised)
	retired, byRetired := revoked(packet.KeyRetired)
	sub := newKey(t, "sub", days(-100), 0)
	if err := sub.AddSigningSubkey(at(days(-90))); err != nil {
		t.Fatal(err)
	}
	subGone := newKey(t, "sub gone", days(-100), 0)
	if err := subGone.AddSigningSubkey(at(days(-90))); err != nil {
		t.Fatal(err)
	}
	bySubGone := sign(t, statement(digest), at(days(-50)), subGone)
	if err := subGone.Subkeys[len(subGone.Subkeys)-1].Revoke(packet.KeySuperseded, "", at(days(-10))); err != nil {
		t.Fatal(err)
	}
	subShort := newKey(t, "sub short", days(-100), 0)
	soon := at(days(-90))
	soon.KeyLifetimeSecs = 40 * 24 * 3600
	if err := subShort.AddSigningSubkey(soon); err != nil {
		t.Fatal(err)
	}
	certifies := newKey(t, "certifies", days(-100), 0)
	for _, id := range certifies.Identities {
		id.SelfCertifications[0].Packet.FlagSign = false
		if err := id.ReSign(at(days(-100))); err != nil {
			t.Fatal(err)
		}
	}
	small := weak(t)
	k := keyring(t, "ours", maker, shortLived, ends, compromised, retired, sub, subGone, subShort, small, certifies)

	signed := sign(t, good, at(days(-1)), maker)
	withSigLifetime := func(made, days int) []byte {
		config := at(today.AddDate(0, 0, made))
		config.SigLifetimeSecs = uint32(days * 24 * 3600)
		return sign(t, good, config, maker)
	}
	compressed := at(days(-1))
	compressed.DefaultCompressionAlgo = packet.CompressionZLIB
	cut := func(old, new string) []byte { return sign(t, strings.Replace(good, old, new, 1), at(days(-1)), maker) }

	for _, test := range []struct {
		name    string
		message []byte
		want    signature.Reason
	}{
		{"good", signed, ""},
		{"good, compressed", sign(t, good, compressed, maker), ""},
		{"good, by a subkey", sign(t, good, at(days(-1)), sub), ""},
		{"good, by two keys of which one is ours", sign(t, good, at(days(-1)), stranger, maker), ""},
		{"good, by two keys in the other order", sign(t, good, at(days(-1)), maker, stranger), ""},
		{"good, with the signature first", bytes.Join([][]byte{detached(t, good, maker, crypto.SHA256, days(-1)), literal(t, good)}, nil), ""},
		{"good, with an end", withSigLifetime(-1, 2), ""},
		{"good, behind fifteen by a stranger", many(t, good, 15, stranger, maker), ""},
		{"behind sixteen by a stranger", many(t, good, 16, stranger, maker), signature.Limit},
		{"in very many packets", bytes.Join([][]byte{bytes.Repeat(onePass(t, maker), 64), signed}, nil), signature.Limit},
		{"packed twice", packed(t, packed(t, signed)), signature.Unreadable},
		{"good, packed", packed(t, signed), ""},
		{"of the largest size", padded(t, maker, 50<<10), ""},
		{"larger by one byte", padded(t, maker, 50<<10+1), signature.Limit},
		{"unpacked, too large by far", packed(t, sign(t, good+strings.Repeat(" ", 1<<20), at(days(-1)), maker)), signature.Limit},
		{"unpacked, as large as may be", packed(t, sign(t, good+strings.Repeat(" ", 1000<<10), at(days(-1)), maker)), ""},
		{"by a subkey expired since", sign(t, good, at(days(-60)), subShort), signature.Expired},
		{"by a key that is too short", sign(t, good, &packet.Config{Time: at(days(-1)).Time, MinRSABits: 1024}, small), signature.Weak},
		{"by a key for certificates", append(detached(t, good, certifies, crypto.SHA256, days(-1)), literal(t, good)...), signature.Weak},
		{"by a certificate", before(t, good, maker, func(s *packet.Signature) { s.SigType = packet.SigTypePositiveCert }), signature.Forged},
		{"older than the key", before(t, good, maker, func(s *packet.Signature) { s.CreationTime = days(-200) }), signature.Forged},
		{"with a condition that is not known", before(t, good, maker, func(s *packet.Signature) {
			s.Notations = []*packet.Notation{{Name: "only-if@example.com", Value: []byte("x"), IsCritical: true, IsHumanReadable: true}}
		}), signature.Forged},
		{"good, by a key with an end", sign(t, good, at(days(-1)), ends), ""},
		{"without optional members", sign(t, `{"critical":{"image":{"docker-manifest-digest":"`+digest+`"},"type":"atomic container signature","identity":{"docker-reference":"x"}}}`, at(days(-1)), maker), ""},
		{"empty", nil, signature.Unreadable},
		{"text", []byte(good), signature.Unreadable},
		{"a page", []byte("<html>"), signature.Unreadable},
		{"noise", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, signature.Unreadable},
		{"cut short", signed[:len(signed)-10], signature.Unreadable},
		{"a key", bytes.Clone(raw(t, maker)), signature.Unreadable},
		{"not signed", literal(t, good), signature.Unsigned},
		{"a signature without content", detached(t, good, maker, crypto.SHA256, days(-1)), signature.Unreadable},
		{"oversized", append(bytes.Clone(signed), make([]byte, 50<<10)...), signature.Limit},
		{"a bomb", sign(t, strings.Repeat(" ", 8<<20), compressed, maker), signature.Limit},
		{"twice", append(bytes.Clone(signed), signed...), signature.Unreadable},
		{"by a stranger", sign(t, good, at(days(-1)), stranger), signature.UnknownKey},
		{"by a stranger of our name", sign(t, good, at(days(-1)), newKey(t, "maker", days(-100), 0)), signature.UnknownKey},
		{"with another content", bytes.Replace(signed, []byte(digest), []byte(other), 1), signature.Forged},
		{"about another image", sign(t, statement(other), at(days(-1)), maker), signature.OtherDigest},
		{"expired", withSigLifetime(-10, 5), signature.Expired},
		{"made tomorrow", sign(t, good, at(days(1)), maker), signature.Expired},
		{"by a key that had expired", bytes.Join([][]byte{detached(t, good, shortLived, crypto.SHA256, days(-10)), literal(t, good)}, nil), signature.Expired},
		{"by a key that has expired since", sign(t, good, at(days(-60)), shortLived), signature.Expired},
		{"by a compromised key, before", byCompromised, signature.Revoked},
		{"by a retired key, before", byRetired, signature.Revoked},
		{"by a subkey revoked since", bySubGone, signature.Expired},
		{"with a weak hash", bytes.Join([][]byte{detached(t, good, maker, crypto.SHA1, days(-1)), literal(t, good)}, nil), signature.Weak},
		{"of another type", cut("atomic container signature", "atomic container promise"), signature.Statement},
		{"without identity", cut(image, ""), signature.Statement},
		{"with an unknown member", cut(`"optional"`, `"extra": 1, "optional"`), signature.Statement},
		{"with an unknown critical member", cut(`"type"`, `"until": 1, "type"`), signature.Statement},
		{"with an unknown optional member", cut(`"creator"`, `"author"`), signature.Statement},
		{"with a member in capitals", cut(`"docker-manifest-digest"`, `"Docker-Manifest-Digest"`), signature.Statement},
		{"with two digests", cut(`{"docker-manifest-digest"`, `{"docker-manifest-digest": "`+other+`", "docker-manifest-digest"`), signature.Statement},
		{"without digest", cut(digest, ""), signature.OtherDigest},
		{"with more behind", sign(t, good+"{}", at(days(-1)), maker), signature.Statement},
		{"with a list", sign(t, "["+good+"]", at(days(-1)), maker), signature.Statement},
		{"with the digest in capitals", cut(digest, strings.ToUpper(digest)), signature.OtherDigest},
		{"with the digest's hash in capitals", cut(digest[7:], strings.ToUpper(digest[7:])), signature.OtherDigest},
		{"with a longer digest", cut(digest, digest+"0"), signature.OtherDigest},
		{"with null for what is optional", sign(t, good[:strings.Index(good, `"optional"`)]+`"optional": null}`, at(days(-1)), maker), ""},
		{"with a foreign packet", append(foreign(t), signed...), signature.Unreadable},
		{"with nothing", sign(t, "", at(days(-1)), maker), signature.Statement},
		{"with null", sign(t, `{"critical": null}`, at(days(-1)), maker), signature.Statement},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := verifier(t, []*signature.Keyring{k}, nil, hold("memory", test.message)).Verify(t.Context(), digest)
			got := reasons(t, err)
			if test.want == "" && err != nil || test.want != "" && !slices.Equal(got, []signature.Reason{test.want}) {
				t.Errorf("%v: %v; want %q", got, err, test.want)
			}
		})
	}
}

// Whatever bits of a message are changed, if it is still trusted, its content
// is what was signed.
func TestChangedBits(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	k := keyring(t, "ours", maker)
	good := sign(t, statement(digest), at(days(-1)), maker)
	random := rand.New(rand.NewPCG(1, 2))
	trusted := 0
	for i := range good {
		changed := bytes.Clone(good)
		changed[i] ^= 1 << random.IntN(8)
		s := hold("memory", changed)
		s.of[other] = s.of[digest]
		v := verifier(t, []*signature.Keyring{k}, nil, s)
		if v.Verify(t.Context(), digest) == nil {
			trusted++
			if !bytes.Contains(changed, []byte(statement(digest))) {
				t.Errorf("byte %d changed: still trusted, with another content", i)
			}
		}
		if v.Verify(t.Context(), other) == nil {
			t.Errorf("byte %d changed: another image is trusted", i)
		}
	}
	if trusted > len(good)/5 { // the headers of packets are not signed
		t.Errorf("%d of %d changes make no difference", trusted, len(good))
	}
}

// Every keyring requires a signature, and these may be in different stores.
func TestEveryKeyring(t *testing.T) {
	a, b := newKey(t, "a", days(-100), 0), newKey(t, "b", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ring-b", b), keyring(t, "ring-a", a)}
	byA, byB := sign(t, statement(digest), at(days(-1)), a), sign(t, statement(digest), at(days(-1)), b)
	both := sign(t, statement(digest), at(days(-1)), a, b)
	noise := []byte("noise")
	for _, test := range []struct {
		name   string
		stores []signature.Store
		want   string // the keyrings that are not satisfied
	}{
		{"both in one store", []signature.Store{hold("one", byA, byB)}, ""},
		{"each in its store", []signature.Store{hold("one", byA), hold("two", noise, byB)}, ""},
		{"one message", []signature.Store{hold("one", noise, both)}, ""},
		{"the second is missing", []signature.Store{hold("one", byA, byA), hold("two")}, "ring-b"},
		{"the first is missing", []signature.Store{hold("one"), hold("two", byB)}, "ring-a"},
		{"none", []signature.Store{hold("one", noise), hold("two")}, "ring-a, ring-b"},
	} {
		err := verifier(t, rings, nil, test.stores...).Verify(t.Context(), digest)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		var e *signature.Error
		if !errors.As(err, &e) || strings.Join(e.Keyrings, ", ") != test.want || !strings.Contains(err.Error(), "against keyrings: "+test.want+";") {
			t.Errorf("%s: %v; want that %s are not satisfied", test.name, err, test.want)
		}
	}
	err := verifier(t, rings, nil, hold("one", byA, noise), hold("two")).Verify(t.Context(), digest)
	var early *signature.Error // ring-a fails once, and is then satisfied
	byStranger := sign(t, statement(digest), at(days(-1)), newKey(t, "c", days(-100), 0))
	if err := verifier(t, rings, nil, hold("one", byStranger, byA)).Verify(t.Context(), digest); !errors.As(err, &early) || len(early.Attempts) != 2 || early.Attempts[0].Keyring != "ring-b" {
		t.Errorf("%v; want two attempts at ring-b", err)
	}
	want := fmt.Sprintf(`unable to verify %q against keyrings: ring-b; `+
		`one: signature-1: keyring ring-b: it is signed by the key %016X, which is not in the keyring; `+
		`one: signature-2: it is not an OpenPGP message in binary form: it begins with "noise"; `+
		`two: it has no signature for the image`, digest, a.PrimaryKey.KeyId)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Statements may be limited to some repositories.
func TestRepositories(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	for name, want := range map[string]bool{
		"quay.example:5000/org/release":                 true,
		"quay.example:5000/org/release:4.19":            true,
		"quay.example:5000/org/release@" + digest:       true,
		"quay.example:5000/org/release:4.19@" + digest:  true,
		"quay.example:5000/org/release-nightly:4.19":    false,
		"quay.example/org/release":                      false,
		"evil.example/quay.example:5000/org/release:4":  false,
		"quay.example:5000/org/release/deeper:4":        false,
		"quay.example:5000/org/release:4/../../org2/it": false,
	} {
		message := sign(t, strings.Replace(statement(digest), image, name, 1), at(days(-1)), maker)
		err := verifier(t, rings, &signature.Options{Repositories: []string{"x/y", "quay.example:5000/org/release"}}, hold("memory", message)).Verify(t.Context(), digest)
		if want != (err == nil) || !want && !slices.Equal(reasons(t, err), []signature.Reason{signature.OtherName}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If the clock of a cluster is slow, the error points to it.
func TestClockBehind(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	v := verifier(t, []*signature.Keyring{keyring(t, "ours", maker)}, nil, hold("memory", sign(t, statement(digest), at(days(1)), maker)))
	if err := v.Verify(t.Context(), digest); err == nil || !strings.Contains(err.Error(), days(1).Format(time.RFC3339)+", which is in the future: is the clock right?") {
		t.Error(err)
	}
}

// A server's message cannot make the error longer, or look like another one.
func TestErrorText(t *testing.T) {
	e := &signature.Error{Digest: digest, Attempts: []signature.Attempt{{Store: "s", Failure: &signature.Failure{
		Reason: signature.Unreachable, Err: errors.New("a\nb\u2028c\u202ed\x00e \xff " + strings.Repeat("é", 1000)),
	}}}}
	want := fmt.Sprintf("unable to verify %q; s: a b c d e ? éé", digest)
	if s := e.Error(); !strings.HasPrefix(s, want) || len(s) > 450 || !utf8.ValidString(s) {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}

// An invalid digest is refused before any store is queried.
func TestNoDigest(t *testing.T) {
	store := hold("memory")
	v := verifier(t, []*signature.Keyring{keyring(t, "ours", newKey(t, "maker", days(-1), 0))}, nil, store)
	for _, d := range []string{"", "latest", "sha256:", ":abc", "sha256:a/../b", "sha256:a b", "SHA256:ab", "sha256:ab:cd", "sha256:ab\n", "../x:ab", "a..b:c"} {
		if err := v.Verify(t.Context(), d); err == nil || !strings.Contains(err.Error(), "not a digest") {
			t.Errorf("%q: %v", d, err)
		}
	}
	if store.n > 0 {
		t.Errorf("the store was asked %d times", store.n)
	}
}

// A verifier that would accept or refuse everything is an error.
func TestNewRefuses(t *testing.T) {
	k := keyring(t, "ours", newKey(t, "maker", days(-1), 0))
	for name, err := range map[string]error{
		"no keyring":            second(signature.New(nil, []signature.Store{hold("x")}, nil)),
		"no store":              second(signature.New([]*signature.Keyring{k}, nil, nil)),
		"no store but first":    second(signature.New([]*signature.Keyring{k}, []signature.Store{}, &signature.Options{First: []signature.Store{hold("x")}})),
		"a nil keyring":         second(signature.New([]*signature.Keyring{k, nil}, []signature.Store{hold("x")}, nil)),
		"a nil store":           second(signature.New([]*signature.Keyring{k}, []signature.Store{hold("x"), nil}, nil)),
		"a nil store first":     second(signature.New([]*signature.Keyring{k}, []signature.Store{hold("x")}, &signature.Options{First: []signature.Store{nil}})),
		"two keyrings the same": second(signature.New([]*signature.Keyring{k, k}, []signature.Store{hold("x")}, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The stores in First are queried one after the other before the others,
// which are queried only if necessary.
func TestFirst(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	good := sign(t, statement(digest), at(days(-1)), maker)
	one, two, later := hold("one"), hold("two", good), hold("later", good)
	v := verifier(t, rings, &signature.Options{First: []signature.Store{one, two}}, later)
	if err := v.Verify(t.Context(), digest); err != nil || one.n != 1 || two.n != 1 || later.n != 0 {
		t.Errorf("%v; asked %d, %d, %d times", err, one.n, two.n, later.n)
	}
	two.of, later.of = nil, nil
	v = verifier(t, rings, &signature.Options{First: []signature.Store{one, two}}, later)
	var e *signature.Error
	if err := v.Verify(t.Context(), digest); !errors.As(err, &e) || len(e.Attempts) != 3 || e.Attempts[2].Store != "later" {
		t.Errorf("%v; want three stores without a signature", err)
	}
}

// Signatures of a verified image are not looked up again until they are no
// longer valid; after a failure they are; only those of the last images are
// remembered.
func TestMemory(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	config := at(days(-1))
	config.SigLifetimeSecs = 5 * 24 * 3600
	store := hold("memory", []byte("noise"), sign(t, statement(digest), config, maker))
	for i := range 3 {
		d := fmt.Sprintf("sha256:%064d", i)
		store.of[d] = [][]byte{sign(t, statement(d), at(days(-1)), maker)}
	}
	clock := clockAt(today)
	v := verifier(t, []*signature.Keyring{keyring(t, "ours", maker)}, &signature.Options{Clock: clock, Remember: 2}, store)
	verify := func(d string, want bool, asked int) {
		t.Helper()
		err := v.Verify(t.Context(), d)
		if (err == nil) != want || store.n != asked {
			t.Errorf("%v; the store was asked %d times, want %d", err, store.n, asked)
		}
	}
	verify(digest, true, 1)
	verify(digest, true, 1)
	verify(other, false, 2)
	verify(other, false, 3)
	verify("sha256:"+strings.Repeat("0", 64), true, 4)
	verify(digest, true, 4)
	verify(fmt.Sprintf("sha256:%064d", 1), true, 5) // the first one is forgotten
	verify(digest, true, 6)
	clock.Advance(5 * 24 * time.Hour)
	verify(digest, false, 7)
	if got := reasons(t, v.Verify(t.Context(), digest)); !slices.Equal(got, []signature.Reason{signature.Unreadable, signature.Expired}) {
		t.Errorf("%v; want the failures of the signatures in the store, and of none remembered", got)
	}
	store.of[digest] = [][]byte{sign(t, statement(digest), at(days(0)), maker)}
	verify(digest, true, 9)
	verify(digest, true, 9)
}

// A store with an endless number of signatures is abandoned after some.
func TestManySignatures(t *testing.T) {
	maker := newKey(t, "maker", days(-100), 0)
	rings := []*signature.Keyring{keyring(t, "ours", maker)}
	bad := sign(t, statement(other), at(days(-1)), maker)
	good := sign(t, statement(digest), at(days(-1)), maker)
	for n, want := range map[int]bool{31: true, 32: false, 1000: false} {
		store := hold("memory", slices.Concat(slices.Repeat([][]byte{bad}, n), [][]byte{good})...)
		err := verifier(t, rings, nil, store).Verify(t.Context(), digest)
		if (err == nil) != want {
			t.Errorf("behind %d others: %v", n, err)
		}
		if err != nil && (len(reasons(t, err)) != 33 || len(err.Error()) > 12*400 || !strings.Contains(err.Error(), "and 21 more")) {
			t.Errorf("behind %d others: %d reasons, %d bytes: %v", n, len(reasons(t, err)), len(err.Error()), err)
		}
	}
}
