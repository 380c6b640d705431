package signature

import (
	"fmt"
	"strings"
	"unicode"
)

// Reason is the kind of a failure.
type Reason string

// The reasons, from the store to the statement.
const (
	Unreachable Reason = "Unreachable" // the store did not return the signature
	Missing     Reason = "Missing"     // the store has no signature for the digest
	Limit       Reason = "Limit"       // the signature, its content or their number is too large
	Unreadable  Reason = "Unreadable"  // it is not an OpenPGP message
	Unsigned    Reason = "Unsigned"    // the message has no signature
	UnknownKey  Reason = "UnknownKey"  // the key is not in the keyring
	Forged      Reason = "Forged"      // the key did not make the signature
	Expired     Reason = "Expired"     // the key or the signature is no longer valid, or not yet
	Revoked     Reason = "Revoked"     // the key was revoked
	Weak        Reason = "Weak"        // the key or the hash is too weak, or not meant for signing
	Statement   Reason = "Statement"   // the signed content is not a statement about an image
	OtherDigest Reason = "OtherDigest" // it is a statement about another image
	OtherName   Reason = "OtherName"   // it names an image in another repository
)

// Failure is why a signature did not help.
type Failure struct {
	Reason Reason // the kind of failure
	Err    error  // what happened, in one line
}

// Error returns the message in one line.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns what happened.
func (f *Failure) Unwrap() error { return f.Err }

func failure(reason Reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Attempt is one attempt to satisfy a keyring.
type Attempt struct {
	Store     string   // the queried store
	Signature string   // which of its signatures; empty if there is none
	Keyring   string   // the keyring it was checked against; empty if none
	Failure   *Failure // why it did not help
}

// Error reports why an image cannot be trusted.
type Error struct {
	Digest   string    // of the image
	Keyrings []string  // the keyrings that are not satisfied, sorted
	Attempts []Attempt // by store, then in the store's order, then by keyring
	Err      error     // why the search ended early, or could not begin; nil if everything was tried
}

// shown limits how many attempts a message repeats.
const shown = 12

// Error returns the message in one line. It repeats the first dozen attempts.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "unable to verify %q", e.Digest)
	if len(e.Keyrings) > 0 {
		b.WriteString(" against keyrings: " + strings.Join(e.Keyrings, ", "))
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	for i, a := range e.Attempts {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(e.Attempts)-shown)
			break
		}
		b.WriteString("; " + a.Store + ": ")
		if a.Signature != "" {
			b.WriteString(a.Signature + ": ")
		}
		if a.Keyring != "" {
			b.WriteString("keyring " + a.Keyring + ": ")
		}
		b.WriteString(oneLine(a.Failure.Error()))
	}
	return b.String()
}

// Unwrap returns all causes.
func (e *Error) Unwrap() []error {
	var list []error
	if e.Err != nil {
		list = append(list, e.Err)
	}
	for _, a := range e.Attempts {
		list = append(list, a.Failure)
	}
	return list
}

// oneLine returns a text as one line of limited length with only printable
// characters, because it may come from a server.
func oneLine(s string) string {
	const longest = 300
	if len(s) > longest {
		s = s[:longest] + " …"
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
}
