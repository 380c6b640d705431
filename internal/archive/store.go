package archive

import (
	"bytes"
	"compress/flate"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fairlead/fairlead"
)

// blockSize is how many bytes of a file are compressed together. Larger blocks
// use less memory, smaller ones take less time to read a few bytes.
const blockSize = 256 << 10

// keep is how many decompressed blocks are cached.
const keep = 8

// store keeps contents in compressed blocks.
type store struct {
	max     int64
	used    atomic.Int64 // bytes of compressed blocks
	work    chan *block
	workers sync.WaitGroup
	buffers sync.Pool // of *[]byte, blockSize long

	mu     sync.Mutex
	recent [keep]cached // most recently used first
}

type cached struct {
	of   *block
	data []byte
}

// block is a part of a content. Once packed, it does not change.
type block struct {
	size   int
	packed []byte
	plain  *[]byte // until it is packed
}

func newStore(maximum int64) *store {
	s := &store{max: maximum, work: make(chan *block, 2)}
	s.buffers.New = func() any { b := make([]byte, blockSize); return &b }
	for range max(runtime.GOMAXPROCS(0)-1, 1) {
		s.workers.Go(s.pack)
	}
	return s
}

// pack compresses blocks as they arrive.
func (s *store) pack() {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // the level is valid
	for b := range s.work {
		out.Reset()
		w.Reset(&out)
		_, _ = w.Write((*b.plain)[:b.size]) // a bytes.Buffer takes all
		_ = w.Close()
		b.packed = bytes.Clone(out.Bytes())
		s.used.Add(int64(len(b.packed)))
		s.buffers.Put(b.plain)
		b.plain = nil
	}
}

// add reads size bytes and returns the blocks that contain them.
func (s *store) add(r io.Reader, size int64) ([]*block, error) {
	var blocks []*block
	for size > 0 {
		if s.used.Load() > s.max {
			return nil, &fairlead.InputLimitError{What: "compressed size in memory, in bytes,", Max: s.max}
		}
		b := &block{size: int(min(size, blockSize)), plain: s.buffers.Get().(*[]byte)}
		if _, err := io.ReadFull(r, (*b.plain)[:b.size]); err != nil {
			return nil, err
		}
		size -= int64(b.size)
		blocks = append(blocks, b)
		s.work <- b
	}
	return blocks, nil
}

// close waits until all blocks are packed.
func (s *store) close() error {
	close(s.work)
	s.workers.Wait()
	if s.used.Load() > s.max {
		return &fairlead.InputLimitError{What: "compressed size in memory, in bytes,", Max: s.max}
	}
	return nil
}

// unpack returns the bytes of a block, which must not be changed.
func (s *store) unpack(b *block) ([]byte, error) {
	s.mu.Lock()
	for i, c := range s.recent {
		if c.of == b {
			copy(s.recent[1:i+1], s.recent[:i])
			s.recent[0] = c
			s.mu.Unlock()
			return c.data, nil
		}
	}
	s.mu.Unlock()
	data := make([]byte, b.size)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(b.packed)), data); err != nil {
		return nil, err
	}
	s.mu.Lock()
	copy(s.recent[1:], s.recent[:keep-1])
	s.recent[0] = cached{b, data}
	s.mu.Unlock()
	return data, nil
}

// content is the bytes of a file.
type content struct {
	size   int64
	blocks []*block
}

// readAt fills p from an offset, as with io.ReaderAt.
func (c *content) readAt(s *store, p []byte, offset int64) (int, error) {
	n := 0
	for n < len(p) && offset < c.size {
		data, err := s.unpack(c.blocks[offset/blockSize])
		if err != nil {
			return n, err
		}
		k := copy(p[n:], data[offset%blockSize:])
		n += k
		offset += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
