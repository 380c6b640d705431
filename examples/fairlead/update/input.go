package update

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// unread adds what was expected to an error of the file system.
func unread(err error, name, want string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file or directory; %s", name, want)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: cannot be read: %w; %s", name, err, want)
}

// isDir returns an error if the name is not a directory.
func isDir(name, want string) error {
	info, err := os.Stat(name)
	if err != nil {
		return unread(err, name, want)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: it is not a directory; %s", name, want)
	}
	return nil
}
