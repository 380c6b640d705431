package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/catalog"
)

// Options tune a handler. The zero value, and nil, are the defaults.
type Options struct {
	// Modified is when the catalog last changed, for Last-Modified. By default
	// it is not sent, so only ETags make requests conditional.
	Modified time.Time
	// WithPackage makes a query for a package also return its olm.package
	// document. catalogd leaves that out, because such a document has a name
	// but no package.
	WithPackage bool
}

// Handler serves one catalog, which it never changes. Any number of requests
// may be served at once.
type Handler struct {
	docs []*catalog.Document // in the order in which catalogs are written
	opts Options

	sums sync.Map // of responses: the ETag by query
}

// NewHandler returns the service of a catalog, to be mounted at the catalog's
// own address, such as /catalogs/community.
func NewHandler(c *catalog.Catalog, opts *Options) *Handler {
	h := &Handler{}
	if opts != nil {
		h.opts = *opts
	}
	for d := range c.Ordered() {
		h.docs = append(h.docs, d)
	}
	return h
}

// query selects documents; empty fields match any.
type query struct{ schema, pkg, name string }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q query
	switch r.URL.Path {
	case "/api/v1/all":
	case "/api/v1/metas":
		values := r.URL.Query()
		for name := range values {
			if name != "schema" && name != "package" && name != "name" {
				http.Error(w, fmt.Sprintf("there is no parameter %q: use schema, package and name", name), http.StatusBadRequest)
				return
			}
		}
		q = query{values.Get("schema"), values.Get("package"), values.Get("name")}
	default:
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	h.answer(w, r, q)
}

// answer sends the documents that match a query.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, q query) {
	tag, err := h.tag(q)
	if err != nil {
		http.Error(w, "the catalog cannot be read: "+err.Error(), http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "application/jsonl")
	head.Set("Vary", "Accept-Encoding")
	zipped := compresses(r)
	if zipped {
		tag = strings.TrimSuffix(tag, `"`) + `-gzip"`
	}
	head.Set("ETag", tag)
	if !h.opts.Modified.IsZero() {
		head.Set("Last-Modified", h.opts.Modified.UTC().Format(http.TimeFormat))
	}
	if h.unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Header.Get("Range") != "" && !zipped { // rarely used, by tools that resume a download
		var all bytes.Buffer
		if err := h.write(&all, q); err != nil {
			http.Error(w, "the catalog cannot be read: "+err.Error(), http.StatusInternalServerError)
			return
		}
		http.ServeContent(w, r, "", h.opts.Modified, bytes.NewReader(all.Bytes()))
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	out := io.Writer(w)
	if zipped {
		head.Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		out = z
	}
	if err := h.write(out, q); err != nil {
		panic(http.ErrAbortHandler) // the response has begun: the client must not take it as complete
	}
}

// compresses reports whether the client takes gzip.
func compresses(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			quality, ok := strings.CutPrefix(strings.TrimSpace(params), "q=")
			value, err := strconv.ParseFloat(quality, 64)
			return r.Header.Get("Range") == "" && (!ok || err == nil && value > 0)
		}
	}
	return false
}

// unchanged reports whether the client already has the response.
func (h *Handler) unchanged(r *http.Request, tag string) bool {
	if have := r.Header.Get("If-None-Match"); have != "" {
		for part := range strings.SplitSeq(have, ",") {
			if t := strings.TrimPrefix(strings.TrimSpace(part), "W/"); t == tag || t == "*" {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && !h.opts.Modified.IsZero() && !h.opts.Modified.Truncate(time.Second).After(since)
}

// tag returns the ETag of a response, which depends on its content. The first
// time it reads the content.
func (h *Handler) tag(q query) (string, error) {
	if tag, ok := h.sums.Load(q); ok {
		return tag.(string), nil
	}
	sum := sha256.New()
	n := 0
	for _, d := range h.docs {
		if h.wants(q, d) {
			n++
		}
	}
	if err := h.write(sum, q); err != nil {
		return "", err
	}
	tag := `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
	if n > 0 { // otherwise queries without a result would fill the memory
		h.sums.Store(q, tag)
	}
	return tag, nil
}

func (h *Handler) wants(q query, d *catalog.Document) bool {
	if q.schema != "" && d.Schema() != q.schema || q.name != "" && d.Name() != q.name {
		return false
	}
	if q.pkg == "" {
		return true
	}
	return d.Package() == q.pkg && (h.opts.WithPackage || d.Schema() != catalog.SchemaPackage)
}

// write writes the documents of a response, one per line.
func (h *Handler) write(w io.Writer, q query) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var line bytes.Buffer
	for _, d := range h.docs {
		if !h.wants(q, d) {
			continue
		}
		text, err := d.JSON()
		if err != nil {
			return err
		}
		line.Reset()
		if err := json.Compact(&line, text); err != nil {
			return err
		}
		line.WriteByte('\n')
		if _, err := out.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return out.Flush()
}
