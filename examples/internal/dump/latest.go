package dump

import (
	"regexp"
	"time"
)

// served finds the times at which a server or a node wrote something.
var served = regexp.MustCompile(`"(?:lastHeartbeatTime|lastTransitionTime|lastUpdateTime|renewTime|acquireTime|lastTimestamp|eventTime|creationTimestamp|startTime|startedAt|time)"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"`)

// Latest returns the latest time in an object at which something was written, such as the
// heartbeat of a node, the renewal of a lease, or an event; zero if there is none.
func Latest(object []byte) (last time.Time) {
	for _, m := range served.FindAllSubmatch(object, -1) {
		if at, err := time.Parse(time.RFC3339, string(m[1])); err == nil && at.After(last) {
			last = at
		}
	}
	return last
}
