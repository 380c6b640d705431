package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// role is what a file of metadata holds: the key at its top.
type role string

const (
	roleAnnotations  role = "annotations"
	roleDependencies role = "dependencies"
	roleProperties   role = "properties"
)

// metadata reads a file of the directory metadata. What the reference silently
// leaves out is a fault here.
func (r *reader) metadata(f *file) {
	if f.fault != nil {
		*r.found = append(*r.found, lost(f.fault, "not a word"))
	}
	if f.hollow {
		r.found.fault(CodeEmptyDocument, f.docs[0].doc.Start, "",
			"the --- above it ends a document of only comments and blank lines, and catalog tools read only the first document: they leave out the whole file",
			"delete that ---, or everything before it").unread = true
	}
	src := f.first()
	if src == nil {
		return
	}
	for _, more := range f.docs[1:] {
		r.found.fault(CodeMoreDocuments, more.doc.Start, "",
			"tools read only the first document of a file, so what is here is silently lost", "merge it into the first")
	}
	known := false
	for _, ro := range []role{roleAnnotations, roleDependencies, roleProperties} {
		if v := member(src.tree, string(ro)); v != nil {
			known = true
			r.play(ro, f, src, v)
		}
	}
	if !known {
		r.found.advice(CodeIgnoredFile, src.doc.Start, "",
			"the file holds neither annotations nor dependencies nor properties, so tools ignore it"+r.nearRole(src), "delete or fix it")
	}
}

// member returns the member of an object whose key is name, in any case of
// letters: the last one that is spelt exactly so, else the last one that is.
func member(v *doc.Value, name string) *doc.Value {
	if m := v.Get(name); m != nil {
		return m
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Kind == '{' && strings.EqualFold(v.Members[i].Key, name) {
			return &v.Members[i]
		}
	}
	return nil
}

func (r *reader) nearRole(src *source) string {
	for i := range src.tree.Members {
		key := src.tree.Members[i].Key
		if nearest := words.Nearest(key, []string{string(roleAnnotations), string(roleDependencies), string(roleProperties)}); nearest != "" {
			return fmt.Sprintf("; did you mean %s: instead of %s:?", nearest, key)
		}
	}
	return ""
}

// play reads what a file holds for a role. The first file with any content for
// the role plays it.
func (r *reader) play(ro role, f *file, src *source, v *doc.Value) {
	if first := r.taken[ro]; first != "" && names.IsBackup(f.name, first) {
		r.found.advice(CodeIgnoredFile, src.at(v), "", "the file is a backup of "+first+", and tools ignore it", "delete it, so that it is not in the image")
		return
	} else if first != "" {
		r.found.fault(CodeIgnoredFile, src.at(v), "", "the "+string(ro)+" of this file do not count: those of "+first+" come first",
			"keep one list of "+string(ro))
		return
	}
	before := len(*r.found)
	filled := false
	if ro == roleAnnotations {
		filled = r.annotations(src, v)
	} else {
		filled = r.list(ro, src, v)
	}
	if filled {
		r.taken[ro] = f.name
		return
	}
	for i := before; i < len(*r.found); i++ {
		lost := &(*r.found)[i]
		if lost.lint {
			continue
		}
		lost.unread = true
		lost.Message += "; catalog tools silently leave out the file, and with it all its " + string(ro)
	}
}

// ours are the annotations that the reference reads: with a wrong type in one
// of them it finds no annotations in the file.
var ours = []string{AnnotationPackage, AnnotationChannels, AnnotationDefaultChannel}

// looseness is how types are compared in a file of metadata: conversion from
// YAML to JSON writes numbers and booleans as strings where a string is
// wanted.
func (s *source) looseness() doc.Mode {
	if s.doc.Format == doc.YAML {
		return doc.Loose
	}
	return 0
}

func (r *reader) annotations(src *source, v *doc.Value) bool {
	a := Annotations{Position: src.doc.Start, src: src}
	readable, said := true, false
	for _, fault := range doc.Decode(v, &a.values, src.looseness()) {
		readable = readable && len(fault.Steps) > 0 && !slices.Contains(ours, fault.Steps[0].(string))
		fault.Steps = append([]any{v.Key}, fault.Steps...)
		r.found.mismatch(src, "", fault).Code = CodeMisread
	}
	for _, key := range ours {
		said = said || a.values[key] != ""
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Kind == '0' && a.values[m.Key] != string(m.Raw) {
			r.found.advice(CodeAnnotation, src.at(m), "", fmt.Sprintf("the annotation %s is a number, and tools read it as %q", m.Key, a.values[m.Key]),
				fmt.Sprintf("put it in quotes: %q", m.Raw))
		}
	}
	if !readable || !said {
		return false
	}
	r.b.Annotations = a
	return true
}

// entry is one entry of a list of dependencies or properties.
type entry struct {
	Type  string     `json:"type"`
	Value *doc.Value `json:"value"`
}

func (r *reader) list(ro role, src *source, v *doc.Value) bool {
	var entries []entry
	faults := doc.Decode(v, &entries, src.looseness())
	for _, fault := range faults {
		fault.Steps = append([]any{string(ro)}, fault.Steps...)
		r.found.mismatch(src, "", fault).Code = CodeMisread
	}
	if len(faults) > 0 || len(entries) == 0 {
		return false
	}
	props := make([]Property, 0, len(entries))
	for i, e := range entries {
		p := Property{value: e.Value, src: src, Position: src.at(&v.Members[i])}
		p.Type, p.Value = e.Type, src.raw(e.Value)
		props = append(props, p)
	}
	if ro == roleDependencies {
		r.b.Dependencies = props
	} else {
		r.b.Properties = props
	}
	return true
}
