package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// cause is what a message of OLM means: who can act, what helps, and with which
// commands. What is empty is not known.
type cause struct {
	reason, owner, unblock string
	commands               []string
	about                  *Object  // the object to change, if another one than what waits
	changes                []Change // what the commands change, if that helps for certain
}

// What OLM writes when a step of a plan fails (catalog/step.go, catalog/operator.go,
// lib/crd/storage.go), and what an API server answers.
var (
	planLoss       = regexp.MustCompile(`risk of data loss updating "?([^":]+)"?: .*removes version (\S+) that is listed as a stored version`)
	planStrict     = regexp.MustCompile(`existing CRs against new CRD's schema for "?([^":]+)"?: .*Kind=(\S+) "([^"]*)": updated validation is too restrictive: (.*)`)
	planConversion = regexp.MustCompile(`conversion webhook for [^,]+, Kind=(\S+) failed: .*https://([^./]+)\.([^./]+)\.svc`)
	planResource   = regexp.MustCompile(`GroupVersionResource\{Group:"([^"]+)", Version:"[^"]*", Resource:"([^"]+)"\}`)
	planSchema     = regexp.MustCompile(`new CRD's schema for "([^"]+)"`)
	planWebhook    = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	planDenied     = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	planNoAPI      = regexp.MustCompile(`resource not found installing (\S+) (\S+): GroupVersionKind (\S+?)/(\S+), Kind=(\S+) not found`)
	planQuota      = regexp.MustCompile(`exceeded quota: ([^,]+),`)
	planOwners     = regexp.MustCompile(`pre-existing CRD owners found for owned CRD\(s\) of dependent CSV (\S+)`)
)

// planCause reads why a plan failed.
func (c *Cluster) planCause(message string) cause {
	if d, ok := readDenial(message); ok {
		return cause{reason: ReasonPermission, commands: []string{d.command()},
			unblock: fmt.Sprintf("allow %s to %s, or remove spec.serviceAccountName from the operator group", d.who, d.what())}
	}
	if m := planLoss.FindStringSubmatch(message); m != nil {
		return c.dataLoss(m[1], m[2])
	}
	if m := planStrict.FindStringSubmatch(message); m != nil {
		namespace, name, ok := strings.Cut(m[3], "/")
		if !ok {
			namespace, name = "", m[3]
		}
		edit := shell.Command("kubectl edit %s %s", m[1], name)
		if namespace != "" {
			edit = shell.Command("kubectl edit %s -n %s %s", m[1], namespace, name)
		}
		return cause{owner: "whoever owns " + m[2] + " " + strings.TrimPrefix(m[3], "/"), commands: []string{edit},
			unblock: fmt.Sprintf("change %s %s so that the new schema of %s accepts it (%s)", m[2], strings.TrimPrefix(m[3], "/"), m[1], strings.TrimSuffix(strings.TrimPrefix(m[4], "[]."), "."))}
	}
	if m := planConversion.FindStringSubmatch(message); m != nil {
		return conversionCause(message, m)
	}
	return refusalCause(message)
}

// conversionCause is a CRD that is converted by a webhook that does not answer.
func conversionCause(message string, m []string) cause {
	name := ""
	if s := planSchema.FindStringSubmatch(message); s != nil {
		name = s[1]
	} else if r := planResource.FindStringSubmatch(message); r != nil {
		name = r[2] + "." + r[1]
	}
	what := cause{owner: "whoever owns service " + m[3] + "/" + m[2],
		unblock:  fmt.Sprintf("objects of kind %s are converted by service %s/%s, which does not answer: bring it up", m[1], m[3], m[2]),
		commands: []string{shell.Command("kubectl get service,endpoints -n %s --ignore-not-found %s", m[3], m[2])}}
	if name != "" {
		what.unblock += "; if it is a rest of an earlier installation, turn the conversion off"
		what.commands = append(what.commands, shell.Command("kubectl patch crd %s --type merge -p %s", name,
			shell.JSON(map[string]any{"spec": map[string]any{"conversion": map[string]any{"strategy": "None", "webhook": nil}}})))
	}
	return what
}

// refusalCause is an answer of an API server that does not concern permissions.
func refusalCause(message string) cause {
	if m := planWebhook.FindStringSubmatch(message); m != nil {
		if strings.Contains(message, "x509: certificate has expired") {
			return cause{owner: "whoever owns webhook " + m[1], unblock: fmt.Sprintf("the certificate of webhook %s has expired: let its owner (cert-manager, OLM, a service CA) issue another one, or delete its configuration if its owner is gone", m[1]),
				commands: []string{shell.Command("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o wide")}}
		}
		return cause{owner: "whoever owns webhook " + m[1], unblock: fmt.Sprintf("webhook %s does not answer: bring up its service, or delete its configuration if its owner is gone", m[1]),
			commands: []string{shell.Command("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o wide")}}
	}
	if m := planDenied.FindStringSubmatch(message); m != nil {
		return cause{owner: "whoever owns webhook " + m[1], unblock: fmt.Sprintf("webhook %s refuses an object of the operator: change its policy, or make an exception for it", m[1])}
	}
	if m := planNoAPI.FindStringSubmatch(message); m != nil {
		if builtin(m[3]) {
			return cause{owner: "the authors of the operator", unblock: fmt.Sprintf("this cluster does not serve %s %s/%s, which %s needs: choose a version of the operator that supports this version of Kubernetes", m[5], m[3], m[4], m[2])}
		}
		return cause{owner: "whoever provides API " + m[3], unblock: fmt.Sprintf("install what provides %s %s/%s, which %s needs", m[5], m[3], m[4], m[2]),
			commands: []string{shell.Command("kubectl api-resources --api-group=%s", m[3])}}
	}
	if m := planQuota.FindStringSubmatch(message); m != nil {
		return cause{unblock: fmt.Sprintf("raise resource quota %s", m[1])}
	}
	if m := planOwners.FindStringSubmatch(message); m != nil {
		return cause{unblock: fmt.Sprintf("another operator of the namespace owns a CRD of %s already: remove one of the two", m[1])}
	}
	if strings.Contains(message, "the object has been modified") || strings.Contains(message, "request timed out") || strings.Contains(message, "connection refused") {
		return cause{owner: "whoever owns the subscription", unblock: "nothing has to be repaired: it was a passing fault"}
	}
	return cause{}
}

// builtin reports whether a group is Kubernetes' own, so that no CRD provides it.
func builtin(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !strings.Contains(group, ".x-k8s.io")
}

// dataLoss is a plan that would drop a version in which objects are stored.
func (c *Cluster) dataLoss(name, version string) cause {
	what := cause{reason: ReasonCRDLoss, owner: "whoever owns the objects of " + name,
		commands: []string{shell.Command("kubectl get crd %s -o %s", name, "jsonpath={.status.storedVersions}")}}
	at := slices.IndexFunc(c.Definitions, func(d crd.Definition) bool { return d.Name == name })
	if at < 0 {
		what.unblock = fmt.Sprintf("write all objects of %s again in a version that stays, then remove %s from status.storedVersions of the CRD", name, version)
		return what
	}
	d := &c.Definitions[at]
	for _, v := range d.Spec.Versions {
		if v.Storage && v.Name == version {
			what.unblock = fmt.Sprintf("objects of %s are stored as %s itself: update to a version of the operator between, which stores another one and still has %s", name, version, version)
			return what
		}
	}
	stays := slices.DeleteFunc(slices.Clone(d.Status.StoredVersions), func(v string) bool { return v == version })
	what.unblock = fmt.Sprintf("write all objects of %s again, which stores them in another version than %s, then remove %s from status.storedVersions of the CRD", name, version, version)
	what.commands = []string{
		shell.Command("kubectl get %s -A -o json", name) + " | " + shell.Command("kubectl replace -f -"),
		shell.Command("kubectl patch crd %s --subresource=status --type merge -p %s", name, shell.JSON(map[string]any{"status": map[string]any{"storedVersions": stays}})),
	}
	return what
}
