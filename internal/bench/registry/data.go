package registry

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// DataPath returns the path of an archive of real catalogs: in the directory that
// FAIRLEAD_DATA names, or else next to the project. It may be absent.
func DataPath(archive string) string {
	root := os.Getenv("FAIRLEAD_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
		if _, err := os.Stat(root); err != nil {
			root = filepath.Join("..", root) // a test runs in its package
		}
	}
	return filepath.Join(root, "catalog", archive)
}

// Walk calls fn with each regular file of a .tar.gz, in its order.
func Walk(archive string, fn func(name string, content io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := fn(h.Name, r); err != nil {
			return err
		}
	}
}

// Unpack writes the files of a .tar.gz below dir and returns their size.
func Unpack(archive, dir string) (int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	var size int64
	err = Walk(archive, func(name string, content io.Reader) error {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(filepath.Clean(name)), 0o755); err != nil {
			return err
		}
		out, err := root.Create(name)
		if err != nil {
			return err
		}
		n, err := io.Copy(out, content)
		size += n
		return errors.Join(err, out.Close())
	})
	return size, err
}
