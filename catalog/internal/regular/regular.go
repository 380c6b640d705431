// Package regular tells regular files from those that must not be opened:
// opening a named pipe may block forever, and a device may never end.
package regular

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Info returns the file info of a directory entry, following links, without
// opening the file. Anything but a regular file is an error that says what it
// is.
func Info(fsys fs.FS, name string, e fs.DirEntry) (fs.FileInfo, error) {
	info, err := e.Info()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = follow(fsys, name)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is " + kind(info.Mode()) + ", not a regular file nor a link to one")
	}
	return info, nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// maxLinks is the longest chain of links.
const maxLinks = 40

// follow resolves a link.
func follow(fsys fs.FS, name string) (fs.FileInfo, error) {
	if s, ok := fsys.(fs.StatFS); ok {
		return s.Stat(name)
	}
	links, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return fs.Stat(fsys, name) // a file system that reports a link but cannot read its target
	}
	for range maxLinks {
		info, err := links.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return info, err
		}
		target, err := links.ReadLink(name)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(target, "/") {
			return nil, errors.New("it is a link that leads out of the directory")
		}
		if name = path.Join(path.Dir(name), target); !fs.ValidPath(name) {
			return nil, errors.New("it is a link that leads out of the directory")
		}
	}
	return nil, errors.New("it is part of a chain of too many links")
}
