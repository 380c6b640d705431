package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// FS reads all files of a directory that may have objects: those that end in .yaml, .yml or .json,
// compressed or not, and those without an extension and texts that begin like one, in the order of their
// paths. root is prefixed to their paths in
// positions. A file that cannot be opened or read is a gap, and so is a link that fsys does not
// follow: take the FS of an os.Root, which follows none that leads out of a directory.
func (r *Reader) FS(fsys fs.FS, root string) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		shown := path.Join(root, name)
		switch {
		case err != nil && name == ".":
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			r.unread(shown, name, err)
			return nil
		case entry.IsDir():
			if strings.HasPrefix(entry.Name(), "hostedcluster-") || entry.Name() == ".git" {
				return fs.SkipDir // another cluster, and none
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			if _, err := fs.Stat(fsys, name); err != nil {
				r.unread(shown, name, errors.New("it is a link that leads out of the directory, or nowhere, and is not followed"))
			}
			return nil // what it leads to is read where it is
		case !entry.Type().IsRegular():
			return nil
		}
		if err := r.entry(fsys, name, shown); err != nil {
			r.unread(shown, name, err)
		}
		return nil
	})
}

// entry reads a file of a directory.
func (r *Reader) entry(fsys fs.FS, name, shown string) error {
	if !mayHave(name) {
		return nil
	}
	src, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	return r.content(src, name, shown)
}

// extensions are those of files with objects.
var extensions = []string{".yaml", ".yml", ".json"}

// mayHave reports whether a file may have objects, by its name.
func mayHave(name string) bool {
	ext := path.Ext(strings.TrimSuffix(name, ".gz"))
	return slices.Contains(extensions, ext) || archived(name) || ext == "" || ext == ".txt"
}

// archived reports whether a file is an archive, by its name.
func archived(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz", ".zip", ".tar.xz"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// objective finds that a text is of objects.
var objective = regexp.MustCompile(`(?m)^(?:- )?(?:apiVersion|kind): |^[\s{\[]*"(?:apiVersion|kind|metadata)":`)

// content reads what a file of a directory or an archive has, if it is of objects.
func (r *Reader) content(src io.Reader, name, shown string) error {
	switch {
	case !mayHave(name):
		return nil
	case path.Base(name) == "timestamp":
		text, err := io.ReadAll(io.LimitReader(src, 4096))
		r.clock.timestamp(string(text))
		return err
	case archived(name):
		r.s.Warnings = append(r.s.Warnings, Warning{Where: Position{File: shown}, Problem: "an archive in a directory is not read; name it to read it", Foreign: true})
		return nil
	}
	plain := strings.TrimSuffix(name, ".gz")
	if slices.Contains(extensions, path.Ext(plain)) {
		return r.open(src, shown, hintOf(plain), 0)
	}
	in := decoded(bufio.NewReaderSize(src, 64<<10))
	if start, _ := in.Peek(2048); !objective.Match(start) || bytes.HasPrefix(start, logStart) {
		return nil
	}
	return r.open(in, shown, hintOf(plain), 0)
}

// unread records a file that could not be read.
func (r *Reader) unread(shown, name string, err error) {
	r.start()
	var path *fs.PathError
	why := err.Error()
	if errors.As(err, &path) {
		why = path.Err.Error()
	}
	where := Position{File: shown}
	r.s.Warnings = append(r.s.Warnings, Warning{Where: where, Problem: why, Unread: true})
	if h := hintOf(name); h.kind != nil {
		s := h.kind.list(&r.s).scope()
		s.Gaps = append(s.Gaps, Gap{Namespace: h.namespace, Where: where, Why: why})
	}
}

// unwrapped prepares a stream: a list that stands alone becomes the items of an object, and what is
// between documents is left out. added is how many columns were added to the first line.
func unwrapped(buffered *bufio.Reader, said func(string, int)) (out io.Reader, added int, err error) {
	for n := 64; ; n *= 2 {
		start, err := buffered.Peek(min(n, 64<<10))
		text := bytes.TrimLeft(start, " \t\r\n\ufeff")
		switch {
		case len(text) == 0 && err == nil && n < 64<<10:
			continue
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, err
		case len(text) > 0 && text[0] == '[':
			const before = `{"items":`
			return io.MultiReader(strings.NewReader(before), buffered, strings.NewReader("}")), len(before), nil
		}
		return &between{src: buffered, said: said}, 0, nil
	}
}
