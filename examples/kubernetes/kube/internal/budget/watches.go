package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mostPast is how many changes of a kind are kept for watches that begin again.
const mostPast = 200

// change is what a watch reports.
type change struct {
	revision int
	old, new *unstructured.Unstructured // old is nil for a new object
	gone     bool                       // new is the last state
	at       time.Time                  // when it happened
}

// send reports to the watches what became of an object; old is nil if it is new.
func (k *kind) send(old, next *unstructured.Unstructured) { k.report(change{old: old, new: next}) }

// sendGone reports the end of an object.
func (k *kind) sendGone(old, last *unstructured.Unstructured) {
	k.report(change{old: old, new: last, gone: true})
}

func (k *kind) report(c change) {
	c.at = time.Now()
	c.revision, _ = strconv.Atoi(c.new.GetResourceVersion())
	k.history = append(slices.Delete(k.history, 0, max(0, len(k.history)-mostPast)), c)
	for _, w := range k.watchers {
		select {
		case w <- c:
		default:
		}
	}
}

// text returns the event for a watch of some objects, or nil.
func (c *change) text(wanted func(*unstructured.Unstructured) bool, metadata bool) []byte {
	before, after := c.old != nil && wanted(c.old), !c.gone && wanted(c.new)
	event := "MODIFIED"
	switch {
	case !before && !after:
		return nil
	case !before:
		event = "ADDED"
	case !after:
		event = "DELETED"
	}
	data, _ := json.Marshal(map[string]any{"type": event, "object": shown(c.new, metadata)})
	return append(data, '\n')
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind) {
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	_, namespace, _, _ := s.find(r.URL.Path)
	wanted, metadata := selected(r, namespace), asMetadata(r)
	c := make(chan change, 10_000)
	s.mu.Lock()
	for _, p := range k.history {
		if p.revision > since {
			c <- p
		}
	}
	k.watchers = append(k.watchers, c)
	s.mu.Unlock()
	f := w.(http.Flusher)
	f.Flush()
	var over <-chan time.Time
	after, expired := s.faulty.ends(k.gvk.Kind)
	if after > 0 {
		over = time.After(after)
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-over:
			if expired {
				fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
			}
			return
		case event := <-c:
			data := event.text(wanted, metadata)
			if data == nil {
				continue
			}
			time.Sleep(s.faulty.lag(event.at))
			if _, err := w.Write(data); err != nil {
				return
			}
			f.Flush()
		}
	}
}
