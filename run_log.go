package fairlead

import "log/slog"

// LogTrace returns a Trace that logs what happens to the objects of the engine: each
// wait when it begins, changes and ends, each action, and each pass that fails. Passes
// with nothing new are not logged.
func LogTrace(engine string, log *slog.Logger) *Trace {
	about := func(name string) *slog.Logger { return log.With("engine", engine, "object", name) }
	wait := func(l *slog.Logger, b Block) {
		attrs := []any{"subject", b.Subject, "reason", b.Reason}
		for _, a := range []struct{ key, value string }{{"owner", b.Owner}, {"unblock", b.Unblock}} {
			if a.value != "" {
				attrs = append(attrs, a.key, a.value)
			}
		}
		l.Info("waiting: "+b.Message, attrs...)
	}
	return &Trace{
		Applied: func(name string, action Action, err error) {
			if err != nil {
				about(name).Warn("action failed", "action", action.String(), "error", err)
				return
			}
			about(name).Info("action applied", "action", action.String())
		},
		End: func(name string, p Pass) {
			if p.Err != nil {
				about(name).Warn("pass failed", "error", p.Err)
			}
		},
		Waits: func(name string, w Waits) {
			l := about(name)
			for _, b := range append(w.Begun[:len(w.Begun):len(w.Begun)], w.Changed...) {
				wait(l, b)
			}
			for _, b := range w.Ended {
				l.Info("no longer waiting", "subject", b.Subject, "reason", b.Reason)
			}
		},
		Skipped: func(key string, err error) {
			log.Error("key skipped", "engine", engine, "key", key, "error", err)
		},
	}
}
