package snapshot

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"
)

// Clock says when a cluster was looked at.
type Clock struct {
	At time.Time `json:"at,omitzero"` // zero if nothing says it
	// Source is where the time is from, as in "lease kube-node-lease/worker-0,
	// spec.renewTime", "the timestamp of the must-gather", "-at" or "the clock of this
	// machine".
	Source string `json:"source,omitempty"`
	// Ahead are the nodes whose clocks are far ahead of all others, by name: their
	// times are not used.
	Ahead []string `json:"ahead,omitempty"`
	// Apart means that every node is younger than what the ClusterVersion and its operators
	// have written: the files are of different times, and At is that of the update.
	Apart bool `json:"apart,omitempty"`
}

// aheadBy is how far the clock of a node must be ahead of all others to be taken as wrong.
const aheadBy = 10 * time.Minute

// written are the fields into which a server writes the present time. Deadlines, such as
// deletionTimestamp, are not among them.
var written = map[string]bool{
	"lastTransitionTime": true, "lastHeartbeatTime": true, "lastUpdateTime": true, "lastProbeTime": true, "renewTime": true, "acquireTime": true,
	"lastTimestamp": true, "firstTimestamp": true, "eventTime": true, "lastObservedTime": true, "time": true, "creationTimestamp": true,
	"startTime": true, "startedAt": true, "finishedAt": true, "completionTime": true, "startedTime": true, "lastUpdated": true,
}

// reading is the latest time that somebody wrote.
type reading struct {
	at     time.Time
	source string
}

// clockReader finds the latest time that a server wrote: one for what the control plane
// writes, and one for each node.
type clockReader struct {
	server reading
	update reading // of the ClusterVersion and the ClusterOperators
	nodes  map[string]reading
	stamp  reading // of the dump itself
}

var year = []byte(`"20`)

// object looks at the fields of an object.
func (c *clockReader) object(text []byte, r *Ref) {
	node := ""
	switch r.Kind {
	case "Node":
		node = r.Name
	case "Lease":
		if r.Namespace == "kube-node-lease" {
			node = r.Name
		}
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], year)
		if i < 0 {
			return
		}
		at += i + 1
		end := bytes.IndexByte(text[at:], '"')
		if end < len("2006-01-02T15:04:05Z") || end > 40 {
			continue
		}
		name := keyBefore(text[:at-1])
		if !written[name] {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, string(text[at:at+end]))
		if err != nil {
			continue
		}
		by := node
		if name != "lastHeartbeatTime" && name != "renewTime" {
			by = ""
			if node != "" && name == "lastTransitionTime" {
				by = node
			}
		}
		c.see(by, t, r, name)
		if (r.Kind == "ClusterVersion" || r.Kind == "ClusterOperator") && t.After(c.update.at) {
			c.update = readingOf(t, r, name)
		}
	}
}

func readingOf(t time.Time, r *Ref, field string) reading {
	return reading{t, strings.ToLower(r.Kind) + " " + key(r.Namespace, r.Name) + ", " + field}
}

// keyBefore returns the key whose value follows a text; "" for an element of a list, and in the
// middle of a string.
func keyBefore(text []byte) string {
	text = bytes.TrimRight(text, " \t\r\n")
	if len(text) == 0 || text[len(text)-1] != ':' {
		return ""
	}
	text = bytes.TrimRight(text[:len(text)-1], " \t\r\n")
	if len(text) < 2 || text[len(text)-1] != '"' || text[len(text)-2] == '\\' {
		return ""
	}
	text = text[:len(text)-1]
	return string(text[bytes.LastIndexByte(text, '"')+1:])
}

func (c *clockReader) see(node string, t time.Time, r *Ref, field string) {
	if node == "" {
		if t.After(c.server.at) {
			c.server = readingOf(t, r, field)
		}
		return
	}
	if t.After(c.nodes[node].at) {
		if c.nodes == nil {
			c.nodes = map[string]reading{}
		}
		c.nodes[node] = readingOf(t, r, field)
	}
}

// clock decides. Nodes that answer have written within minutes of each other, so one that is far
// ahead of at least two others that are ready has a wrong clock.
func (c *clockReader) clock(s *Snapshot) Clock {
	var out Clock
	latest := c.server
	others := func(than string) (last time.Time, count int) {
		for i := range s.Nodes.Items {
			n := &s.Nodes.Items[i]
			ready := n.Condition("Ready")
			if n.Name == than || ready == nil || ready.Status != "True" {
				continue
			}
			if t := c.nodes[n.Name].at; !t.IsZero() {
				count++
				if t.After(last) {
					last = t
				}
			}
		}
		return last, count
	}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		r := c.nodes[name]
		last, count := others(name)
		if count >= 2 && r.at.Sub(last) > aheadBy && r.at.Sub(c.server.at) > aheadBy {
			out.Ahead = append(out.Ahead, name)
			continue
		}
		if r.at.After(latest.at) {
			latest = r
		}
	}
	if c.stamp.at.After(latest.at) {
		latest = c.stamp
	}
	if c.apart(s) {
		latest, out.Apart = c.update, true
	}
	out.At, out.Source = latest.at, latest.source
	return out
}

// apart reports whether the files were written at different times: every node is more than a day
// younger than anything that the update has written. The update's own time is then the one that
// its durations count from.
func (c *clockReader) apart(s *Snapshot) bool {
	if c.update.at.IsZero() || len(s.Nodes.Items) == 0 {
		return false
	}
	for i := range s.Nodes.Items {
		made := s.Nodes.Items[i].CreationTimestamp
		if made.IsZero() || made.Sub(c.update.at) < 24*time.Hour {
			return false
		}
	}
	return true
}

// timestamp reads the file timestamp of a must-gather: when it began and ended, as Go
// prints times or as a date of the shell.
func (c *clockReader) timestamp(text string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " m=")
		for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700 MST", time.RFC3339Nano, time.UnixDate, "2006-01-02 15:04:05"} {
			if t, err := time.Parse(layout, line); err == nil && t.After(c.stamp.at) {
				c.stamp = reading{t.UTC(), "the timestamp of the must-gather"}
			}
		}
	}
}
