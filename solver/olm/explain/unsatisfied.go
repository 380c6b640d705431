package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// What OLM's resolver writes when it finds no solution (resolver.go and
// variable_types.go), and when a catalog does not answer (cache/cache.go).
var (
	noCatalog = regexp.MustCompile(`no operators found from catalog (\S+) in namespace (\S+) referenced by subscription ([^\s,]+)`)
	noPackage = regexp.MustCompile(`no operators found in package (\S+) in the catalog referenced by subscription ([^\s,]+)`)
	noChannel = regexp.MustCompile(`no operators found in channel (\S+) of package (\S+) in the catalog referenced by subscription ([^\s,]+)`)
	noVersion = regexp.MustCompile(`no operators found with name (\S+) in channel (\S+) of package (\S+) in the catalog referenced by subscription ([^\s,]+)`)
	orphan    = regexp.MustCompile(`clusterserviceversion (\S+) exists and is not referenced by a subscription`)
	needs     = regexp.MustCompile(`bundle (\S+) requires an operator (providing an API with group: (\S+), version: (\S+), kind: ([^\s,]+)|with package: (\S+) and with version in range: ([^,]+))`)
	onePkg    = regexp.MustCompile(`originate from package ([^\s,]+)`)
	oneAPI    = regexp.MustCompile(`provide (\S+ \([^)]+\))`)
	asks      = regexp.MustCompile(`subscription (\S+) requires (?:at least one of )?([^\s,]+)`)
	unread    = regexp.MustCompile(`(?:resolver cache from source ([^\s/]+)/([^\s:]+)|using catalog (\S+) \(in namespace ([^)]+)\)): (.*)`)
)

// unsatisfied reads why OLM's resolver found no solution. Often that is the fault of
// one subscription, which stops all others of its namespace.
func (c *Cluster) unsatisfied(sub *resource.Subscription, message string) cause {
	for _, read := range []func(*resource.Subscription, string) (cause, bool){c.absent, c.orphaned, c.unprovided, c.twice} {
		if what, ok := read(sub, message); ok {
			return what
		}
	}
	return cause{unblock: "change what conflicts: one subscription that cannot be served stops all of its namespace",
		commands: []string{shell.Command("kubectl get subscriptions.operators.coreos.com,csv -n %s", sub.Namespace)}}
}

// absent is a subscription for something that its catalog does not have.
func (c *Cluster) absent(sub *resource.Subscription, message string) (cause, bool) {
	var name, text string
	var commands []string
	var changes []Change
	if m := noCatalog.FindStringSubmatch(message); m != nil {
		name, text = m[3], fmt.Sprintf("catalog source %s/%s has no operators: correct spec.source of the subscription, or see whether the catalog answers", m[2], m[1])
		commands = []string{shell.Command("kubectl get catalogsources -n %s -o wide", m[2])}
	} else if m := noVersion.FindStringSubmatch(message); m != nil {
		name, text = m[4], fmt.Sprintf("channel %s of package %s has no %s: remove spec.startingCSV of the subscription, or correct it", m[2], m[3], m[1])
		changes = []Change{{Kind: KindSubscription, Namespace: sub.Namespace, Name: name, Patch: map[string]any{"spec": map[string]any{"startingCSV": nil}}}}
	} else if m := noChannel.FindStringSubmatch(message); m != nil {
		name = m[3]
		text, commands, changes = c.noSuchChannel(sub.Namespace, name, m[2], m[1])
	} else if m := noPackage.FindStringSubmatch(message); m != nil {
		name, text = m[2], fmt.Sprintf("its catalog has no package %s: correct spec.name or spec.source of the subscription", m[1])
		commands = []string{c.listPackages(sub.Namespace, name)}
		if s := c.sub(sub.Namespace, name); s != nil && channelLike(m[1]) && !channelLike(s.Spec.Channel) && s.Spec.Channel != "" {
			text = fmt.Sprintf("package %s and channel %s of the subscription look swapped: swap spec.name and spec.channel", m[1], s.Spec.Channel)
			commands = []string{patchSub(sub.Namespace, name, map[string]any{"name": s.Spec.Channel, "channel": m[1]})}
		}
	} else {
		return cause{}, false
	}
	if c.sub(sub.Namespace, name) == nil {
		return cause{}, false // it is gone since, or the message does not mean what it says
	}
	what := cause{owner: "whoever owns subscription " + sub.Namespace + "/" + name, unblock: text, commands: commands, changes: changes}
	what.about = &Object{Kind: KindSubscription, Namespace: sub.Namespace, Name: name}
	if name != sub.Name {
		what.unblock = fmt.Sprintf("subscription %s, which stops all others of the namespace: %s; or delete it", name, text)
		if len(changes) > 0 {
			return what, true
		}
		what.commands = append(what.commands, shell.Command("kubectl delete subscriptions.operators.coreos.com -n %s %s", sub.Namespace, name))
	}
	return what, true
}

func patchSub(namespace, name string, spec map[string]any) string {
	return shell.Command("kubectl patch subscriptions.operators.coreos.com -n %s %s --type merge -p %s", namespace, name, shell.JSON(map[string]any{"spec": spec}))
}

// listPackages lists the packages of a subscription's catalog.
func (c *Cluster) listPackages(namespace, subscription string) string {
	if s := c.sub(namespace, subscription); s != nil && s.Spec.Source != "" {
		return shell.Command("kubectl get packagemanifests -n %s -l %s", namespace, "catalog="+s.Spec.Source)
	}
	return shell.Command("kubectl get packagemanifests -n %s", namespace)
}

// listChannels lists the channels of a package in a subscription's catalog.
func (c *Cluster) listChannels(namespace, subscription, pkg string) string {
	path := `jsonpath={range .items[?(@.metadata.name=="` + pkg + `")].status.channels[*]}{.name}{"\n"}{end}`
	if s := c.sub(namespace, subscription); s != nil && s.Spec.Source != "" {
		return shell.Command("kubectl get packagemanifests -n %s -l %s -o %s", namespace, "catalog="+s.Spec.Source, path)
	}
	return shell.Command("kubectl get packagemanifests -n %s -o %s", namespace, path)
}

// channelLike reports whether a name is one that channels have and packages have
// not.
func channelLike(name string) bool {
	stem, _, _ := strings.Cut(name, "-")
	return slices.Contains([]string{"stable", "fast", "alpha", "beta", "candidate", "preview", "latest", "release", "dev", "nightly"}, stem) || channelVersion.MatchString(name)
}

var channelVersion = regexp.MustCompile(`^v?[0-9]+(\.[0-9x]+)*$`)

func (c *Cluster) sub(namespace, name string) *resource.Subscription {
	for i := range c.Subscriptions {
		if s := &c.Subscriptions[i]; s.Namespace == namespace && s.Name == name {
			return s
		}
	}
	return nil
}

// orphaned is a CSV that no subscription names: OLM never gives it to one.
func (c *Cluster) orphaned(sub *resource.Subscription, message string) (cause, bool) {
	m := orphan.FindStringSubmatch(message)
	if m == nil {
		return cause{}, false
	}
	if csv := c.csv(sub.Namespace, m[1]); csv == nil && c.known(KindCSV, sub.Namespace) || csv != nil && c.owner(csv) != nil {
		return cause{}, false // the message is older than what is there
	}
	return cause{owner: "whoever owns CSV " + sub.Namespace + "/" + m[1],
		unblock: fmt.Sprintf("delete CSV %s, which no subscription names and none takes over: OLM then installs the operator again; it does not run meanwhile, and its CRDs and custom resources stay", m[1]),
		changes: []Change{{Kind: KindCSV, Namespace: sub.Namespace, Name: m[1]}}}, true
}

// unprovided is something that an operator requires and nobody provides.
func (c *Cluster) unprovided(sub *resource.Subscription, message string) (cause, bool) {
	m := needs.FindStringSubmatch(message)
	if m == nil {
		return cause{}, false
	}
	what := fmt.Sprintf("package %s in version range %s", m[6], m[7])
	if m[5] != "" {
		what = fmt.Sprintf("API %s (%s/%s)", m[5], m[3], m[4])
	}
	return cause{owner: "whoever owns the catalogs", unblock: fmt.Sprintf("%s requires %s, which no catalog that the namespace sees provides, or only what conflicts: add a catalog that does, or choose another version", m[1], what),
		commands: []string{shell.Command("kubectl get catalogsources -A -o wide")}}, true
}

// twice are two operators of which a namespace can have one.
func (c *Cluster) twice(sub *resource.Subscription, message string) (cause, bool) {
	what := ""
	if m := onePkg.FindStringSubmatch(message); m != nil {
		what = "package " + m[1]
	} else if m := oneAPI.FindStringSubmatch(message); m != nil {
		what = "API " + m[1]
	}
	var who []string
	for _, m := range asks.FindAllStringSubmatch(message, -1) {
		if !slices.Contains(who, m[1]) && c.sub(sub.Namespace, m[1]) != nil {
			who = append(who, m[1])
		}
	}
	if what == "" || len(who) < 2 {
		return cause{}, false
	}
	slices.Sort(who)
	drop := who[len(who)-1]
	for _, name := range slices.Backward(who) {
		if s := c.sub(sub.Namespace, name); s != nil && s.Status.InstalledCSV == "" {
			drop = name
			break
		}
	}
	return cause{owner: "whoever owns the subscriptions of namespace " + sub.Namespace,
		unblock: fmt.Sprintf("subscriptions %s bring the same %s, of which a namespace has one: delete one of them", strings.Join(who, ", "), what),
		changes: []Change{{Kind: KindSubscription, Namespace: sub.Namespace, Name: drop}}}, true
}

// unreachable reads which catalog kept OLM from resolving.
func (c *Cluster) unreachable(message string) cause {
	m := unread.FindStringSubmatch(message)
	if m == nil {
		return cause{unblock: "remove the cause: OLM tries again; one catalog that does not answer is enough", commands: []string{shell.Command("kubectl get catalogsources -A -o wide")}}
	}
	key := resource.SourceKey{Name: m[1] + m[3], Namespace: m[2] + m[4]}
	what := cause{owner: "whoever owns catalog source " + key.String()}
	if c.catalog(key) == nil && c.known(KindCatalogSource, key.Namespace) {
		what.unblock = fmt.Sprintf("catalog source %s does not exist any more, and OLM still asks it: restart the catalog operator", key)
		what.commands = []string{c.restart()}
		return what
	}
	what.unblock = fmt.Sprintf("see why the pod of catalog source %s does not answer", key)
	if strings.Contains(m[5], "timeout") || strings.Contains(m[5], "no such host") || strings.Contains(m[5], "deadline exceeded") {
		what.unblock += "; if it is ready, the network keeps OLM from it (network policy, DNS, a proxy without .svc in NO_PROXY)"
	}
	what.commands = []string{shell.Command("kubectl get pods,services -n %s -l %s -o wide", key.Namespace, "olm.catalogSource="+key.Name)}
	return what
}

// restart is the command that restarts the catalog operator.
func (c *Cluster) restart() string {
	if c.OpenShift {
		return shell.Command("kubectl delete pods -n openshift-operator-lifecycle-manager -l app=catalog-operator")
	}
	return shell.Command("kubectl delete pods -A -l app=catalog-operator")
}

// resolutionFailed is the wait for a resolution that failed in the cluster.
func (c *Cluster) resolutionFailed(sub *resource.Subscription, failed *fairlead.Condition, reason string) Wait {
	w := Wait{Block: fairlead.Block{Reason: reason, Message: "OLM cannot resolve the namespace: " + clause(strings.TrimPrefix(failed.Message, "constraints not satisfiable: ")), Since: failed.LastTransitionTime}}
	what := c.unsatisfied(sub, failed.Message)
	if failed.Reason == "ErrorPreventedResolution" {
		what = c.unreachable(failed.Message)
	}
	w.Owner, w.Unblock, w.Commands = what.owner, what.unblock, what.commands
	w.does(what.changes...)
	w.About = what.about
	if w.Owner == "" {
		w.Owner = "whoever owns the subscriptions of namespace " + sub.Namespace
	}
	return w
}
