package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Replacement is one change of a file: it replaces the text at an offset.
type Replacement struct {
	Path   string `json:"path"`   // of the file in the catalog
	Offset int    `json:"offset"` // in bytes, in the file as it is before the patch
	Old    string `json:"old"`    // the current value
	New    string `json:"new"`    // the new value
}

// Patch holds changes to the files of a catalog, by path and offset, that do
// not overlap. The rest of the files stays byte for byte.
type Patch struct {
	Changes []Replacement `json:"changes"` // sorted
}

// compareReplacements orders changes by file and place; insertions come before
// replacements there.
func compareReplacements(a, b Replacement) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Offset, b.Offset), cmp.Compare(len(a.Old), len(b.Old)))
}

// Inverse returns the patch that undoes p, to the byte.
func (p *Patch) Inverse() *Patch {
	back := &Patch{}
	shift, path := 0, ""
	for _, c := range p.Changes {
		if c.Path != path {
			shift, path = 0, c.Path
		}
		back.Changes = append(back.Changes, Replacement{c.Path, c.Offset + shift, c.New, c.Old})
		shift += len(c.New) - len(c.Old)
	}
	return back
}

// Apply returns the new content of the changed files. It is an error if a file
// has changed since the patch was made.
func (p *Patch) Apply(fsys fs.FS) (map[string][]byte, error) {
	byFile := map[string][]Replacement{}
	for _, c := range p.Changes {
		byFile[c.Path] = append(byFile[c.Path], c)
	}
	files := map[string][]byte{}
	for path, changes := range byFile {
		text, err := fs.ReadFile(fsys, path)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(changes, func(a, b Replacement) int { return cmp.Compare(a.Offset, b.Offset) })
		var out []byte
		at := 0
		for _, c := range changes {
			end := c.Offset + len(c.Old)
			if c.Offset < at || end > len(text) || string(text[c.Offset:end]) != c.Old {
				return nil, fmt.Errorf("catalog: patch: %s has changed at byte %d: make the edit again", path, c.Offset)
			}
			out = append(append(out, text[at:c.Offset]...), c.New...)
			at = end
		}
		files[path] = append(out, text[at:]...)
	}
	return files, nil
}

// Patched is a file system with a patch applied, in memory.
func (p *Patch) Patched(fsys fs.FS) (fs.FS, error) {
	files, err := p.Apply(fsys)
	if err != nil {
		return nil, err
	}
	return &patched{fsys, files}, nil
}

// patched shows some files with other content.
type patched struct {
	base  fs.FS
	files map[string][]byte
}

// Open implements [fs.FS].
func (p *patched) Open(name string) (fs.File, error) {
	f, err := p.base.Open(name)
	text, ok := p.files[name]
	if err != nil || !ok {
		return f, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return &patchedFile{bytes.NewReader(text), patchedInfo{info, int64(len(text))}}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (p *patched) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(p.base, name)
	for i, e := range list {
		path := e.Name()
		if name != "." {
			path = name + "/" + path
		}
		if text, ok := p.files[path]; ok {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			list[i] = fs.FileInfoToDirEntry(patchedInfo{info, int64(len(text))})
		}
	}
	return list, err
}

// Stat implements [fs.StatFS].
func (p *patched) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(p.base, name)
	if text, ok := p.files[name]; ok && err == nil {
		info = patchedInfo{info, int64(len(text))}
	}
	return info, err
}

type patchedFile struct {
	*bytes.Reader
	info patchedInfo
}

func (f *patchedFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *patchedFile) Close() error               { return nil }

// patchedInfo is that of the file except for the size, and without a
// modification time: nothing may take it for the old file.
type patchedInfo struct {
	fs.FileInfo
	size int64
}

func (i patchedInfo) Size() int64        { return i.size }
func (i patchedInfo) ModTime() time.Time { return time.Time{} }
