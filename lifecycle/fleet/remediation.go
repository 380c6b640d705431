package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// The annotations of machines, with any value, that health checks of the Cluster
// API honour.
const (
	SkipRemediationAnnotation = "cluster.x-k8s.io/skip-remediation"  // the check ignores the machine
	RemediateAnnotation       = "cluster.x-k8s.io/remediate-machine" // it counts as unhealthy, and goes first
)

// skipped says why a check ignores a machine; empty if it does not.
func skipped(m *lifecycle.Machine) string {
	for _, key := range [...]string{PausedAnnotation, SkipRemediationAnnotation} {
		if _, is := m.Annotations[key]; is {
			return "it has annotation " + key
		}
	}
	return ""
}

// unhealthyRange reads a range such as "[3-5]": the least and the greatest number
// of unhealthy machines with which any of them is replaced.
func unhealthyRange(text string) (least, most int, err error) {
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	low, high, two := strings.Cut(inner, "-")
	from, err1 := strconv.ParseUint(low, 10, 31)
	to, err2 := strconv.ParseUint(high, 10, 31)
	switch {
	case !opened || !closed || !two || err1 != nil || err2 != nil:
		return 0, 0, fmt.Errorf("%q is not a range; write two numbers as in \"[3-5]\"", text)
	case to < from:
		return 0, 0, fmt.Errorf("%q ends before it begins; write the smaller number first", text)
	}
	return int(from), int(to), nil
}

// ahead orders machines for their remediation: those that somebody has marked, then
// the newest, which probably run nothing yet; ties by name.
func ahead(a, b Target) int {
	marked := func(t Target) int {
		if _, is := t.Machine.Annotations[RemediateAnnotation]; is {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(marked(a), marked(b)), b.Machine.CreationTimestamp.Compare(a.Machine.CreationTimestamp), byName(a.Machine, b.Machine))
}

// limit limits the machines that are replaced at a time to MaxInFlight: those that
// are unhealthy and being deleted count. It returns those that may be replaced now.
func (h *HealthCheck) limit(r *HealthReport, sick []Target) []Target {
	if h.Spec.MaxInFlight == nil {
		return sick
	}
	most, err := h.Spec.MaxInFlight.Scale(r.Total, true)
	if err != nil {
		return nil // reported by Check
	}
	var going []string
	for _, v := range r.Targets {
		if v.Unhealthy && v.Deleting {
			going = append(going, v.Machine)
		}
	}
	slices.SortFunc(sick, ahead)
	now := sick[:min(len(sick), max(0, most-len(going)))]
	if later := sick[len(now):]; len(later) > 0 {
		var names []string
		for _, t := range later {
			names = append(names, t.Machine.ObjectMeta.String())
		}
		message := fmt.Sprintf("at most %d may be replaced at a time", most)
		if len(going) > 0 {
			message += ", and these are being replaced: " + words.First(going, listed)
		}
		b := fairlead.Block{
			Subject: "health check " + h.ObjectMeta.String(), Reason: "RemediationDeferred", Message: message + "; waiting: " + words.First(names, listed),
			Unblock: "wait until a machine that is being replaced is gone, or raise maxInFlight",
		}
		if len(going) > 0 {
			b.Owner = "machine " + going[0]
		}
		r.Blocked = append(r.Blocked, b)
	}
	return now
}
