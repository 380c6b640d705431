package bundle

import (
	"errors"

	"github.com/fairlead/fairlead/catalog"
)

// imageFault says why ref is not an image reference and what to do about it,
// or returns "".
func imageFault(ref string) (reason, hint string) {
	var bad *catalog.ImageRefError
	if _, err := catalog.ParseImageRef(ref); errors.As(err, &bad) {
		return bad.Reason, bad.Hint
	}
	return "", ""
}
