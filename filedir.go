package fairlead

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockName is the file whose lock stands for the directory. It stays when the
// lock is released, and is always empty.
const lockName = "lock"

// directory is the fileSystem of the operating system.
type directory struct {
	path string
	lock *os.File
}

// openDir creates path if it does not exist, and locks it.
func openDir(path string) (*directory, error) {
	path, err := filepath.Abs(path) // so that a later chdir does not change it
	if err != nil {
		return nil, fmt.Errorf("filestore %s: %w", path, err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("filestore %s: create the directory: %w", path, err)
	}
	// The name of the directory must be durable as well. If the parent may not
	// be read, somebody else created the directory.
	if err := syncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("filestore %s: sync the parent directory: %w", path, err)
	}
	lock, err := lockFile(filepath.Join(path, lockName))
	if isLocked(err) {
		return nil, &LockedError{Dir: path, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("filestore %s: lock: %w", path, err)
	}
	return &directory{path: path, lock: lock}, nil
}

func (d *directory) Names() ([]string, error) {
	entries, err := os.ReadDir(d.path) // in the order of names
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (d *directory) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.join(name)) }

func (d *directory) Create(name string) (syncFile, error) {
	return os.OpenFile(d.join(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (d *directory) Rename(from, to string) error { return rename(d.join(from), d.join(to)) }
func (d *directory) Remove(name string) error     { return os.Remove(d.join(name)) }
func (d *directory) SyncDir() error               { return syncDir(d.path) }
func (d *directory) Close() error                 { return d.lock.Close() }
func (d *directory) join(name string) string      { return filepath.Join(d.path, name) }
