package rollout

import (
	"regexp"
	"strings"
)

// NodeReport is what the message of a pool's condition says of one of its nodes.
type NodeReport struct {
	Node    string // its name
	Message string // what it reports, as it is there
}

// nodeReport begins what a node reports (openshift/machine-config-operator pkg/controller/node/status.go).
var nodeReport = regexp.MustCompile(`(?i)node ([a-z0-9][-.a-z0-9]*) is reporting: `)

// NodeReports returns what the message of a pool's condition says of its nodes, in its order; nil if it
// names none.
func NodeReports(message string) (all []NodeReport) {
	parts := nodeReport.FindAllStringSubmatchIndex(message, -1)
	for i, at := range parts {
		end := len(message)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		all = append(all, NodeReport{message[at[2]:at[3]], strings.Trim(message[at[1]:end], "\", ")})
	}
	return all
}
