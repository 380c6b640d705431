package promql

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/fairlead/fairlead/cvo/graph"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// Reason is the kind of a failure.
type Reason string

// The reasons, from the rule to the answer.
const (
	Rule    Reason = "Rule"    // the rule is not one for Prometheus
	File    Reason = "File"    // the file of the token or of the certificates cannot be used
	Connect Reason = "Connect" // the server could not be reached, or is not trusted
	Access  Reason = "Access"  // the server denies access (401, 403)
	Query   Reason = "Query"   // the server cannot carry out the query
	Server  Reason = "Server"  // the server failed, or is not a Prometheus
	Timeout Reason = "Timeout" // the query took too long, here or on the server
	Limit   Reason = "Limit"   // the answer is too large
	Answer  Reason = "Answer"  // the answer decides nothing
)

// Error reports why a rule could not be evaluated.
type Error struct {
	Server string     // the address of the server, without a password
	Rule   graph.Rule // which rule was to be evaluated
	Reason Reason     // the kind of the failure
	Err    error      // what happened, in one line
}

// Error returns the message in one line. It contains nothing that changes
// while the failure stays the same, such as the number of a local port.
func (e *Error) Error() string {
	if e.Reason == Rule {
		return e.Err.Error()
	}
	return "Prometheus at " + e.Server + ": " + e.Err.Error()
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

func (e *Evaluator) fail(rule graph.Rule, reason Reason, err error) error {
	return &Error{Server: e.server, Rule: rule, Reason: reason, Err: err}
}

// LimitError reports that an answer is larger than Options.MaxAnswer.
type LimitError struct {
	Limit int64 // in bytes
}

// Error returns the message in one line.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes; one that decides is far smaller: check the query, or raise MaxAnswer", e.Limit)
}

// fileError is a failure to use a file of the options.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// explain returns the kind of a failed query, and an error in one line.
func (e *Evaluator) explain(err error) (Reason, error) {
	var (
		limit   *LimitError
		file    fileError
		answer  *v1.Error
		network *net.OpError
		wrapped *url.Error
		cert    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &limit):
		return Limit, limit
	case errors.As(err, &file):
		return File, file.error
	case errors.As(err, &answer):
		return e.refusal(answer)
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout, fmt.Errorf("it did not answer within %s", e.opts.Timeout)
	case errors.As(err, &cert):
		return Connect, fmt.Errorf("its certificate is not trusted: %w", cert.Err)
	case errors.As(err, &network): // without the addresses of both ends
		return Connect, fmt.Errorf("it cannot be reached: %s: %w", network.Op, network.Err)
	case errors.As(err, &wrapped):
		return Connect, fmt.Errorf("it cannot be queried: %w", wrapped.Err)
	}
	return Server, fmt.Errorf("its answer cannot be read: %s", oneLine(err.Error()))
}

// refusal explains an answer that is an error.
func (e *Evaluator) refusal(a *v1.Error) (Reason, error) {
	kind, told := a.Type, a.Msg
	var inside struct {
		Type  v1.ErrorType `json:"errorType"`
		Error string       `json:"error"`
	}
	if json.Unmarshal([]byte(a.Detail), &inside) == nil && inside.Error != "" {
		kind, told = inside.Type, inside.Error // the API's own form, with a status for which the client does not expect it
	} else if a.Detail != "" {
		told += ": " + a.Detail
	}
	told = oneLine(told)
	if a.Msg == "client error: 401" || a.Msg == "client error: 403" {
		hint := "send a bearer token (TokenFile)"
		if e.opts.TokenFile != "" {
			hint = "check the permissions of the token in " + e.opts.TokenFile
		}
		return Access, fmt.Errorf("it denies access: %s; %s", told, hint)
	}
	switch kind {
	case v1.ErrBadData, v1.ErrExec:
		return Query, fmt.Errorf("it cannot carry out the query: %s", told)
	case v1.ErrTimeout, v1.ErrCanceled:
		return Timeout, fmt.Errorf("it gave up the query: %s", told)
	case v1.ErrClient, v1.ErrBadResponse:
		return Server, fmt.Errorf("it does not serve the Prometheus API: %s", told)
	}
	return Server, fmt.Errorf("it failed: %s", told)
}

// longest limits how much of a server's message an error repeats, in bytes.
const longest = 300

// oneLine returns a server's message as one line of limited length.
func oneLine(s string) string {
	if len(s) > 4*longest {
		s = s[:4*longest]
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + " …"
	}
	return s
}
