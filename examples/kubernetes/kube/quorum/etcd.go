package quorum

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// Etcd is a client of the etcd whose quorum is protected. Its methods may be
// called from several goroutines.
type Etcd struct {
	// Endpoints are client URLs of members; one that answers is enough.
	Endpoints []string
	// HTTP makes the requests, with the certificates that etcd requires. Nil means
	// http.DefaultClient.
	HTTP *http.Client
	// Timeout limits the time of one request. Zero means 3 seconds.
	Timeout time.Duration
}

// maxAnswer limits how much of an answer is read.
const maxAnswer = 1 << 20

// corrupt is the alarm of a member whose data differs from that of the others.
const corrupt = "CORRUPT"

type (
	// id is a number that the gateway writes as text.
	id uint64

	member struct {
		ID         id       `json:"ID"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		IsLearner  bool     `json:"isLearner"`
	}

	status struct {
		Leader    id       `json:"leader"`
		RaftIndex id       `json:"raftIndex"`
		Errors    []string `json:"errors"`
	}
)

// UnmarshalJSON decodes the number.
func (n *id) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(data), `"`), 10, 64)
	*n = id(v)
	return err
}

// String returns the number as etcdctl writes it.
func (n id) String() string { return strconv.FormatUint(uint64(n), 16) }

// Members returns the members, each with its own status, and a digest of the
// membership. Without a quorum they are those that one member knows. A learner has
// caught up when etcd allows its promotion: at nine tenths of the leader's log.
func (e *Etcd) Members(ctx context.Context) ([]quorum.Member, string, error) {
	list, err := e.list(ctx, true)
	if err != nil {
		if list, err = e.list(ctx, false); err != nil {
			return nil, "", err
		}
	}
	answers := make([]*status, len(list))
	var wait sync.WaitGroup
	for i := range list {
		wait.Go(func() { answers[i] = e.status(ctx, &list[i]) })
	}
	wait.Wait()
	var leader id
	for i, s := range answers {
		if s != nil && s.Leader == list[i].ID {
			leader = s.RaftIndex
		}
	}
	var all []quorum.Member
	for i := range list {
		m := quorum.Member{ID: list[i].ID.String(), Name: list[i].Name, Learner: list[i].IsLearner}
		for _, text := range list[i].PeerURLs {
			if u, err := url.Parse(text); err == nil {
				m.Addresses = append(m.Addresses, u.Hostname())
			}
		}
		if s := answers[i]; s != nil {
			m.Healthy = !slices.ContainsFunc(s.Errors, func(text string) bool { return strings.Contains(text, corrupt) })
			m.CaughtUp = m.Learner && leader > 0 && float64(s.RaftIndex) >= 0.9*float64(leader)
		}
		all = append(all, m)
	}
	return all, revision(list), ctx.Err()
}

// revision returns a digest of a membership, for which etcd has no number.
func revision(list []member) string {
	var lines []string
	for _, m := range list {
		lines = append(lines, fmt.Sprint(m.ID, m.IsLearner, m.PeerURLs))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Apply changes the membership, if it is at the revision in the action. A concurrent
// change in between is left to etcd: it accepts one change at a time, and none that
// would cost its quorum.
func (e *Etcd) Apply(ctx context.Context, action quorum.Action) error {
	var path, at, member string
	body := map[string]any{}
	switch a := action.(type) {
	case quorum.AddLearner:
		path, at = "/v3/cluster/member/add", a.Revision
		body["peerURLs"], body["isLearner"] = []string{a.PeerURL}, true
	case quorum.Promote:
		path, at, member = "/v3/cluster/member/promote", a.Revision, a.ID
	case quorum.RemoveMember:
		path, at, member = "/v3/cluster/member/remove", a.Revision, a.ID
	default:
		return fmt.Errorf("kube/quorum: actions of type %T do not change the membership", action)
	}
	if member != "" {
		n, err := strconv.ParseUint(member, 16, 64)
		if err != nil {
			return fmt.Errorf("member %s: the ID is not a hexadecimal number", member)
		}
		body["ID"] = strconv.FormatUint(n, 10)
	}
	list, err := e.list(ctx, true)
	if err != nil {
		return err
	}
	if now := revision(list); now != at {
		return &fairlead.RefusedError{Code: http.StatusConflict, Message: "the members of etcd have changed since they were observed"}
	}
	return e.any(ctx, path, body, nil)
}

// list returns the members. If agreed is set, they are what a quorum has agreed
// on.
func (e *Etcd) list(ctx context.Context, agreed bool) ([]member, error) {
	var answer struct {
		Members []member `json:"members"`
	}
	if err := e.any(ctx, "/v3/cluster/member/list", map[string]any{"linearizable": agreed}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Members) == 0 {
		return nil, errors.New("etcd: the list of members is empty: the answer is not from etcd")
	}
	return answer.Members, nil
}

// status returns the status of a member; nil if it does not answer.
func (e *Etcd) status(ctx context.Context, m *member) *status {
	for _, base := range m.ClientURLs {
		s := new(status)
		if e.post(ctx, base, "/v3/maintenance/status", map[string]any{}, s) == nil {
			return s
		}
	}
	return nil
}

// any asks the endpoints in order until one answers. A refusal is final, because
// another member would also refuse.
func (e *Etcd) any(ctx context.Context, path string, body, into any) error {
	if len(e.Endpoints) == 0 {
		return errors.New("etcd: no endpoints: name the client URLs of its members")
	}
	var all []error
	for _, base := range e.Endpoints {
		err := e.post(ctx, base, path, body, into)
		if refused := (*fairlead.RefusedError)(nil); err == nil || errors.As(err, &refused) && refused.Code < 500 {
			return err
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

func (e *Etcd) post(ctx context.Context, base, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, 3*time.Second))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(base, "/")+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := *cmp.Or(e.HTTP, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // another host would see the certificate
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("etcd %s: %w", base, err)
	}
	if answer.StatusCode != http.StatusOK {
		var said struct {
			Message string `json:"message"`
			Error   string `json:"error"`
		}
		_ = json.Unmarshal(text, &said) // otherwise the status code is enough
		return &fairlead.RefusedError{Code: answer.StatusCode, Message: "etcd " + base + ": " + cmp.Or(said.Message, said.Error, answer.Status)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("etcd %s: its answer to %s cannot be read: %w", base, path, err)
	}
	return nil
}
