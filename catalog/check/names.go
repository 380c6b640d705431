package check

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/words"
)

// maxObjectName is the length of the longest name of an object.
const maxObjectName = 253

// objectName checks the name of a bundle or of a channel entry, which becomes the name of a
// ClusterServiceVersion. opm accepts any name.
func (v *validator) objectName(r *catalog.Document, path []any, subject, what, name string) {
	switch {
	case len(name) > maxObjectName:
		v.add(CodeObjectName, r, path, subject, fmt.Sprintf("the name of %s has %d characters, and no object has more than %d", what, len(name), maxObjectName), "shorten the name")
	case !names.IsSubdomain(name):
		v.add(CodeObjectName, r, path, subject, fmt.Sprintf("the name %q of %s cannot be that of a ClusterServiceVersion", name, what), "use lower-case letters, digits, and inside of these dashes and dots")
	}
}

// channelName checks the name of a channel. Objects are not named so, but people write it and
// read it in many places.
func (v *validator) channelName(r *catalog.Document) {
	if strings.ContainsFunc(r.Name(), func(c rune) bool { return unicode.IsSpace(c) || words.Hidden(c) || c == unicode.ReplacementChar }) {
		v.add(CodeObjectName, r, at("name"), channelSubject(r.Package(), r.Name()), fmt.Sprintf("the name %q of a channel has white space or invisible characters", r.Name()), "use letters, digits, dashes and dots")
	}
}
