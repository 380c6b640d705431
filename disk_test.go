package fairlead_test

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
)

// disk is a directory in memory that knows what of it is durable. It is cut or
// fails at a step of the test's choice; every call is a step, and a write has
// two, for it can be cut half-way.
type disk struct {
	names   map[string]*inode // as processes see them
	durable map[string]*inode // as they were at the last SyncDir
	since   []nameChange      // in order, since then

	steps  int  // taken so far
	cutAt  int  // the step that is not taken any more, nor any after it
	failAt int  // the step that returns an error
	effect bool // whether the step that fails takes effect all the same
}

type inode struct {
	data   []byte
	synced []byte // what is durable of data
}

// nameChange is one change of the directory: to becomes node; from goes.
type nameChange struct {
	from, to string
	node     *inode
}

func (c nameChange) apply(names map[string]*inode) {
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.node
	}
}

var (
	errCut  = errors.New("the process is gone")
	errDisk = errors.New("the disk failed")
)

func newDisk() *disk { return &disk{names: map[string]*inode{}, durable: map[string]*inode{}} }

// step takes one step: act, unless the disk is cut or fails here.
func (d *disk) step(act func()) error {
	if d.steps++; d.cutAt != 0 && d.steps >= d.cutAt {
		return errCut
	}
	if d.steps == d.failAt {
		if d.effect {
			act()
		}
		return errDisk
	}
	act()
	return nil
}

func (d *disk) change(c nameChange) {
	c.apply(d.names)
	d.since = append(d.since, c)
}

func (d *disk) Names() (names []string, err error) {
	err = d.step(func() { names = slices.Sorted(maps.Keys(d.names)) })
	return names, err
}

func (d *disk) ReadFile(name string) (data []byte, err error) {
	node, ok := d.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	err = d.step(func() { data = slices.Clone(node.data) })
	return data, err
}

func (d *disk) Create(name string) (fairlead.SyncFile, error) {
	node, ok := d.names[name]
	err := d.step(func() {
		if ok {
			node.data = nil
			return
		}
		node = &inode{}
		d.change(nameChange{to: name, node: node})
	})
	return &diskFile{d, node}, err
}

func (d *disk) Rename(from, to string) error {
	node, ok := d.names[from]
	if !ok {
		return fs.ErrNotExist
	}
	return d.step(func() { d.change(nameChange{from: from, to: to, node: node}) })
}

func (d *disk) Remove(name string) error {
	if _, ok := d.names[name]; !ok {
		return fs.ErrNotExist
	}
	return d.step(func() { d.change(nameChange{from: name}) })
}

func (d *disk) SyncDir() error {
	return d.step(func() { d.durable, d.since = maps.Clone(d.names), nil })
}

func (d *disk) Close() error { return d.step(func() {}) }

type diskFile struct {
	disk *disk
	node *inode
}

func (f *diskFile) Write(p []byte) (int, error) {
	half := len(p) / 2
	if err := f.disk.step(func() { f.node.data = append(f.node.data, p[:half]...) }); err != nil {
		return 0, err
	}
	if err := f.disk.step(func() { f.node.data = append(f.node.data, p[half:]...) }); err != nil {
		return half, err
	}
	return len(p), nil
}

func (f *diskFile) Sync() error {
	return f.disk.step(func() { f.node.synced = slices.Clone(f.node.data) })
}

func (f *diskFile) Close() error { return f.disk.step(func() {}) }

// killed is the disk as the next process finds it when only this one ends.
func (d *disk) killed() *disk {
	clones := make(map[*inode]*inode)
	clone := func(n *inode) *inode {
		if n != nil && clones[n] == nil {
			clones[n] = &inode{data: slices.Clone(n.data), synced: slices.Clone(n.synced)}
		}
		return clones[n]
	}
	next := newDisk()
	for name, n := range d.names {
		next.names[name] = clone(n)
	}
	for name, n := range d.durable {
		next.durable[name] = clone(n)
	}
	for _, c := range d.since {
		next.since = append(next.since, nameChange{c.from, c.to, clone(c.node)})
	}
	return next
}

// losses are the ways in which a file that was not synced may come out of a
// loss of power.
var losses = []func(n *inode) []byte{
	func(n *inode) []byte { return n.synced },
	func(n *inode) []byte { return n.data },
	func(n *inode) []byte { return n.data[:len(n.data)/2] },
	func(n *inode) []byte { return make([]byte, len(n.data)) },
	func(n *inode) []byte {
		half := len(n.data) / 2
		return append(slices.Clone(n.data[:half]), make([]byte, len(n.data)-half)...)
	},
}

// powerLost returns every disk that may be found after the power failed: any
// of the changes of names since the last sync may be lost, and any of the bytes
// of files that were not synced.
func (d *disk) powerLost() []*disk {
	var found []*disk
	for subset := range 1 << len(d.since) {
		for _, lose := range losses {
			next, lossy := newDisk(), false
			names := maps.Clone(d.durable)
			for i, c := range d.since {
				if subset&(1<<i) != 0 {
					c.apply(names)
				}
			}
			for name, n := range names {
				data := n.synced
				if !slices.Equal(n.data, n.synced) {
					data, lossy = lose(n), true
				}
				node := &inode{data: slices.Clone(data), synced: slices.Clone(data)}
				next.names[name], next.durable[name] = node, node
			}
			found = append(found, next)
			if !lossy {
				break // nothing to lose in other ways
			}
		}
	}
	return found
}
