package graph_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/samples"
)

// ask asks a service.
func ask(s http.Handler, method, query string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/api/upgrades_info/v1/graph?"+query, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) []byte {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// channels are the data of two channels.
func channels(t *testing.T) *graph.Data {
	d, found := graph.ReadData(fstest.MapFS{
		"channels/stable-4.1.yaml": {Data: []byte("name: stable-4.1\nversions: [4.1.0]\n")},
		"channels/fast-4.1.yaml":   {Data: []byte("name: fast-4.1\nversions: [4.1.0, 4.1.1, 4.1.2]\n")},
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return d
}

// served is a graph of two releases.
func served(t *testing.T, version string) *graph.Graph {
	g, found := graph.Parse(fmt.Appendf(nil, `{"nodes":[
{"version":"4.1.0","payload":"a","metadata":{"io.openshift.upgrades.graph.release.arch":"amd64"}},
{"version":%q,"payload":"b","metadata":{"io.openshift.upgrades.graph.release.arch":"amd64"}}],"edges":[[0,1]]}`, version), nil)
	if g == nil {
		t.Fatal(found)
	}
	return g
}

// The protocol: what is asked for, what is refused, and what is not sent again.
func TestService(t *testing.T) {
	s := graph.NewService(nil)
	if r := ask(s, "GET", "channel=stable-4.1"); r.StatusCode != 200 || string(bodyOf(t, r)) != `{"version":1,"nodes":[],"edges":[],"conditionalEdges":[]}` {
		t.Errorf("before a graph is there: %v", r)
	}
	raw := served(t, "4.1.1")
	s.Load(raw, channels(t))
	for _, c := range []struct {
		method, query string
		header        []string
		status        int
		body          string
	}{
		{"GET", "channel=fast-4.1&arch=amd64&version=4.1.0&id=x", nil, 200, ""},
		{"HEAD", "channel=fast-4.1", nil, 200, "-"},
		{"GET", "channel=fast-4.1", []string{"Accept", "text/html, application/json;q=0.5"}, 200, ""},
		{"GET", "channel=fast-4.1", []string{"Accept", "*/*"}, 200, ""},
		{"GET", "channel=fast-4.1", []string{"Accept", "text/html"}, 406, "invalid_content_type"},
		{"GET", "arch=amd64", nil, 400, "missing_params"},
		{"GET", "", nil, 400, "missing_params"},
		{"GET", "channel=a%20b", nil, 400, "invalid_params"},
		{"GET", "channel=stable-4.1&arch=AMD", nil, 400, "invalid_params"},
		{"POST", "channel=fast-4.1", nil, 405, "invalid_method"},
		{"GET", "channel=no-such", nil, 200, ""},
	} {
		r := ask(s, c.method, c.query, c.header...)
		text := bodyOf(t, r)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v: %v", c.method, c.query, c.header, r)
		}
		var refused struct{ Kind, Value string }
		if c.status >= 400 && (json.Unmarshal(text, &refused) != nil || refused.Kind != c.body || refused.Value == "") {
			t.Errorf("%s %s: %s", c.method, c.query, text)
		}
		if c.body == "-" && (len(text) > 0 || r.Header.Get("Content-Length") == "") {
			t.Errorf("%s %s: %s", c.method, c.query, text)
		}
	}
	first := ask(s, "GET", "channel=fast-4.1")
	want, err := channels(t).Assemble(raw, &graph.AssembleOptions{Channel: "fast-4.1", Architecture: "amd64"}).MarshalJSON()
	if err != nil || !bytes.Equal(bodyOf(t, first), want) {
		t.Errorf("another body than %s", want)
	}
	etag := first.Header.Get("ETag")
	for known, status := range map[string]int{etag: 304, "*": 304, `W/"x", ` + etag: 304, etag[2:]: 304, `W/"x"`: 200} {
		if r := ask(s, "GET", "channel=fast-4.1", "If-None-Match", known); r.StatusCode != status || status == 304 && len(bodyOf(t, r)) > 0 || r.Header.Get("ETag") != etag {
			t.Errorf("with %s: %v", known, r)
		}
	}
	zipped := ask(s, "GET", "channel=fast-4.1", "Accept-Encoding", "br, gzip;q=0.8")
	in, err := gzip.NewReader(zipped.Body)
	if err != nil || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, %v", zipped, err)
	}
	if text, err := io.ReadAll(in); err != nil || !bytes.Equal(text, want) {
		t.Errorf("compressed: %s, %v", text, err)
	}
	if r := ask(s, "GET", "channel=fast-4.1", "Accept-Encoding", "gzip;q=0"); r.Header.Get("Content-Encoding") != "" {
		t.Error("compressed for who does not take it")
	}
	s.Load(served(t, "4.1.2"), channels(t))
	if r := ask(s, "GET", "channel=fast-4.1", "If-None-Match", etag); r.StatusCode != 200 || !bytes.Contains(bodyOf(t, r), []byte("4.1.2")) {
		t.Errorf("after another graph was loaded: %v", r)
	}
	m := s.Metrics()
	if m.Requests == 0 || m.NotModified != 4 || m.Refused != 6 || m.Loads != 2 || m.Kept == 0 || m.Made == 0 {
		t.Errorf("%+v", m)
	}
}

// While graphs are loaded every request is answered, with one graph or the other.
func TestServiceReload(t *testing.T) {
	s := graph.NewService(&graph.ServiceOptions{Answers: 2})
	graphs := []*graph.Graph{served(t, "4.1.1"), served(t, "4.1.2")}
	data := channels(t)
	s.Load(graphs[0], data)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 200 {
				r := ask(s, "GET", fmt.Sprintf("channel=fast-4.1&arch=a%d", i%5))
				if r.StatusCode != 200 {
					t.Errorf("%v", r)
				}
				if r := ask(s, "GET", "channel=fast-4.1"); r.StatusCode != 200 || !bytes.Contains(bodyOf(t, r), []byte("4.1.")) {
					t.Errorf("%v", r)
				}
			}
		})
	}
	for i := range 50 {
		s.Load(graphs[i%2], data)
	}
	wait.Wait()
}

// No more answers are kept than are to be.
func TestServiceKeepsFew(t *testing.T) {
	s := graph.NewService(&graph.ServiceOptions{Answers: 2})
	d, found := graph.ReadData(fstest.MapFS{
		"channels/a.yaml": {Data: []byte("name: a\nversions: [4.1.0]\n")}, "channels/b.yaml": {Data: []byte("name: b\nversions: [4.1.0]\n")}, "channels/c.yaml": {Data: []byte("name: c\nversions: [4.1.0]\n")},
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	s.Load(served(t, "4.1.1"), d)
	for _, channel := range []string{"a", "b", "a", "c", "a", "b"} { // c takes the place of b
		ask(s, "GET", "channel="+channel)
	}
	if m := s.Metrics(); m.Made != 4 || m.Kept != 2 {
		t.Errorf("%+v", m)
	}
}

// Nothing is assembled for what nobody knows: all get one empty answer, and what is cached stays.
func TestServiceUnknown(t *testing.T) {
	s := graph.NewService(nil)
	s.Load(served(t, "4.1.1"), channels(t))
	ask(s, "GET", "channel=stable-4.1")
	for i := range 1000 {
		query := fmt.Sprintf("channel=stable-%d", i)
		if i%2 == 0 {
			query = fmt.Sprintf("channel=stable-4.1&arch=a%d", i)
		}
		if r := ask(s, "GET", query); r.StatusCode != 200 || string(bodyOf(t, r)) != `{"version":1,"nodes":[],"edges":[],"conditionalEdges":[]}` {
			t.Fatalf("%s: %v", query, r)
		}
	}
	ask(s, "GET", "channel=stable-4.1")
	if m := s.Metrics(); m.Made != 2 || m.Kept != 1000 {
		t.Errorf("%+v", m)
	}
}

// The recorded raw graph and graph data, through the service.
func TestServiceOnRecordedData(t *testing.T) {
	dir := filepath.Join(samples.Data(t, "graph"), "cincinnati-fixtures", "20211124.083150")
	text, err := os.ReadFile(filepath.Join(dir, "graph-gb-raw.json"))
	if err != nil {
		t.Skip(err)
	}
	raw, _ := graph.Parse(text, nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
	s := graph.NewService(nil)
	s.Load(raw, data)
	for _, channel := range []string{"stable-4.8", "fast-4.9", "candidate-4.7"} {
		r := ask(s, "GET", "channel="+channel+"&arch=amd64")
		want, err := data.Assemble(raw, &graph.AssembleOptions{Channel: channel, Architecture: "amd64"}).MarshalJSON()
		if err != nil || !bytes.Equal(bodyOf(t, r), want) {
			t.Errorf("%s differs: %v", channel, err)
		}
		if g, found := graph.Parse(want, nil); g == nil || len(g.Releases()) == 0 {
			t.Errorf("%s: %v", channel, found)
		}
	}
}

// The recorded answers of the update service come out again, as they were
// recorded, of one raw graph in which the releases of all architectures are.
func TestServiceAnswersAsRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples.Data(t, "graph"), "answers", "*_v1.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	const blocked = "io.openshift.upgrades.graph.previous.remove_regex"
	raw, recorded, blocks := wire{Version: 1}, map[string]wire{}, fstest.MapFS{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		part := strings.Split(filepath.Base(file), "_") // commit, channel, architecture, v1.json
		var one wire
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		recorded["channel="+part[1]+"&arch="+part[2]] = one
		first, build := len(raw.Nodes), "+"+part[2]
		for _, n := range one.Nodes {
			n.Metadata = maps.Clone(n.Metadata)
			n.Metadata["io.openshift.upgrades.graph.release.arch"] = part[2]
			if from := n.Metadata[blocked]; from != "" {
				one.blockedEdges(blocks, n.Version, from)
				delete(n.Metadata, blocked) // the data puts it there
			}
			n.Version += build
			raw.Nodes = append(raw.Nodes, n)
		}
		for _, e := range one.Edges {
			raw.Edges = append(raw.Edges, [2]int{first + e[0], first + e[1]})
		}
		for _, c := range one.Conditional {
			for _, e := range c.Edges {
				raw.Edges = append(raw.Edges, [2]int{first + one.node(e.From), first + one.node(e.To)})
			}
		}
	}
	data, said := graph.ReadData(blocks)
	if len(said) > 0 {
		t.Fatal(said)
	}
	text, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	g, found := graph.Parse(text, nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	s := graph.NewService(nil)
	s.Load(g, data)
	edges, conditional := 0, 0
	for query, want := range recorded {
		var got wire
		if err := json.Unmarshal(bodyOf(t, ask(s, "GET", query)), &got); err != nil {
			t.Fatal(err)
		}
		if a, b := got.facts(), want.facts(); !slices.Equal(a, b) {
			t.Errorf("%s: %d facts are not the %d that were recorded", query, len(a), len(b))
		}
		edges, conditional = edges+len(got.Edges), conditional+len(got.Conditional)
	}
	if edges < 6000 || conditional < 4 {
		t.Errorf("only %d edges and %d groups of conditional ones", edges, conditional)
	}
}

// wire is an answer as it is sent.
type wire struct {
	Version int `json:"version"`
	Nodes   []struct {
		Version  string            `json:"version"`
		Payload  string            `json:"payload"`
		Metadata map[string]string `json:"metadata"`
	} `json:"nodes"`
	Edges       [][2]int    `json:"edges"`
	Conditional []wireGroup `json:"conditionalEdges"`
}

// wireGroup are conditional edges with the same risks.
type wireGroup struct {
	Edges []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"edges"`
	Risks []map[string]any `json:"risks"`
}

// node returns the place of a release.
func (w *wire) node(version string) int {
	for i, n := range w.Nodes {
		if n.Version == version {
			return i
		}
	}
	return -1
}

// blockedEdges writes the graph data from which an answer has its blocked and
// conditional edges to a release: a file for each expression that it names.
func (w *wire) blockedEdges(files fstest.MapFS, to, from string) {
	type file struct {
		To    string `json:"to"`
		From  string `json:"from"`
		URL   any    `json:"url,omitempty"`
		Name  any    `json:"name,omitempty"`
		What  any    `json:"message,omitempty"`
		Rules any    `json:"matchingRules,omitempty"`
	}
	put := func(name string, f file) {
		text, _ := json.Marshal(f)
		files["blocked-edges/"+to+"-"+name+".yaml"] = &fstest.MapFile{Data: text}
	}
	risky := false
	for _, c := range w.Conditional {
		if c.Edges[0].To != to {
			continue
		}
		for _, r := range c.Risks {
			f := file{To: to, From: ".*", URL: r["url"], Name: r["name"], What: r["message"], Rules: r["matchingRules"]}
			if !slices.ContainsFunc(w.Conditional, func(other wireGroup) bool {
				return other.Edges[0].To == to && strings.HasPrefix(other.Edges[0].From, "4.7") && slices.ContainsFunc(other.Risks, func(x map[string]any) bool { return x["name"] == r["name"] })
			}) {
				f.From = `4\.6\..*`
			}
			put(fmt.Sprint(r["name"]), f)
			risky = true
		}
	}
	if !risky {
		put("all", file{To: to, From: from})
	}
}

// facts are what an answer says, each as a line, sorted.
func (w *wire) facts() []string {
	var out []string
	for _, n := range w.Nodes {
		meta, _ := json.Marshal(n.Metadata) // with sorted keys
		out = append(out, "node "+n.Version+" "+n.Payload+" "+string(meta))
	}
	for _, e := range w.Edges {
		out = append(out, "edge "+w.Nodes[e[0]].Version+" "+w.Nodes[e[1]].Version)
	}
	for _, c := range w.Conditional {
		risks, _ := json.Marshal(c.Risks)
		for _, e := range c.Edges {
			out = append(out, "conditional "+e.From+" "+e.To+" "+string(risks))
		}
	}
	slices.Sort(out)
	return out
}

// sink is a ResponseWriter that keeps nothing.
type sink struct {
	header http.Header
	n      int
}

// Header implements http.ResponseWriter.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *sink) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (s *sink) Write(b []byte) (int, error) { s.n += len(b); return len(b), nil }

// BenchmarkService is one request on the largest graph: who has the answer, a
// compressed one, a plain one, and one that is made.
func BenchmarkService(b *testing.B) {
	raw, _ := graph.Parse(largest(b), nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(samples.Data(b, "graph"), "cincinnati-fixtures", "20211124.083150", "cincinnati-graph-data")))
	for _, c := range []struct {
		name   string
		header []string
	}{{"not modified", []string{"If-None-Match", "*"}}, {"compressed", []string{"Accept-Encoding", "gzip"}}, {"plain", nil}} {
		b.Run(c.name, func(b *testing.B) {
			s := graph.NewService(nil)
			s.Load(raw, data)
			r := httptest.NewRequest("GET", "/graph?channel=stable-4.8&arch=amd64", nil)
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			w := &sink{header: http.Header{}}
			s.ServeHTTP(w, r)
			b.SetBytes(int64(w.n))
			b.ReportAllocs()
			for b.Loop() {
				s.ServeHTTP(w, r)
			}
		})
	}
	b.Run("made", func(b *testing.B) {
		b.ReportAllocs()
		s := graph.NewService(nil)
		r := httptest.NewRequest("GET", "/graph?channel=stable-4.8&arch=amd64", nil)
		for b.Loop() {
			s.Load(raw, data)
			s.ServeHTTP(&sink{header: http.Header{}}, r)
		}
	})
}
