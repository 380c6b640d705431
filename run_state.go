package fairlead

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// envelope is what the Store holds for one object. Its own form never changes, so
// that every release can read the version and the name.
type envelope struct {
	Version int             `json:"version"`
	Name    string          `json:"name"`
	State   json.RawMessage `json:"state,omitempty"`
	Packed  []byte          `json:"packed,omitempty"` // the State, compressed, if it is large
}

// largeState is the size from which on states are stored compressed: they consist of
// many equal parts.
const largeState = 64 << 10

// largestState is the size that a state may have before it is compressed: what is read back
// is limited to it.
const largestState = 64 * MaxValueSize

// seal returns what the Store holds for an encoded state: data as it is, or compressed if
// that is large.
func seal(version int, name string, data []byte) ([]byte, error) {
	if len(data) < largeState {
		return data, nil
	}
	if len(data) > largestState {
		return nil, &LimitError{Key: name, Reason: fmt.Sprintf("its state has %d bytes, of at most %d before it is compressed", len(data), largestState)}
	}
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(e.State); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Version: version, Name: name, Packed: packed.Bytes()})
}

// unpack makes State of what is Packed.
func (e *envelope) unpack() error {
	if e.Packed == nil {
		return nil
	}
	r, err := gzip.NewReader(bytes.NewReader(e.Packed))
	if err == nil {
		e.State, err = io.ReadAll(io.LimitReader(r, largestState))
	}
	if err != nil {
		return fmt.Errorf("the state of %q cannot be unpacked: %w: delete its key to start over", e.Name, err)
	}
	return nil
}

// sealed is an envelope around a state of this release's version. It is what the
// Store holds nearly always, and is read and written without a copy in between.
type sealed[S any] struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	State   *S     `json:"state"`
}

// StateKey returns the key of an object's state: the engine's name, a dot, and the
// object's name, in which '_' and two hexadecimal digits stand for every byte that
// keys may not have. A name that would be too long ends in "__" and a hash
// instead.
func StateKey(engine, name string) string {
	var b strings.Builder
	b.WriteString(prefix(engine))
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	key := b.String()
	if len(key) <= MaxKeySize {
		return key
	}
	sum := sha256.Sum256([]byte(name))
	end := "__" + hex.EncodeToString(sum[:16])
	return key[:MaxKeySize-len(end)] + end
}

func prefix(engine string) string { return engine + "." }

// loaded is an object's state as the Store holds it.
type loaded[S any] struct {
	state S
	key   string
	data  []byte   // encoded, nil when there is none
	rev   Revision // empty when there is none
}

// load reads the state of the object; it is the zero S when there is none.
func (r *Runner[S, W, A]) load(ctx context.Context, name string) (l loaded[S], err error) {
	l.key = StateKey(r.engine.Name, name)
	rec, err := r.options.Store.Get(ctx, l.key)
	if errors.Is(err, ErrNotFound) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	l.data, l.rev = rec.Value, rec.Revision
	var own sealed[S]
	if err := json.Unmarshal(rec.Value, &own); err == nil && own.State != nil && own.Name == name && own.Version == r.engine.Version {
		l.state = *own.State
		return l, nil
	}
	e, err := decodeEnvelope(rec)
	if err == nil {
		err = e.unpack()
	}
	if err != nil {
		return l, err
	}
	switch {
	case e.Name != name:
		return l, fmt.Errorf("key %q holds the state of %q: delete it to start over", l.key, e.Name)
	case e.Version > r.engine.Version:
		return l, &VersionError{Engine: r.engine.Name, Name: name, Key: l.key, Version: e.Version, Known: r.engine.Version}
	case e.Version < r.engine.Version:
		if l.state, err = r.engine.Upgrade(e.Version, e.State); err != nil {
			return l, fmt.Errorf("state of version %d under key %q: %w", e.Version, l.key, err)
		}
	default:
		if err := json.Unmarshal(e.State, &l.state); err != nil {
			return l, fmt.Errorf("state under key %q: %w: delete the key to start over", l.key, err)
		}
	}
	return l, nil
}

func decodeEnvelope(rec Record) (e envelope, err error) {
	err = json.Unmarshal(rec.Value, &e)
	if err == nil && (e.Version < 1 || e.Name == "") {
		err = errors.New("version or name is missing")
	}
	if err != nil {
		return e, fmt.Errorf("key %q does not hold a state: %w: delete it to start over", rec.Key, err)
	}
	return e, nil
}

// save makes the proposed state durable and returns its revision. It returns
// errStale if the state that was decided on has changed.
func (r *Runner[S, W, A]) save(ctx context.Context, name string, p proposal[S, A]) (Revision, error) {
	done := r.done(p.State)
	switch {
	case done && len(p.Actions) == 0:
		return "", r.finish(ctx, name, p, p.loaded.rev)
	case done && p.loaded.rev == "":
		return "", r.confirm(ctx, p.loaded)
	}
	data, err := json.Marshal(sealed[S]{Version: r.engine.Version, Name: name, State: &p.State})
	if err == nil {
		data, err = seal(r.engine.Version, name, data)
	}
	if err != nil {
		return "", err
	}
	if bytes.Equal(data, p.loaded.data) { // nothing to write, but the stored state may have changed
		if len(p.Actions) == 0 {
			return p.loaded.rev, nil
		}
		return p.loaded.rev, r.confirm(ctx, p.loaded)
	}
	rev, err := r.options.Store.Put(ctx, p.loaded.key, data, p.loaded.rev)
	if err != nil {
		return "", stale(err)
	}
	r.saved(name, rev)
	return rev, nil
}

// confirm checks that the state is still the one that was loaded.
func (r *Runner[S, W, A]) confirm(ctx context.Context, l loaded[S]) error {
	rec, err := r.options.Store.Get(ctx, l.key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if rec.Revision != l.rev {
		return errStale
	}
	return nil
}

// finish deletes state that is no longer needed, if there is any.
func (r *Runner[S, W, A]) finish(ctx context.Context, name string, p proposal[S, A], rev Revision) error {
	if rev == "" || !r.done(p.State) {
		return nil
	}
	err := r.options.Store.Delete(ctx, p.loaded.key, rev)
	if errors.Is(err, ErrNotFound) {
		return nil // another runner was faster
	}
	if err == nil {
		r.saved(name, "")
	}
	return stale(err)
}

func (r *Runner[S, W, A]) done(state S) bool { return r.engine.Done != nil && r.engine.Done(state) }

func (r *Runner[S, W, A]) saved(name string, rev Revision) {
	if f := r.options.Trace.Saved; f != nil {
		f(name, rev)
	}
}

// stale turns a conflict of the Store into errStale.
func stale(err error) error {
	if errors.Is(err, ErrConflict) {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	return err
}
