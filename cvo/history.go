package cvo

import (
	"time"

	"github.com/fairlead/fairlead/internal/semverx"
)

// maxHistory is how many entries are kept.
const maxHistory = 100

// Record returns a history that has the release at its head: that of the head is
// completed by what it lacks if it is the same release, and another one is put
// before it. done says that all of the release has been applied. A release
// without an image is not recorded. The argument is not changed.
//
// Two releases are the same when their images are and neither the versions
// contradict, or when their versions are the same and one of the images is not
// known. What is completed stays completed.
func Record(history []History, r Release, verified bool, risks string, done bool, now time.Time) []History {
	if r.Image == "" {
		return history
	}
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
	return h.Version == r.Version && (h.Image == "" || r.Image == "")
}

// Prune returns a history of at most max entries. The least important one goes
// first: never the oldest, the five newest, or the newest that was completed;
// rather one that is no first or last of its minor version; rather one that was
// not completed between two patches of a minor version than one between two
// minor versions; of equally important ones the oldest.
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
	if i == len(history)-1 || i < 5 || i == newestCompleted(history) {
		w += 1000
	}
	switch history[i].State {
	case Completed:
		if firstOfMinor(history, i) || lastOfMinor(history, i) {
			w += 30
		}
	case Partial:
		switch newer, older := completedBefore(history, i), completedAfter(history, i); {
		case newer < 0 || older < 0:
		case minorOf(history[newer]) != minorOf(history[older]):
			w += 20
		case history[newer].Version != history[older].Version:
			w -= 20
		}
	}
	return w
}

func newestCompleted(history []History) int { return completedAfter(history, -1) }

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

func firstOfMinor(history []History, i int) bool {
	older := completedAfter(history, i)
	return older < 0 || minorOf(history[older]) != minorOf(history[i])
}

func lastOfMinor(history []History, i int) bool {
	newer := completedBefore(history, i)
	return newer < 0 || minorOf(history[newer]) != minorOf(history[i])
}

// minorOf returns the major and minor version of an entry; zero if it has none.
func minorOf(h History) [2]uint64 {
	v, err := semverx.Parse(h.Version)
	if err != nil {
		return [2]uint64{}
	}
	return [2]uint64{v.Major(), v.Minor()}
}
