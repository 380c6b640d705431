//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fairlead

import (
	"errors"
	"os"
	"syscall"
)

// lockFile creates and locks the file at path. The system releases the lock
// when the file is closed or the process ends, however it ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
		}
	}
}

func isLocked(err error) bool { return errors.Is(err, syscall.EWOULDBLOCK) }
