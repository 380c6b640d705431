package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
)

// Limits of what is packed.
const (
	maxUnpacked = 8 << 30   // bytes of all files of an archive
	maxZip      = 512 << 20 // bytes of a zip archive that comes from a stream
	maxFiles    = 1 << 18
	maxPacked   = 3 // one in another, as in a .tar.gz
)

// unpack reads what is compressed or an archive, whatever its name; is is false for text, which is
// left to read.
func (r *Reader) unpack(in *bufio.Reader, name string, h hint, depth int) (is bool, err error) {
	start, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	begins := func(text string) bool { return bytes.HasPrefix(start, []byte(text)) }
	var src io.Reader
	switch {
	case begins("\x1f\x8b"):
		if src, err = gzip.NewReader(in); err != nil {
			return true, err
		}
	case begins("BZh"):
		src = bzip2.NewReader(in)
	case begins("\xfd7zXZ\x00"):
		return true, errors.New("it is compressed with xz, which is not read; unpack it with xz -d, or tar -xJf if it is an archive")
	case begins("\x28\xb5\x2f\xfd"):
		return true, errors.New("it is compressed with zstd, which is not read; unpack it with zstd -d")
	case begins("7z\xbc\xaf") || begins("Rar!"):
		return true, errors.New("it is an archive of a kind that is not read; unpack it and name the directory")
	case begins("PK\x03\x04"):
		return true, r.zip(in, name)
	case len(start) == 512 && string(start[257:262]) == "ustar":
		return true, r.tar(in, name)
	default:
		return false, nil
	}
	if depth >= maxPacked {
		return true, errors.New("it is compressed more often than that is useful")
	}
	left := r.most
	err = r.open(bounded{src, &left}, name, h, depth+1)
	if limit := new(fairlead.InputLimitError); errors.As(err, &limit) {
		r.cutOff(Position{File: name}, "it is not read to its end: "+limit.Error())
		return true, nil
	}
	return true, err
}

// bounded is a reader of something packed, of which there are bytes left to read. That there are more
// is an error, not an end.
type bounded struct {
	src  io.Reader
	left *int64
}

// Read implements io.Reader.
func (b bounded) Read(to []byte) (int, error) {
	if *b.left == 0 {
		if n, err := b.src.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, &fairlead.InputLimitError{What: "number of bytes, unpacked", Max: maxUnpacked}
	}
	n, err := b.src.Read(to[:min(int64(len(to)), *b.left)])
	*b.left -= int64(n)
	return n, err
}

// tar reads the objects of an archive, in its order, and passes over the rest. What is left of one
// that was cut off counts, and nothing is known to be absent.
func (r *Reader) tar(in io.Reader, name string) error {
	r.start()
	files := tar.NewReader(in)
	for n := 0; ; n++ {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case n == maxFiles:
			return &fairlead.InputLimitError{What: "number of files and directories", Max: maxFiles}
		case err != nil && r.s.Files == 0:
			return fmt.Errorf("the archive is damaged, or cut off: %w", err)
		case err != nil:
			r.cutOff(Position{File: name}, "the archive is damaged, or cut off: "+err.Error())
			return nil
		case h.Typeflag != tar.TypeReg || foreign(h.Name):
			continue
		}
		entry := path.Clean(h.Name)
		shown := path.Join(name, entry)
		if err := r.content(files, entry, shown); err != nil {
			r.unread(shown, entry, err)
		}
	}
}

// zip reads the objects of a zip archive.
func (r *Reader) zip(in io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(in, maxZip+1))
	if err != nil {
		return err
	}
	if len(text) > maxZip {
		return &fairlead.InputLimitError{What: "size of a zip archive in bytes", Max: maxZip}
	}
	files, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return fmt.Errorf("the archive is damaged, or cut off: %w", err)
	}
	left := r.most
	for _, f := range files.File {
		entry := path.Clean(f.Name)
		if !f.Mode().IsRegular() || foreign(entry) {
			continue
		}
		shown := path.Join(name, entry)
		src, err := f.Open()
		if err == nil {
			err = errors.Join(r.content(bounded{src, &left}, entry, shown), src.Close())
		}
		if limit := new(fairlead.InputLimitError); left == 0 && errors.As(err, &limit) {
			r.cutOff(Position{File: shown}, "the archive is not read to its end: "+limit.Error())
			return nil
		}
		if err != nil {
			r.unread(shown, entry, err)
		}
	}
	return nil
}

// foreign reports whether a file of an archive is of another cluster.
func foreign(name string) bool {
	return strings.HasPrefix(name, "hostedcluster-") || strings.Contains(name, "/hostedcluster-")
}

// cutOff records that an input ended too early: nothing is known to be absent.
func (r *Reader) cutOff(where Position, why string) {
	r.s.Warnings = append(r.s.Warnings, Warning{Where: where, Problem: why, Unread: true})
	for i := range kinds {
		s := kinds[i].list(&r.s).scope()
		s.Gaps = append(s.Gaps, Gap{Where: where, Why: why})
	}
}

// decoded returns text as UTF-8: Windows writes what a program prints into files as UTF-16.
func decoded(in *bufio.Reader) *bufio.Reader {
	start, _ := in.Peek(2)
	var order binary.ByteOrder
	switch string(start) {
	case "\xff\xfe":
		order = binary.LittleEndian
	case "\xfe\xff":
		order = binary.BigEndian
	default:
		return in
	}
	_, _ = in.Discard(2)
	return bufio.NewReaderSize(&wide{src: in, order: order}, 64<<10)
}

// wide reads UTF-16 as UTF-8.
type wide struct {
	src   io.Reader
	order binary.ByteOrder
	in    [8 << 10]byte
	kept  int    // bytes at the start of in that were not decoded
	left  []byte // what was decoded and not read
}

// Read implements io.Reader.
func (w *wide) Read(to []byte) (int, error) {
	for len(w.left) == 0 {
		n, err := io.ReadAtLeast(w.src, w.in[w.kept:], 2)
		n += w.kept
		if n < 2 {
			return 0, io.EOF
		}
		units := make([]uint16, 0, n/2)
		for i := 0; i+1 < n; i += 2 {
			units = append(units, w.order.Uint16(w.in[i:]))
		}
		if last := rune(units[len(units)-1]); err == nil && utf16.IsSurrogate(last) && last < 0xdc00 && len(units) > 1 { // half of a pair
			units = units[:len(units)-1]
		}
		w.kept = copy(w.in[:], w.in[2*len(units):n])
		w.left = w.left[:0]
		for _, c := range utf16.Decode(units) {
			w.left = utf8.AppendRune(w.left, c)
		}
	}
	n := copy(to, w.left)
	w.left = w.left[n:]
	return n, nil
}
