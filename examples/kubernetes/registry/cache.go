package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// cache keeps layers in a directory, each in a file named after its digest. A
// file is either complete or absent: it is written under another name and
// renamed. Whether its content matches the digest is verified whenever it is
// opened.
type cache struct {
	dir string
	max int64

	mu   sync.Mutex
	busy map[v1.Hash]*sync.Mutex // by digest, so that a layer is not fetched twice at once
}

const unfinished = ".partial-"

func (c *cache) open() error {
	c.busy = map[v1.Hash]*sync.Mutex{}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("registry: the cache: %w", err)
	}
	return nil
}

// lock waits until no other goroutine fetches that layer.
func (c *cache) lock(digest v1.Hash) (unlock func()) {
	c.mu.Lock()
	m := c.busy[digest]
	if m == nil {
		m = new(sync.Mutex)
		c.busy[digest] = m
	}
	c.mu.Unlock()
	m.Lock()
	return m.Unlock
}

func (c *cache) path(digest v1.Hash) string {
	return filepath.Join(c.dir, digest.Algorithm+"-"+digest.Hex)
}

// get opens a layer, which it gets from fetch if it is missing or damaged.
func (c *cache) get(ctx context.Context, digest v1.Hash, size int64, fetch func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	if digest.Algorithm != "sha256" {
		return nil, fmt.Errorf("layer %s: its digest is not sha256", digest)
	}
	defer c.lock(digest)()
	path := c.path(digest)
	if intact(path, digest, size) {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // the last use; it matters only for the order of removal
	} else if err := c.put(ctx, path, digest, size, fetch); err != nil {
		return nil, fmt.Errorf("layer %s: %w", digest, err)
	}
	return os.Open(path)
}

// intact reports whether the content of a file matches its digest.
func intact(path string, digest v1.Hash, size int64) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, &verified{f, digest, size, sha256.New()})
	return err == nil
}

// put writes a layer, and makes room for it.
func (c *cache) put(ctx context.Context, path string, digest v1.Hash, size int64, fetch func() (io.ReadCloser, error)) (err error) {
	c.clear(c.max-size, path)
	f, err := os.CreateTemp(c.dir, unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	r, err := fetch()
	if err != nil {
		return err
	}
	defer r.Close()
	checked := &verified{r, digest, size, sha256.New()}
	if _, err := io.Copy(f, cancelable{ctx, checked}); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// clear removes the least recently used layers until the rest takes no more
// than keep bytes, and files left over by writers that died.
func (c *cache) clear(keep int64, but string) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return // the next write reports what is wrong with the directory
	}
	type layer struct {
		path string
		used time.Time
		size int64
	}
	var layers []layer
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(c.dir, e.Name())
		switch {
		case err != nil || !info.Mode().IsRegular() || path == but:
		case strings.HasPrefix(e.Name(), unfinished):
			if time.Since(info.ModTime()) > 24*time.Hour {
				_ = os.Remove(path)
			}
		default:
			layers = append(layers, layer{path, info.ModTime(), info.Size()})
			total += info.Size()
		}
	}
	slices.SortFunc(layers, func(a, b layer) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, l := range layers {
		if total <= keep {
			return
		}
		if err := os.Remove(l.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= l.size
		}
	}
}

// verified reads content whose size and digest are known. It ends with io.EOF
// only if both hold.
type verified struct {
	io.ReadCloser
	digest v1.Hash
	left   int64
	sum    hash.Hash
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	switch v.left -= int64(n); {
	case v.left < 0:
		return 0, errors.New("it is larger than its manifest says")
	case err != io.EOF:
		return n, err
	case v.left > 0:
		return n, fmt.Errorf("it ends %d bytes early: %w", v.left, io.ErrUnexpectedEOF)
	case hex.EncodeToString(v.sum.Sum(nil)) != v.digest.Hex:
		return 0, fmt.Errorf("it does not match its digest %s", v.digest)
	}
	return n, io.EOF
}

// cancelable is a reader that ends with its context.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
