package resolve

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// dryRun prints what a removal does.
func (c *command) dryRun(w io.Writer, flag, name string, plan func(namespace, name string) (*explain.Removal, error)) error {
	namespace, rest, ok := strings.Cut(name, "/")
	if !ok || namespace == "" || rest == "" {
		return &args.UsageError{Text: fmt.Sprintf("%s %s: not of the form NAMESPACE/NAME", flag, name)}
	}
	r, err := plan(namespace, rest)
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, name, err)
	}
	if c.format == "json" {
		err = printJSON(w, r)
	} else {
		_, err = io.WriteString(w, r.String())
	}
	if err == nil && len(r.Dependents)+len(r.Waits) > 0 {
		return args.ErrFindings
	}
	return err
}
