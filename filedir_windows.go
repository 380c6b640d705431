package fairlead

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const sharingViolation = syscall.Errno(32)

var moveFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("MoveFileExW")

// rename replaces to, and returns when that is durable: directories cannot be
// synced on their own here.
func rename(from, to string) error {
	const replaceExisting, writeThrough = 0x1, 0x8
	f, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		ok, _, err := moveFileEx.Call(uintptr(unsafe.Pointer(f)), uintptr(unsafe.Pointer(t)), replaceExisting|writeThrough)
		if ok != 0 {
			return nil
		}
		// A scanner or an indexer may have either file open for a moment.
		passing := errors.Is(err, sharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
		if !passing || tries == 20 {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
		clock := SystemClock{}
		_ = SleepUntil(context.Background(), clock, clock.Now().Add(50*time.Millisecond))
	}
}

// syncDir has nothing to do, see rename.
func syncDir(string) error { return nil }

// lockFile opens the file at path for this process alone. The system closes it
// when the process ends, however it ends.
func lockFile(path string) (*os.File, error) {
	p, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const noSharing = 0
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, noSharing, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, os.NewSyscallError("CreateFile", err)
	}
	return os.NewFile(uintptr(h), path), nil
}

func isLocked(err error) bool { return errors.Is(err, sharingViolation) }
