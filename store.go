package fairlead

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/words"
)

// ErrNotFound is returned by Get and Delete for a key that does not exist.
// Match it with [errors.Is].
var ErrNotFound = errors.New("key not found")

// ErrConflict is returned by Put and Delete if the key is not at the revision
// that the caller named: somebody else changed it. Get it and decide again.
// Match it with [errors.Is].
var ErrConflict = errors.New("key changed since it was read")

// ErrUnusable is wrapped by the errors of a Store of which no later call can
// succeed: it was closed, or it does not know any more what it holds. It ends
// [Runner.Run]. Match it with [errors.Is].
var ErrUnusable = errors.New("the store cannot be used any more")

// Limits of what a Store must hold, for all its keys and values alike. They
// are those of a Kubernetes ConfigMap with one key, so that any store can
// keep them.
const (
	// MaxKeySize is the maximum size of a key in bytes.
	MaxKeySize = 253

	// MaxValueSize is the maximum size of a value in bytes: 1 MiB less 4 KiB,
	// which are reserved for the key and for what a store itself adds.
	MaxValueSize = 1<<20 - 4<<10
)

// Revision names one version of one key. It is opaque: compare it for equality
// only. The empty Revision means that the key is absent.
type Revision string

// Record is a key with its value at one revision.
type Record struct {
	Key      string
	Value    []byte
	Revision Revision
}

// Store keeps small durable state as bytes, by compare-and-swap. An
// implementation follows these rules, which [CheckStore] tests:
//
//  1. Keys have 1 to [MaxKeySize] bytes out of a-z, A-Z, 0-9, '-', '_' and '.',
//     are not "." and do not begin with "..". Case matters. Values have at most
//     [MaxValueSize] bytes; an empty value is a value. [CheckLimits] checks
//     this, and Put returns its error for everything else. No other method
//     finds such keys.
//  2. Put writes value if the key is at prev, and returns the new revision;
//     with the empty prev it creates the key. In every other case, including a
//     prev whose key is gone, it returns [ErrConflict] and changes nothing.
//  3. Delete removes the key if it is at prev. It returns [ErrNotFound] when
//     the key is absent, [ErrConflict] when it is at another revision.
//  4. A revision is never empty and never repeats for the key: not after the
//     key is deleted and created again, not after a restart.
//  5. Of several Puts and Deletes at one revision, exactly one succeeds, whatever
//     goroutine, process or machine they come from.
//  6. Once Put or Delete has returned nil, the change is durable, and so is
//     what Get and List return: no crash undoes it.
//  7. Any other error, such as that of a canceled context, leaves open whether
//     the write took place: the key is at its old or at its new value, never in
//     between. Get shows which.
//  8. Get returns the record, or [ErrNotFound].
//  9. List yields the records whose key begins with prefix in ascending order of
//     their bytes. It is not a snapshot: each record was current at some moment
//     of the iteration, a key that existed throughout is yielded once, one that
//     was created or deleted meanwhile at most once. The caller may use the
//     store inside the loop and may leave it early. An error ends the sequence.
//  10. If the context has already ended, every method returns its error.
//  11. Values passed in and returned belong to the caller: the store keeps and
//     returns copies.
//
// All methods may be called from several goroutines. A store that holds
// resources also has Close, found by assertion to [io.Closer].
type Store interface {
	Get(ctx context.Context, key string) (Record, error)
	Put(ctx context.Context, key string, value []byte, prev Revision) (Revision, error)
	Delete(ctx context.Context, key string, prev Revision) error
	List(ctx context.Context, prefix string) iter.Seq2[Record, error]
}

// Watcher is a Store that also reports changes. It is found by type assertion.
//
// Ranging over Watch first yields every record whose key begins with prefix, in
// key order, then one record per change, for as long as ctx lasts. A key that
// was deleted is yielded with the empty Revision and no value. A slow caller
// may see only the last of several changes of a key, and the same record may be
// yielded again; but the last record yielded for a key eventually matches its
// current state. The sequence ends with an error, ctx.Err() among them, or when
// the caller leaves the loop. Each range begins again.
type Watcher interface {
	Store
	Watch(ctx context.Context, prefix string) iter.Seq2[Record, error]
}

// LimitError says that a key or a value exceeds the limits of every [Store].
type LimitError struct {
	Key    string // the key, as given
	Reason string // what is wrong with it or with its value, and what is allowed
}

// Error names the key, shortened if it is long, and the limit.
func (e *LimitError) Error() string {
	key := words.Clip(e.Key, 64)
	return fmt.Sprintf("store: key %q: %s", key, e.Reason)
}

// CheckLimits returns a [*LimitError] if key or value exceeds the limits of a
// [Store], else nil. Implementers call it first in Put.
func CheckLimits(key string, value []byte) error {
	bad := strings.IndexFunc(key, func(r rune) bool { return !keyRune(r) })
	reason := ""
	switch {
	case key == "":
		reason = fmt.Sprintf("is empty: give it 1 to %d bytes", MaxKeySize)
	case len(key) > MaxKeySize:
		reason = fmt.Sprintf("has %d bytes: shorten it to at most %d", len(key), MaxKeySize)
	case bad >= 0:
		_, size := utf8.DecodeRuneInString(key[bad:])
		reason = fmt.Sprintf("has %q at byte %d: use only a-z, A-Z, 0-9, '-', '_' and '.'", key[bad:bad+size], bad)
	case key == "." || strings.HasPrefix(key, ".."):
		reason = `is "." or begins with "..": begin it with another character`
	case len(value) > MaxValueSize:
		reason = fmt.Sprintf("has a value of %d bytes: store less, or split it over several keys; at most %d are kept", len(value), MaxValueSize)
	default:
		return nil
	}
	return &LimitError{Key: key, Reason: reason}
}

func keyRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		r == '-' || r == '_' || r == '.'
}

// keyError adds the key to one of the sentinel errors.
func keyError(key string, err error) error {
	return fmt.Errorf("store: key %q: %w", key, err)
}

// deleteError returns why a key at revision at cannot be deleted at prev, or
// nil.
func deleteError(key string, at, prev Revision) error {
	switch at {
	case "":
		return keyError(key, ErrNotFound)
	case prev:
		return nil
	}
	return keyError(key, ErrConflict)
}
