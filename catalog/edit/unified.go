package edit

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// contextLines is how many lines a unified diff shows around a change.
const contextLines = 3

// Sorted sorts the changes in place and returns the patch.
func (p *Patch) Sorted() *Patch {
	slices.SortStableFunc(p.Changes, compareReplacements)
	return p
}

// WriteUnified writes the patch as a unified diff of the files in fsys, as
// accepted by patch and git apply.
func (p *Patch) WriteUnified(w io.Writer, fsys fs.FS) error {
	return p.WriteUnifiedAs(w, fsys, func(path string) string { return path })
}

// WriteUnifiedAs is [Patch.WriteUnified] with names of files that a function makes, relative to
// where the patch will be applied.
func (p *Patch) WriteUnifiedAs(w io.Writer, fsys fs.FS, name func(path string) string) error {
	var b bytes.Buffer
	for i := 0; i < len(p.Changes); {
		n := i + 1
		for n < len(p.Changes) && p.Changes[n].Path == p.Changes[i].Path {
			n++
		}
		old, err := fs.ReadFile(fsys, p.Changes[i].Path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "--- a/%s\n+++ b/%[1]s\n", name(p.Changes[i].Path))
		unified(&b, old, p.Changes[i:n])
		i = n
	}
	_, err := w.Write(b.Bytes())
	return err
}

// unified writes the hunks of one file: changes whose context touches are in
// one hunk.
func unified(b *bytes.Buffer, old []byte, changes []Replacement) {
	starts := []int{0} // of lines
	for i, c := range old {
		if c == '\n' && i+1 < len(old) {
			starts = append(starts, i+1)
		}
	}
	lineAt := func(offset int) int {
		if offset == len(old) && bytes.HasSuffix(old, []byte("\n")) {
			return len(starts)
		}
		i, found := slices.BinarySearch(starts, offset)
		if found {
			return i
		}
		return i - 1
	}
	start := func(line int) int {
		if line >= len(starts) {
			return len(old)
		}
		return starts[line]
	}
	shift := 0
	for i := 0; i < len(changes); {
		first := lineAt(changes[i].Offset)
		last := first // the line after the changes
		n := i
		for ; n < len(changes); n++ {
			c := changes[n]
			if n > i && lineAt(c.Offset) > last+2*contextLines {
				break
			}
			if at := lineAt(c.Offset); c.Old == "" && start(at) == c.Offset && strings.HasSuffix(c.New, "\n") {
				last = max(last, at) // whole lines, before that one
			} else {
				last = max(last, lineAt(max(c.Offset+len(c.Old)-1, c.Offset))+1)
			}
		}
		from, to := max(first-contextLines, 0), min(last+contextLines, len(starts))
		var now []byte
		at := start(first)
		for _, c := range changes[i:n] {
			now = append(append(now, old[at:c.Offset]...), c.New...)
			at = c.Offset + len(c.Old)
		}
		now = append(now, old[at:start(last)]...)
		before, after := lines(old[start(first):start(last)]), lines(now)
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1+shift, to-from+len(after)-len(before))
		shift += len(after) - len(before)
		put(b, " ", lines(old[start(from):start(first)]))
		put(b, "-", before)
		put(b, "+", after)
		put(b, " ", lines(old[start(last):start(to)]))
		i = n
	}
}

func lines(text []byte) [][]byte { return slices.Collect(bytes.Lines(text)) }

func put(b *bytes.Buffer, sign string, list [][]byte) {
	for _, l := range list {
		b.WriteString(sign)
		b.Write(l)
		if !bytes.HasSuffix(l, []byte("\n")) {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
