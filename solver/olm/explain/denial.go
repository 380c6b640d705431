package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
)

// denial is what an API server forbids.
type denial struct {
	user, verb, resource, group, namespace string
	who                                    string // the user in words
}

var denied = regexp.MustCompile(`User "([^"]+)" cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: at the cluster scope| in the namespace "([^"]+)")`)

// readDenial reads the words of Kubernetes' authorizer.
func readDenial(message string) (denial, bool) {
	m := denied.FindStringSubmatch(message)
	if m == nil {
		return denial{}, false
	}
	d := denial{user: m[1], verb: m[2], resource: m[3], group: m[4], namespace: m[5], who: "user " + m[1]}
	if account, ok := strings.CutPrefix(d.user, "system:serviceaccount:"); ok {
		d.who = "service account " + strings.Replace(account, ":", "/", 1)
	}
	return d, true
}

// name is the resource with its group.
func (d *denial) name() string {
	if d.group == "" {
		return d.resource
	}
	return d.resource + "." + d.group
}

func (d *denial) what() string {
	return fmt.Sprintf("%s %s %s", d.verb, d.name(), cmp.Or(after("in namespace ", d.namespace), "in the whole cluster"))
}

// command shows whether the permission is there.
func (d *denial) command() string {
	if d.namespace == "" {
		return shell.Command("kubectl auth can-i %s %s --as=%s", d.verb, d.name(), d.user)
	}
	return shell.Command("kubectl auth can-i %s %s -n %s --as=%s", d.verb, d.name(), d.namespace, d.user)
}
