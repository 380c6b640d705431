package cvo

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// maxHistory is how many entries are kept.
const maxHistory = 100

// Record returns a history with the release at its head: if the head is the same release,
// missing data is filled in; otherwise a new entry is put before it. done says that the
// release was applied completely. A release without an image is not recorded. The
// argument is not changed.
//
// The release is that of the head if the images are the same and the versions do not
// contradict, or if the versions are the same and the image of the head is unknown. A
// completed entry stays completed. Times are whole seconds.
func Record(history []History, r Release, verified bool, risks string, done bool, now time.Time) []History {
	if r.Image == "" {
		return history
	}
	now = stamp(now)
	out := append([]History(nil), history...)
	if len(out) > 0 && sameRelease(out[0], r) {
		head := &out[0]
		if head.Version == "" {
			head.Version = r.Version
		}
		if head.Image == "" {
			head.Image = r.Image
		}
	} else {
		if len(out) > 0 && out[0].CompletionTime == nil {
			out[0].CompletionTime = &now
		}
		out = append([]History{{State: Partial, StartedTime: now, Version: r.Version, Image: r.Image}}, out...)
	}
	head := &out[0]
	head.Verified = head.Verified || verified
	if risks != "" {
		head.AcceptedRisks = risks
	}
	if done && head.State != Completed {
		head.State, head.CompletionTime = Completed, &now
	}
	return Prune(out, maxHistory)
}

func sameRelease(h History, r Release) bool {
	if h.Image == r.Image {
		return h.Version == r.Version || h.Version == "" || r.Version == ""
	}
	return h.Version == r.Version && h.Image == ""
}

// Prune returns a history of at most max entries. It removes the least important entries
// first. It never removes the oldest, the five newest, or the newest completed entry. It
// prefers to remove entries that are neither the first nor the last of their minor
// version; then, entries that were not completed and lie between two patches of a minor
// version rather than between two minor versions; of equally important entries, the
// oldest.
func Prune(history []History, max int) []History {
	for len(history) > max {
		least, at := 0.0, -1
		for i := range history {
			if w := weight(history, i); at < 0 || w < least {
				least, at = w, i
			}
		}
		history = append(history[:at:at], history[at+1:]...)
	}
	return history
}

// weight says how important an entry is.
func weight(history []History, i int) float64 {
	w := -1.01 * float64(i)
	switch {
	case kept(history, i):
		w += 1000
	case edgeOfMinor(history, i):
		w += 30
	case betweenMinors(history, i):
		w += 20
	case betweenPatches(history, i):
		w -= 20
	}
	return w
}

// kept reports whether an entry is never removed.
func kept(history []History, i int) bool {
	return i == len(history)-1 || i < 5 || i == newestCompleted(history)
}

// edgeOfMinor reports whether an entry is the first or last completed one of its
// minor version.
func edgeOfMinor(history []History, i int) bool {
	if history[i].State != Completed {
		return false
	}
	newer, older := completedBefore(history, i), completedAfter(history, i)
	return newer < 0 || older < 0 || minorOf(history[newer]) != minorOf(history[i]) || minorOf(history[older]) != minorOf(history[i])
}

// betweenMinors reports whether an entry that was not completed lies between
// completed ones of two minor versions.
func betweenMinors(history []History, i int) bool {
	newer, older := completedBefore(history, i), completedAfter(history, i)
	return history[i].State == Partial && newer >= 0 && older >= 0 && minorOf(history[newer]) != minorOf(history[older])
}

// betweenPatches reports whether an entry that was not completed lies between
// completed ones of two versions with the same minor version.
func betweenPatches(history []History, i int) bool {
	newer, older := completedBefore(history, i), completedAfter(history, i)
	return history[i].State == Partial && newer >= 0 && older >= 0 &&
		minorOf(history[newer]) == minorOf(history[older]) && history[newer].Version != history[older].Version
}

func newestCompleted(history []History) int { return completedAfter(history, -1) }

// Runs returns the version that a cluster runs: the one that it completed last, or what its status
// names if it has completed none.
func (cv *ClusterVersion) Runs() string {
	if i := newestCompleted(cv.Status.History); i >= 0 {
		return cv.Status.History[i].Version
	}
	return cv.Status.Desired.Version
}

// UnderWay returns the entry of the history for what the cluster is being moved to, or is being installed
// with; nil if its last move is complete, or it has no history. It points into cv, which may be nil.
func (cv *ClusterVersion) UnderWay() *History {
	if cv == nil || len(cv.Status.History) == 0 || cv.Status.History[0].State == Completed {
		return nil
	}
	return &cv.Status.History[0]
}

// Entry returns the entry of the history by which a cluster is at a release, or on its way there; nil if it
// is neither, or another release was requested since. It points into cv, which may be nil.
func (cv *ClusterVersion) Entry(release string) *History {
	if cv == nil || cv.Status.Desired.Version != release || len(cv.Status.History) == 0 || cv.Status.History[0].Version != release {
		return nil
	}
	return &cv.Status.History[0]
}

// Says returns a condition that holds, such as Failing; nil if it does not, or is not reported. It points
// into cv, which may be nil.
func (cv *ClusterVersion) Says(kind string) *Condition {
	if cv == nil {
		return nil
	}
	if c := fairlead.FindCondition(cv.Status.Conditions, kind); c != nil && c.Status == True {
		return c
	}
	return nil
}

// completedAfter returns the next older completed entry, or -1.
func completedAfter(history []History, i int) int {
	for i++; i < len(history); i++ {
		if history[i].State == Completed {
			return i
		}
	}
	return -1
}

// completedBefore returns the next newer completed entry, or -1.
func completedBefore(history []History, i int) int {
	for i--; i >= 0; i-- {
		if history[i].State == Completed {
			return i
		}
	}
	return -1
}

// minorOf returns the major and minor version of an entry, as in 4.18; empty if
// it has none.
func minorOf(h History) string {
	major, rest, ok := strings.Cut(strings.TrimPrefix(h.Version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	if !ok || !number(major) || !number(minor) {
		return ""
	}
	return major + "." + minor
}

func number(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
