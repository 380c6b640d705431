package fairlead

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// FileStore is a [Store] and [Watcher] in a directory: one file per key, each
// replaced as a whole.
//
//  1. If a process is killed at any instruction, or a machine loses power,
//     every key has its old or its new value. When Put or Delete has returned
//     nil, the change is on the disk.
//  2. Only one FileStore at a time can use the directory; [OpenFileStore]
//     returns a [*LockedError] to the second, in this process or in another.
//     Other readers of the files see each with its old or its new content.
//  3. All records are read and verified when the directory is opened, and then
//     held in memory: Get and List do not touch the disk. A file that is
//     damaged, or should not be there, is a [*CorruptError] of OpenFileStore.
//  4. A Put or Delete that fails before it takes effect leaves the store as it
//     was. If the disk fails after that point, the store no longer knows what
//     is durable: that call and every later one return the same error until the
//     directory is opened again.
//  5. A write costs one sync of a file and one of the directory. Writes of
//     different keys mostly run in parallel, and share the wait.
//
// A file has four lines: a mark with the SHA-256 of the rest, the key, the
// revision, and the value, which may be anything. The file name begins with the
// key in lower case, for people; the hash in it is what counts.
//
// The lock and the order of writes hold on local file systems. On systems other
// than Linux, the BSDs, macOS and Windows there is no lock: make sure that only
// one process uses the directory.
type FileStore struct {
	dir   string
	fs    fileSystem
	mem   MemStore
	epoch string // first part of all revisions of this opening; never used before

	last    atomic.Uint64  // number of the last revision
	stripes [16]sync.Mutex // a write holds the one of its key

	ended  atomic.Pointer[error] // why the store can no longer be used
	closed chan struct{}         // closed when ended is set
}

// LockedError says that a directory is in use by another FileStore.
type LockedError struct {
	Dir string // its absolute path
	Err error  // the system's error
}

// Error names the directory and says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("filestore %s: in use by another process, or opened twice by this one: close that one first, or give this one a directory of its own (%v)", e.Dir, e.Err)
}

// Unwrap returns the system's error.
func (e *LockedError) Unwrap() error { return e.Err }

// CorruptError says that a file of a FileStore does not hold what was written
// to it.
type CorruptError struct {
	File   string // its path
	Reason string // what is wrong with it
}

// Error names the file, what is wrong with it, and what to do.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("filestore: %s: %s: restore it from a backup, or move it away, which removes its key", e.File, e.Reason)
}

// OpenFileStore opens the store in dir. It creates dir, but not its parents.
// Every damaged file is reported as a [*CorruptError], in the order of names.
// The caller must call Close. Opening reads every file once.
func OpenFileStore(dir string) (*FileStore, error) {
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	s, err := openFileStore(dir, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

// fileSystem is what FileStore does to its directory. Names are plain file
// names. Nothing is durable before it is synced: the content of a file by the
// file's Sync, created, changed and removed names by SyncDir.
type fileSystem interface {
	Names() ([]string, error) // in order
	ReadFile(name string) ([]byte, error)
	Create(name string) (syncFile, error) // empty, even if it existed
	Rename(from, to string) error         // replaces to, at once
	Remove(name string) error
	SyncDir() error
	Close() error // releases the lock
}

// syncFile is a file being written.
type syncFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

func openFileStore(dir string, d fileSystem) (*FileStore, error) {
	s := &FileStore{dir: dir, fs: d, epoch: rand.Text(), closed: make(chan struct{})}
	// A killed process may have left names that are not durable. They must be,
	// before anybody reads what they stand for.
	if err := d.SyncDir(); err != nil {
		return nil, s.errorf("sync: %w", err)
	}
	names, err := d.Names()
	if err != nil {
		return nil, s.errorf("list: %w", err)
	}
	var corrupt []error
	for _, name := range names {
		switch prefixOf(name) {
		case tempPrefix:
			_ = d.Remove(name) // left by an interrupted write; it does no harm
			continue
		case "":
			continue // the lock, or not ours
		}
		data, err := d.ReadFile(name)
		if err != nil {
			return nil, s.errorf("read: %w", err)
		}
		r, reason := decodeRecord(data)
		if own := nameOf(r.Key).record(); reason == "" && own != name {
			reason = fmt.Sprintf("holds key %q, whose file is %s", r.Key, own)
		}
		if reason != "" {
			corrupt = append(corrupt, &CorruptError{File: filepath.Join(dir, name), Reason: reason})
			continue
		}
		s.mem.set(r)
	}
	if corrupt != nil {
		return nil, errors.Join(corrupt...)
	}
	return s, nil
}

// Close releases the directory, and ends every Watch, after a write in progress
// has finished. Later calls of all methods, including Close, return an error
// that wraps [fs.ErrClosed].
func (s *FileStore) Close() error {
	for i := range s.stripes {
		s.stripes[i].Lock()
		defer s.stripes[i].Unlock()
	}
	if err := s.usable(context.Background()); errors.Is(err, fs.ErrClosed) {
		return err
	}
	s.end(s.errorf("%w (%w)", fs.ErrClosed, ErrUnusable))
	if err := s.fs.Close(); err != nil {
		return s.errorf("close: %w", err)
	}
	return nil
}

// Get returns a copy of the record, from memory.
func (s *FileStore) Get(ctx context.Context, key string) (Record, error) {
	if err := s.usable(ctx); err != nil {
		return Record{}, err
	}
	return s.mem.Get(ctx, key)
}

// Put writes value to the disk and returns once it is durable. It is not
// interrupted if ctx ends.
func (s *FileStore) Put(ctx context.Context, key string, value []byte, prev Revision) (Revision, error) {
	if err := CheckLimits(key, value); err != nil {
		return "", err
	}
	name := nameOf(key)
	defer s.lock(name)()
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	if s.mem.revision(key) != prev {
		return "", keyError(key, ErrConflict)
	}
	rev := Revision(s.epoch + "-" + strconv.FormatUint(s.last.Add(1), 10))
	r := Record{Key: key, Value: bytes.Clone(value), Revision: rev}
	if err := s.write(name.temp(), encodeRecord(r)); err != nil {
		return "", err
	}
	if err := s.rename(name.temp(), name.record()); err != nil {
		return "", err
	}
	s.mem.mu.Lock()
	defer s.mem.mu.Unlock()
	s.mem.set(r)
	return r.Revision, nil
}

// Delete removes the file of key and returns once that is durable. It is not
// interrupted if ctx ends.
func (s *FileStore) Delete(ctx context.Context, key string, prev Revision) error {
	name := nameOf(key)
	defer s.lock(name)()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if err := deleteError(key, s.mem.revision(key), prev); err != nil {
		return err
	}
	// A rename and not a removal, because a rename can be made durable on every
	// system.
	if err := s.rename(name.record(), name.temp()); err != nil {
		return err
	}
	_ = s.fs.Remove(name.temp()) // if it stays, the next opening removes it
	s.mem.mu.Lock()
	defer s.mem.mu.Unlock()
	s.mem.remove(key)
	return nil
}

// List yields copies of the records in key order, from memory, as that of
// [MemStore] does.
func (s *FileStore) List(ctx context.Context, prefix string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range s.mem.List(ctx, prefix) {
			if ended := s.usable(ctx); ended != nil {
				r, err = Record{}, ended
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := s.usable(ctx); err != nil {
			yield(Record{}, err)
		}
	}
}

// Watch reports changes made through this FileStore once they are durable. It
// ends when the store is closed.
func (s *FileStore) Watch(ctx context.Context, prefix string) iter.Seq2[Record, error] {
	return s.mem.watch(ctx, prefix, s.closed, func() error { return *s.ended.Load() })
}

// usable returns why the store cannot be used, or nil.
func (s *FileStore) usable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// end makes err the answer to every later call.
func (s *FileStore) end(err error) {
	if s.ended.Swap(&err) == nil {
		close(s.closed)
	}
}

// lock keeps out other writes of the same key until unlock is called.
func (s *FileStore) lock(name fileName) (unlock func()) {
	stripe := &s.stripes[int(name.sum[0])%len(s.stripes)]
	stripe.Lock()
	return stripe.Unlock
}

// write makes data the durable content of the file temp. If it fails, no key
// has changed.
func (s *FileStore) write(temp string, data []byte) error {
	f, err := s.fs.Create(temp)
	if err != nil {
		return s.errorf("nothing was changed: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = s.fs.Remove(temp) // if it stays, it only takes space
		return s.errorf("nothing was changed: %w", err)
	}
	return nil
}

// rename is the moment at which a write takes effect. If it fails, the write
// may have taken effect, or may still do so. The same is true of concurrent
// writes: the disk reports the failure to only one of them.
func (s *FileStore) rename(from, to string) error {
	err := s.fs.Rename(from, to)
	if err == nil {
		err = s.fs.SyncDir()
	}
	if err == nil {
		return s.usable(context.Background())
	}
	err = s.errorf("a write failed half-way; close the store and open it again to learn what is on the disk (%w): %w", ErrUnusable, err)
	s.end(err)
	return err
}

func (s *FileStore) errorf(format string, args ...any) error {
	return fmt.Errorf("filestore %s: "+format, append([]any{s.dir}, args...)...)
}

// The form of a file. It never changes in place: another form gets another mark
// and another name prefix.
const (
	recordMark   = "fairlead record 1 "
	recordPrefix = "r-" // files that hold a record
	tempPrefix   = "t-" // files that may be incomplete: data is written there first, and deleted files are moved there
)

func encodeRecord(r Record) []byte {
	rest := make([]byte, 0, len(r.Key)+len(r.Revision)+len(r.Value)+2)
	rest = append(rest, r.Key...)
	rest = append(rest, '\n')
	rest = append(rest, r.Revision...)
	rest = append(rest, '\n')
	rest = append(rest, r.Value...)
	return append([]byte(recordMark+checksum(rest)+"\n"), rest...)
}

// decodeRecord returns the record in data, or what is wrong with it.
func decodeRecord(data []byte) (r Record, reason string) {
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	sum, ok := strings.CutPrefix(string(head), recordMark)
	if !ok {
		return Record{}, fmt.Sprintf("does not begin with %q", recordMark)
	}
	if sum != checksum(rest) {
		return Record{}, fmt.Sprintf("its %d bytes do not have the checksum that its first line states", len(data))
	}
	key, rest, _ := bytes.Cut(rest, []byte("\n"))
	rev, value, ok := bytes.Cut(rest, []byte("\n"))
	r = Record{Key: string(key), Value: value, Revision: Revision(rev)}
	if err := CheckLimits(r.Key, value); err != nil || !ok || rev == nil {
		return Record{}, "has a correct checksum, but not the lines of a record"
	}
	return r, ""
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileName is what the names of the two files of a key have in common. They are
// valid on every system, neither reserved nor too long, and differ from those
// of other keys even where case does not count.
type fileName struct {
	readable string // for people
	sum      [sha256.Size]byte
}

func nameOf(key string) fileName {
	return fileName{strings.ToLower(key[:min(len(key), 100)]), sha256.Sum256([]byte(key))}
}

func (n fileName) record() string { return recordPrefix + n.String() }
func (n fileName) temp() string   { return tempPrefix + n.String() }
func (n fileName) String() string { return n.readable + "-" + hex.EncodeToString(n.sum[:16]) }

// prefixOf returns the prefix of a name of ours, else "".
func prefixOf(name string) string {
	end := strings.LastIndexByte(name, '-') + 1
	if sum, err := hex.DecodeString(name[end:]); err != nil || len(sum) != 16 {
		return ""
	}
	for _, prefix := range []string{recordPrefix, tempPrefix} {
		if strings.HasPrefix(name, prefix) {
			return prefix
		}
	}
	return ""
}
