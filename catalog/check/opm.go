package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// opmPhase is when opm finds a fault. In the first two phases it stops at the
// first fault; only the third collects them.
type opmPhase uint8

const (
	opmLoading opmPhase = iota + 1
	opmConverting
	opmValidating
)

// opmNote is what opm says about a fault: in the first two phases the whole
// message, in the third a leaf below the nodes of path.
type opmNote struct {
	phase opmPhase
	path  []string // package, channel, bundle; as many as there are
	text  string
}

func opmLoad(text string) opmNote { return opmNote{phase: opmLoading, text: text} }

func opmStop(format string, args ...any) opmNote {
	return opmNote{phase: opmConverting, text: fmt.Sprintf(format, args...)}
}

func opmLeaf(path []string, format string, args ...any) opmNote {
	return opmNote{phase: opmValidating, path: path, text: fmt.Sprintf(format, args...)}
}

// opmVerdict is opm's judgement.
type opmVerdict struct {
	stop   string   // the message with which it stops, or ""
	early  bool     // it stops while it loads
	leaves *opmNode // the tree, nil if there is none
}

// opmNode is a node of the tree of messages.
type opmNode struct {
	text     string
	children []*opmNode
}

// judgeOPM derives opm's verdict from the findings, which are in the order in
// which opm would find them.
func judgeOPM(findings []finding) opmVerdict {
	var v opmVerdict
	root := &opmNode{text: "invalid index"}
	for _, f := range findings {
		for _, note := range f.opm {
			switch {
			case note.phase == opmLoading && !v.early:
				v.stop, v.early = note.text, true
			case note.phase == opmConverting && v.stop == "":
				v.stop = note.text
			case note.phase == opmValidating:
				root.at(note.path).add(note.text)
			}
		}
	}
	if v.stop == "" && len(root.children) > 0 {
		root.sort()
		v.leaves = root
	}
	return v
}

// at returns the node at the end of path, creating what is missing.
func (n *opmNode) at(path []string) *opmNode {
	for i, name := range path {
		text := fmt.Sprintf("invalid %s %q", []string{"package", "channel", "bundle"}[i], name)
		j := slices.IndexFunc(n.children, func(c *opmNode) bool { return c.text == text })
		if j < 0 {
			j = len(n.children)
			n.children = append(n.children, &opmNode{text: text})
		}
		n = n.children[j]
	}
	return n
}

func (n *opmNode) add(text string) { n.children = append(n.children, &opmNode{text: text}) }

func (n *opmNode) sort() {
	slices.SortStableFunc(n.children, func(a, b *opmNode) int { return cmp.Compare(a.text, b.text) })
	for _, c := range n.children {
		c.sort()
	}
}

// write appends the node and what is below it. indent stands before the
// node's children.
func (n *opmNode) write(b *strings.Builder, indent string) {
	b.WriteString(n.text)
	if len(n.children) > 0 {
		b.WriteByte(':')
	}
	b.WriteByte('\n')
	for i, c := range n.children {
		if i < len(n.children)-1 {
			b.WriteString(indent + "├── ")
			c.write(b, indent+"│   ")
		} else {
			b.WriteString(indent + "└── ")
			c.write(b, indent+"    ")
		}
	}
}

// OPM returns the verdict of opm validate, version 1.73, in its words: nothing
// for a valid catalog, the message with which it stops, or the tree of its
// findings, siblings sorted. (opm writes them in a random order.) Of files that
// cannot be read, decoded or indexed, the message is ours.
//
// The verdict is that of [Report.Valid] except for the cases listed in
// docs/compatibility/catalog.md.
func (r *Report) OPM() string {
	text := r.opm.stop
	if r.opm.leaves != nil {
		var b strings.Builder
		r.opm.leaves.write(&b, "")
		text = b.String()
	}
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return text + "\n"
}
