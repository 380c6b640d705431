package release

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/internal/words"
)

// images warns of bundles whose image is another one for the same version, a warning for each
// package: what a user of that version runs no longer is what the catalog offers. OLM v0 looks
// for updates by names of CSVs, not by images.
func (r *Report) images(now *catalog.Catalog) {
	for _, p := range r.Diff.Packages {
		var changed []diff.BundleDiff
		for _, b := range p.Bundles {
			if b.Image != nil && b.Version == nil && b.Image.Old != "" && b.Image.New != "" && !sameImage(b.Image.Old, b.Image.New) {
				changed = append(changed, b)
			}
		}
		if len(changed) == 0 {
			continue
		}
		listed, _ := now.Package(p.Name)
		first, _ := listed.Bundle(changed[0].Name)
		pos, err := first.Document().Locate("image")
		if err != nil { // the file has changed meanwhile
			pos = first.Document().Pos()
		}
		w := &catalog.Diagnostic{
			Pos: pos, Code: CodeImage, Subject: fmt.Sprintf("package %q, bundle %q", p.Name, first.Name()),
			Message: fmt.Sprintf("its image changed, and its version %s did not: OLM v0 does not update users who have it", first.Version()),
			Hint:    "release the new image as a new version, or keep the old one",
		}
		if len(changed) > 1 {
			names := make([]string, len(changed))
			for i, b := range changed {
				names[i] = b.Name
			}
			w.Subject = fmt.Sprintf("package %q", p.Name)
			w.Message = fmt.Sprintf("the images of %d bundles (%s) changed, and their versions did not: OLM v0 does not update users who have them", len(changed), words.List(names, "and", 3))
			w.Hint = "release the new images as new versions, or keep the old ones"
		}
		r.Warnings = append(r.Warnings, w)
	}
	r.Warnings = r.Warnings.Sorted()
}

// sameImage reports whether two references name the same content, as far as they say: the same
// digest in another repository, or the same tag where one of them has no digest.
func sameImage(old, now string) bool {
	a, err := catalog.ParseImageRef(old)
	b, err2 := catalog.ParseImageRef(now)
	switch {
	case err != nil || err2 != nil:
		return false
	case a.Pinned() && b.Pinned():
		return a.Digest == b.Digest
	case a.Tag != "" && b.Tag != "":
		return a.Tag == b.Tag
	}
	return a.Domain == b.Domain && a.Path == b.Path // a tag that is pinned now, or was
}
