package source

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// WriteTree writes a catalog as files below root, as [catalog.Catalog.WriteTree]
// lays them out. An existing file is an error, and is left alone; files written
// before it stay.
func WriteTree(root *os.Root, c *catalog.Catalog, format catalog.Format) error {
	return c.WriteTree(format, func(name string) (io.WriteCloser, error) {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, err
		}
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	})
}

// WriteFiles writes files below root, in the order of their slash-separated
// names; missing ones are created, with their directories. Each is replaced
// atomically, so that readers see either the old content or the new, and keeps
// its permissions.
func WriteFiles(root *os.Root, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := replaceFile(root, name, files[name]); err != nil {
			return fmt.Errorf("catalog: writing %s: %w", name, err)
		}
	}
	return nil
}

func replaceFile(root *os.Root, name string, content []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	switch info, err := root.Lstat(name); {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file: edit the file that it links to")
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp := path.Join(path.Dir(name), "."+rand.Text())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		err = errors.Join(err, root.Remove(temp))
	}
	return err
}
