package fairlead

import (
	"errors"
	"fmt"
	"time"
)

// Outcome is the result of the last attempt at an action, as far as this process
// knows. A restart forgets it, so it may only affect when to retry and what to
// report.
type Outcome struct {
	Key        Key           `json:"key"`                  // the action's
	At         time.Time     `json:"at"`                   // when it ended
	Failed     bool          `json:"failed,omitempty"`     // the rest is zero if not
	Code       int           `json:"code,omitempty"`       // the HTTP status of a [*RefusedError], 0 if there was none
	Reason     string        `json:"reason,omitempty"`     // the reason of a [*RefusedError], as in "NotFound"
	Message    string        `json:"message,omitempty"`    // the error, for people
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // how long the server asked to wait, in nanoseconds
}

// MaxRetryAfter bounds how long a server's Retry-After can delay a retry.
const MaxRetryAfter = time.Hour

// OutcomeOf returns the outcome of an attempt that ended at an instant with err,
// nil for success. A [*RefusedError] in err fills in code, reason, message and
// RetryAfter, the latter from 0 to [MaxRetryAfter].
func OutcomeOf(key Key, err error, at time.Time) Outcome {
	o := Outcome{Key: key, At: at}
	if err == nil {
		return o
	}
	o.Failed, o.Message = true, err.Error()
	var refused *RefusedError
	if errors.As(err, &refused) {
		o.Code, o.Reason, o.Message = refused.Code, refused.Reason, refused.Message
		o.RetryAfter = min(max(0, refused.RetryAfter), MaxRetryAfter)
	}
	return o
}

// RefusedError is the answer of an API that refused an action. A [Backend]
// should return it for a refusal.
type RefusedError struct {
	Code       int           // the HTTP status, such as 429 for an eviction that a budget forbids
	Reason     string        // the answer's reason, as in "TooManyRequests"; may be empty
	Message    string        // the answer's message, for people
	RetryAfter time.Duration // how long the answer asks to wait; 0 if it does not
}

// Error states code and message.
func (e *RefusedError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }
