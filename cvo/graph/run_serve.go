//go:build !nohttp

package graph

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Service answers clusters that ask for their updates, by the protocol of
// Cincinnati: GET with the parameters channel, arch, version and id. It is an
// [http.Handler], and answers on every path.
//
//  1. The answer is the result of Data.Assemble for the raw graph, the channel and
//     the architecture, by default amd64. An unknown channel or architecture gives an
//     empty graph, as in the reference; nothing is assembled for it.
//  2. Without a channel, or with invalid names, the status is 400 with a body that
//     says what is wrong; for other methods 405, for clients that do not accept
//     JSON 406.
//  3. Answers have a weak ETag: clients that already have them get 304. They are
//     compressed for clients that accept gzip.
//  4. Answers are cached, compressed and not, for as many queries as
//     ServiceOptions.Answers says; the least recently used are dropped first.
//
// Its methods may be called from several goroutines.
type Service struct {
	options ServiceOptions
	source  atomic.Pointer[source]

	requests, notModified, refused, kept, made, loads atomic.Int64
}

// ServiceOptions configure a Service. Nil means the defaults.
type ServiceOptions struct {
	// Answers is how many answers are cached; default 256.
	Answers int
	// Architecture is that of clusters that do not name one; default amd64.
	Architecture string
}

// ServiceMetrics count what a Service has done since it was created.
type ServiceMetrics struct {
	Requests    int64 `json:"requests"`    // all
	NotModified int64 `json:"notModified"` // answered with 304
	Refused     int64 `json:"refused"`     // answered with 4xx
	Kept        int64 `json:"kept"`        // answered from the cache
	Made        int64 `json:"made"`        // graphs that were assembled
	Loads       int64 `json:"loads"`       // calls of Load
}

// source is the data of answers, with the cached answers. It is replaced as a
// whole.
type source struct {
	raw   *Graph
	data  *Data
	known map[question]bool // what any release is in

	mu      sync.Mutex
	answers map[question]*list.Element // of *answer
	recent  *list.List                 // the most recently used first
}

type question struct{ channel, arch string }

// answer is computed by the first request for it.
type answer struct {
	question
	once        sync.Once
	plain, zip  []byte
	etag        string
	plainLength []string // header values, made once
	zipLength   []string
	etagValue   []string
	err         error
}

// NewService returns a service that answers with empty graphs until Load is
// called.
func NewService(opts *ServiceOptions) *Service {
	s := &Service{}
	if opts != nil {
		s.options = *opts
	}
	if s.options.Answers <= 0 {
		s.options.Answers = 256
	}
	if s.options.Architecture == "" {
		s.options.Architecture = "amd64"
	}
	s.load(nil, nil)
	return s
}

// Load replaces the raw graph and the data that the service answers from. Requests
// in progress get the old or the new one, and none fails. Nil means empty.
func (s *Service) Load(raw *Graph, data *Data) {
	s.loads.Add(1)
	s.load(raw, data)
}

func (s *Service) load(raw *Graph, data *Data) {
	if raw == nil {
		raw = newBuilder(nil, nil).done()
	}
	if data == nil {
		data = &Data{}
	}
	src := &source{raw: raw, data: data, known: map[question]bool{}, answers: map[question]*list.Element{}, recent: list.New()}
	g := data.Annotate(raw)
	for i, r := range g.releases {
		for _, channel := range r.Channels() {
			src.known[question{channel, g.versions[i].Build()}] = true
			src.known[question{channel, r.Architecture()}] = true
		}
	}
	s.source.Store(src)
}

// Metrics returns what the service has done.
func (s *Service) Metrics() ServiceMetrics {
	return ServiceMetrics{
		Requests: s.requests.Load(), NotModified: s.notModified.Load(), Refused: s.refused.Load(),
		Kept: s.kept.Load(), Made: s.made.Load(), Loads: s.loads.Load(),
	}
}

// Header values that all answers share.
var (
	headerJSON = []string{"application/json"}
	headerGzip = []string{"gzip"}
	headerVary = []string{"Accept-Encoding"}
)

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "invalid_method", "use GET")
		return
	}
	if !takesJSON(r.Header["Accept"]) {
		s.refuse(w, http.StatusNotAcceptable, "invalid_content_type", "the answer is application/json, which Accept does not allow")
		return
	}
	q := question{parameter(r.URL.RawQuery, "channel"), parameter(r.URL.RawQuery, "arch")}
	if q.arch == "" {
		q.arch = s.options.Architecture
	}
	if q.channel == "" {
		s.refuse(w, http.StatusBadRequest, "missing_params", "mandatory client parameters missing: channel")
		return
	}
	if err := (&AssembleOptions{Channel: q.channel, Architecture: q.arch}).Check(); err != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_params", err.Error())
		return
	}
	a := s.answer(q)
	if a.err != nil {
		s.refuse(w, http.StatusInternalServerError, "internal_server_error", a.err.Error())
		return
	}
	h := w.Header()
	h["Etag"], h["Vary"] = a.etagValue, headerVary
	if matches(r.Header["If-None-Match"], a.etag) {
		s.notModified.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = headerJSON
	body := a.plain
	if takesGzip(r.Header["Accept-Encoding"]) {
		body, h["Content-Encoding"], h["Content-Length"] = a.zip, headerGzip, a.zipLength
	} else {
		h["Content-Length"] = a.plainLength
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may be gone
	}
}

// refuse answers with an error, in the form of the reference.
func (s *Service) refuse(w http.ResponseWriter, status int, kind, value string) {
	s.refused.Add(1)
	body, err := json.Marshal(map[string]string{"kind": kind, "value": value})
	if err != nil {
		panic(err) // unreachable: strings
	}
	w.Header()["Content-Type"] = headerJSON
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// answer returns the cached answer, or computes it.
func (s *Service) answer(q question) *answer {
	src := s.source.Load()
	if !src.known[q] {
		q = question{} // one empty answer for all of them
	}
	src.mu.Lock()
	e := src.answers[q]
	if e == nil {
		e = src.recent.PushFront(&answer{question: q})
		src.answers[q] = e
		for len(src.answers) > s.options.Answers {
			last := src.recent.Back()
			src.recent.Remove(last)
			delete(src.answers, last.Value.(*answer).question)
		}
	} else {
		src.recent.MoveToFront(e)
		s.kept.Add(1)
	}
	a := e.Value.(*answer)
	src.mu.Unlock()
	a.once.Do(func() {
		s.made.Add(1)
		a.make(src)
	})
	return a
}

// make assembles the graph and writes it.
func (a *answer) make(src *source) {
	g := newBuilder(nil, nil).done()
	if src.known[a.question] {
		g = src.data.Assemble(src.raw, &AssembleOptions{Channel: a.channel, Architecture: a.arch})
	}
	if a.plain, a.err = g.MarshalJSON(); a.err != nil {
		return
	}
	var zip bytes.Buffer
	out := gzip.NewWriter(&zip)
	_, _ = out.Write(a.plain) // a buffer does not fail
	_ = out.Close()
	a.zip = zip.Bytes()
	sum := sha256.Sum256(a.plain)
	a.etag = `W/"` + hex.EncodeToString(sum[:16]) + `"`
	a.etagValue = []string{a.etag}
	a.plainLength, a.zipLength = []string{strconv.Itoa(len(a.plain))}, []string{strconv.Itoa(len(a.zip))}
}

// parameter returns a parameter of a query, or "" if it is missing or cannot be
// read. It does not allocate for unescaped values.
func parameter(query, name string) string {
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(part, "=")
		if key != name {
			continue
		}
		if strings.ContainsAny(value, "%+") {
			return strings.ReplaceAll(value, "+", " ") // neither is valid in names: it is reported
		}
		return value
	}
	return ""
}

// takesJSON reports whether one of the accepted types is JSON. No type means all.
func takesJSON(accept []string) bool {
	for _, line := range accept {
		for line != "" {
			var one string
			one, line, _ = strings.Cut(line, ",")
			kind, _, _ := strings.Cut(one, ";")
			switch strings.TrimSpace(kind) {
			case "application/json", "application/*", "*/*":
				return true
			}
		}
	}
	return len(accept) == 0
}

// takesGzip reports whether gzip is accepted.
func takesGzip(accept []string) bool {
	for _, line := range accept {
		for line != "" {
			var one string
			one, line, _ = strings.Cut(line, ",")
			coding, quality, _ := strings.Cut(one, ";")
			if coding = strings.TrimSpace(coding); coding == "gzip" || coding == "*" {
				switch strings.ReplaceAll(quality, " ", "") {
				case "q=0", "q=0.0", "q=0.00", "q=0.000":
				default:
					return true
				}
			}
		}
	}
	return false
}

// matches reports whether a tag is among those that the client has, by weak
// comparison.
func matches(known []string, etag string) bool {
	for _, line := range known {
		for line != "" {
			var one string
			one, line, _ = strings.Cut(line, ",")
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}
