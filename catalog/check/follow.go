package check

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/words"
)

// quiet leaves out findings that usually follow from others, so that one fault
// is one finding: fixing it may show what else is wrong. A finding is left out
// only if one that it follows from stays; opm's message about it stays, too.
func (v *validator) quiet() {
	q := &followers{v: v, of: map[string]map[catalog.Code][]*finding{}, on: map[*catalog.Document]map[catalog.Code]bool{}}
	for i := range v.findings {
		f := &v.findings[i]
		if f.d == nil || f.doc == nil {
			continue
		}
		pkg := f.doc.Package()
		if q.of[pkg] == nil {
			q.of[pkg] = map[catalog.Code][]*finding{}
		}
		q.of[pkg][f.d.Code] = append(q.of[pkg][f.d.Code], f)
		if q.on[f.doc] == nil {
			q.on[f.doc] = map[catalog.Code]bool{}
		}
		q.on[f.doc][f.d.Code] = true
	}
	q.documents()
	for _, byCode := range q.of {
		q.channels(byCode)
		q.names(byCode)
	}
	q.packages()
	q.misplaced()
	v.copies()
}

// copies makes one finding of those about two files that have documents in common. Which one is
// a copy of the other can be told only from a name.
func (v *validator) copies() {
	type pair struct{ file, of string }
	repeated := map[pair][]*finding{}
	var order []pair
	for i := range v.findings {
		f := &v.findings[i]
		if f.twin == nil || f.hidden {
			continue
		}
		p := pair{f.doc.Start().File, f.twin.Start().File}
		if p.file == p.of {
			continue
		}
		if names.IsBackup(p.of, p.file) {
			p = pair{p.of, p.file}
			f.doc, f.twin = f.twin, f.doc
			f.d.Pos, f.d.Also = f.doc.Start(), f.twin.Start()
		}
		if repeated[p] == nil {
			order = append(order, p)
		}
		repeated[p] = append(repeated[p], f)
	}
	for _, p := range order {
		list := repeated[p]
		first := list[0]
		backup := names.IsBackup(p.file, p.of)
		if len(list) == 1 && !backup {
			continue
		}
		documents := words.Count(len(list), "document", "documents")
		first.path, first.d.Subject, first.d.Message = nil, "", "the file shares "+documents+" with another one"
		if first.d.Hint = "keep one of the two files: delete the other, or list it in .indexignore"; backup {
			first.d.Message, first.d.Hint = "the file repeats "+documents+" of another one", "delete the backup, or list it in .indexignore"
		} else if path.Base(p.file) == path.Base(p.of) {
			first.d.Hint = "if they are parts of two catalogs, name the directory of one of them; otherwise delete one of the files"
		}
		drop(list[1:])
	}
}

// followers are the findings by package, and the codes by document.
type followers struct {
	v  *validator
	of map[string]map[catalog.Code][]*finding
	on map[*catalog.Document]map[catalog.Code]bool
}

// drop leaves out findings, except for opm's messages.
func drop(list []*finding) {
	for _, f := range list {
		f.hidden = true
	}
}

// dropWhere leaves out the findings of a list for which a function returns true.
func dropWhere(list []*finding, takes func(*finding) bool) {
	for _, f := range list {
		if takes(f) {
			f.hidden = true
		}
	}
}

// documents leaves out findings that follow from another one of the same
// document.
func (q *followers) documents() {
	for _, byCode := range q.of {
		dropWhere(byCode[CodeBundleName], func(f *finding) bool { return q.on[f.doc][CodeRelease] })
		dropWhere(byCode[CodePackageProperty], func(f *finding) bool { return q.on[f.doc][CodeProperty] })
		for _, code := range []catalog.Code{CodeNoHead, CodeMultipleHeads, CodeReplacesCycle, CodeStrandedBundle} {
			dropWhere(byCode[code], func(f *finding) bool {
				return q.on[f.doc][CodeMissingBundle] || q.on[f.doc][CodeEntryName] || q.leadsOut(f.doc, byCode[CodeNotInChannel])
			})
		}
	}
}

// leadsOut reports whether an entry of a channel replaces or skips a bundle that
// no channel has.
func (q *followers) leadsOut(channel *catalog.Document, unlisted []*finding) bool {
	return slices.ContainsFunc(unlisted, func(f *finding) bool {
		return slices.ContainsFunc(channel.Entries(), func(e catalog.Entry) bool {
			return e.Replaces == f.doc.Name() || slices.Contains(e.Skips, f.doc.Name())
		})
	})
}

// channels leaves out findings about a package that follow from channels that
// are missing, empty or without a name.
func (q *followers) channels(byCode map[catalog.Code][]*finding) {
	if len(byCode[CodeNoChannel]) > 0 && len(byCode[CodeChannelName]) == 0 {
		drop(byCode[CodeDefaultChannel])
	}
	if len(byCode[CodeChannelName]) > 0 {
		drop(byCode[CodeDefaultChannel])
		drop(byCode[CodeNoChannel])
	}
	if len(byCode[CodeNoChannel])+len(byCode[CodeChannelName])+len(byCode[CodeEmptyChannel])+len(byCode[CodeDefaultChannel]) > 0 {
		drop(byCode[CodeNotInChannel])
	}
}

// names leaves out findings about a package that follow from one misspelt name:
// if as many entries lack a bundle as bundles lack an entry, the findings about
// entries stay.
func (q *followers) names(byCode map[catalog.Code][]*finding) {
	named := map[string]bool{}
	for _, f := range byCode[CodeMissingBundle] {
		name := f.entry()
		if named[name] || name == "" {
			drop([]*finding{f}) // reported for another channel, or as an entry without a name
		}
		named[name] = true
	}
	alive := slices.DeleteFunc(slices.Clone(byCode[CodeNotInChannel]), func(f *finding) bool { return f.hidden })
	if len(alive) == 0 || len(alive) > len(named) || named[""] && len(byCode[CodeEntryName]) == 0 {
		return
	}
	drop(alive)
	if len(alive) > 1 || len(named) > 1 || named[""] {
		return
	}
	for _, f := range byCode[CodeMissingBundle] { // the one is likely the other
		meant := alive[0].doc.Name()
		f.d.Hint = "write " + strconv.Quote(meant) + ", a bundle that no channel has, or give that bundle this name"
		f.fix = nil
		if meant != "" {
			value, _ := json.Marshal(meant)
			f.fix = &Fix{Finding: f.d, Document: f.doc, Path: f.path, Value: value}
		}
	}
}

// entry returns the name of the entry that a finding is about.
func (f *finding) entry() string {
	if len(f.path) > 1 {
		if i, ok := f.path[1].(int); ok && i < len(f.doc.Entries()) {
			return f.doc.Entries()[i].Name
		}
	}
	return ""
}

// packages leaves out findings that follow from olm.package documents that are
// missing, or that have no name or a bad one.
func (q *followers) packages() {
	nameless, unknown := 0, 0
	for pkg, byCode := range q.of {
		if len(byCode[CodePackageName]) > 0 {
			nameless++
			drop(byCode[CodeNoChannel])
			drop(byCode[CodeDefaultChannel])
		}
		if list := byCode[CodeUnknownPackage]; len(list) > 0 && pkg != "" {
			unknown++
			drop(list[1:])
		}
	}
	if nameless < unknown {
		return
	}
	for pkg, byCode := range q.of {
		if pkg != "" && nameless > 0 {
			drop(byCode[CodeUnknownPackage])
		}
	}
}

// misplaced leaves out findings that follow from channels and bundles that name
// no package, or one that does not exist.
func (q *followers) misplaced() {
	for _, byCode := range q.of {
		list := byCode[CodeUnknownPackage]
		if !slices.ContainsFunc(list, func(f *finding) bool { return !f.hidden }) {
			continue
		}
		for _, stray := range list { // one finding stands for all of them
			q.stray(stray.doc)
		}
	}
}

func (q *followers) stray(d *catalog.Document) {
	for _, byCode := range q.of {
		switch d.Schema() {
		case catalog.SchemaBundle:
			dropWhere(byCode[CodeMissingBundle], func(f *finding) bool { return f.entry() == d.Name() })
		case catalog.SchemaChannel:
			has := func(f *finding) bool {
				return slices.ContainsFunc(d.Entries(), func(e catalog.Entry) bool { return e.Name == f.doc.Name() })
			}
			listed := slices.ContainsFunc(byCode[CodeNotInChannel], has)
			dropWhere(byCode[CodeNotInChannel], has)
			dropWhere(byCode[CodeDefaultChannel], func(f *finding) bool { return f.doc.DefaultChannel() == d.Name() })
			if listed || len(byCode[CodeNotInChannel]) > 0 {
				drop(byCode[CodeNoChannel])
			}
		}
	}
}
