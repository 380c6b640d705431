package operators

import (
	"context"
	"sync"

	"github.com/fairlead/fairlead/solver/olm/install"
)

// Warnings is a warning handler for the configuration of a client
// (rest.Config.WarningHandlerWithContext): with it the Backend reports to the
// engine the server's warnings about steps of plans. Other warnings are
// dropped.
type Warnings struct{}

// HandleWarningHeaderWithContext records a warning.
func (Warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	heard, ok := ctx.Value(warningsKey{}).(*heard)
	if !ok || code != 299 || text == "" {
		return
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	heard.texts = append(heard.texts, text)
}

type warningsKey struct{}

// heard contains the warnings of one action.
type heard struct {
	mu    sync.Mutex
	texts []string
}

// warned calls do, and returns the server's warnings meanwhile if it succeeded.
func warned(ctx context.Context, do func(context.Context) error) error {
	h := &heard{}
	if err := do(context.WithValue(ctx, warningsKey{}, h)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.texts) == 0 {
		return nil
	}
	return &install.Warned{Warnings: h.texts}
}
