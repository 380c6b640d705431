package doc

import (
	"bytes"
	"fmt"
)

// BlockAgainstParser reads a YAML document with the reader of block style and
// with the parser of full YAML. accepted means that the reader accepted it;
// then difference is how the two results differ, or "".
func BlockAgainstParser(raw []byte, old bool) (accepted bool, difference string) {
	limits := Limits{}.withDefaults()
	fast, slow := &yamlWriter{old: old}, &yamlWriter{old: old}
	start := Position{Line: 1, Column: 1}
	fast.reset(start, limits)
	slow.reset(start, limits)
	if !fast.block.read(fast, raw) {
		return false, ""
	}
	scan := scanner{max: limits.Depth, level: levels}
	if _, ok := scan.scan(fast.out, 0, true); !ok {
		if scan.fault.kind == DuplicateKey {
			return false, ""
		}
		return true, "no JSON: " + string(fast.out)
	}
	if err := slow.text(raw); err != nil {
		return true, err.Error()
	}
	root, err := slow.parse(raw)
	if err != nil || root == nil {
		return true, fmt.Sprint("the parser says: ", err)
	}
	if err := slow.value(root, 1); err != nil {
		return true, err.Error()
	}
	if !bytes.Equal(fast.out, slow.out) {
		return true, fmt.Sprintf("%s\nnot\n%s", fast.out, slow.out)
	}
	if fmt.Sprint(fast.words) != fmt.Sprint(slow.words) {
		return true, fmt.Sprintf("words %v, not %v", fast.words, slow.words)
	}
	for i := range slow.marks {
		if i >= len(fast.marks) || fast.marks[i] != slow.marks[i] {
			return true, fmt.Sprintf("mark %d: %v, not %v, of %s", i, fast.marks[min(i, len(fast.marks)-1)], slow.marks[i], fast.out)
		}
	}
	if len(fast.marks) != len(slow.marks) {
		return true, fmt.Sprintf("%d marks, not %d", len(fast.marks), len(slow.marks))
	}
	return true, ""
}
