package cvo

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// AdminGates are what administrators must acknowledge before the minor version of a cluster
// changes.
type AdminGates struct {
	// Gates is the data of the ConfigMap openshift-config-managed/admin-gates: by
	// name, such as ack-4.18-kube-1.32-api-removals-in-4.19, what administrators must know.
	Gates map[string]string
	// Acks is the data of the ConfigMap openshift-config/admin-acks: "true" for
	// each gate that is acknowledged.
	Acks map[string]string
	// Error says why one of them could not be read; empty if both were.
	Error string
}

// gate is a gate that is not acknowledged.
type gate struct {
	risk, message, url string
}

// gateName matches the name of a gate; the version in it is the one at which the gate must
// be acknowledged.
var gateName = regexp.MustCompile(`^ack-([4-5][.][0-9]{1,})-[^-]`)

// link finds the documentation of a gate.
var link = regexp.MustCompile(`https://\S*`)

// open returns the gates of a version that are not acknowledged, by name. An invalid gate
// cannot be acknowledged.
func (a *AdminGates) open(version string) []gate {
	v, err := semverx.Parse(version)
	if err != nil {
		return []gate{{RiskAdminAck + "Unknown", "it is unknown what must be acknowledged: " + err.Error(), manual}}
	}
	if a.Error != "" {
		return []gate{{RiskAdminAck + "Unknown", "it is unknown what must be acknowledged: " + a.Error, manual}}
	}
	var list []gate
	for _, name := range slices.Sorted(maps.Keys(a.Gates)) {
		if g, open := a.check(name, v); open {
			list = append(list, g)
		}
	}
	return list
}

// Unacknowledged returns the names of the gates of a version that are not acknowledged, in order, and
// whether all of them are known.
func (a *AdminGates) Unacknowledged(version string) (names []string, known bool) {
	if a == nil || a.Error != "" {
		return nil, false
	}
	known = true
	for _, g := range a.open(version) {
		name, is := strings.CutPrefix(g.risk, RiskAdminAck+"-")
		if known = known && is; is {
			names = append(names, name)
		}
	}
	return names, known
}

// check evaluates one gate.
func (a *AdminGates) check(name string, v semverx.Version) (g gate, open bool) {
	text := a.Gates[name]
	g = gate{risk: RiskAdminAck + "-" + name, message: text, url: manual}
	match := gateName.FindStringSubmatch(name)
	if match == nil {
		g.message = fmt.Sprintf("the gate %q of the ConfigMap admin-gates has no name of the form ack-4.18-what", name)
		return g, true
	}
	if of, err := semverx.Parse(match[1] + ".0"); err != nil {
		g.message = fmt.Sprintf("the gate %q of the ConfigMap admin-gates: %v", name, err)
		return g, true
	} else if of.Major() != v.Major() || of.Minor() != v.Minor() {
		return g, false
	}
	if text == "" {
		g.message = fmt.Sprintf("the gate %s of the ConfigMap admin-gates does not say what must be acknowledged", name)
		return g, true
	}
	for _, found := range link.FindAllString(text, -1) {
		if _, err := url.Parse(found); err == nil {
			g.url = found
			break
		}
	}
	return g, a.Acks[name] != "true"
}
