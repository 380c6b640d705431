package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
)

// What operator-controller writes when it cannot go on (resolve/catalog.go,
// applier/provider.go, authorization/rbac.go up to 1.9, and the preflight for CRDs; df2c201d),
// and what Helm and API servers answer it.
var (
	extMissing  = regexp.MustCompile(`Namespace:"([^"]*)" (?:APIGroups:\[([^\]]*)\] Resources:\[([^\]]*)\](?: ResourceNames:\[([^\]]*)\])?|NonResourceURLs:\[([^\]]*)\]) Verbs:\[([^\]]*)\]`)
	extSeveral  = regexp.MustCompile(`in multiple catalogs with the same priority \[([^\]]*)\]`)
	extUpgrade  = regexp.MustCompile(`error upgrading from currently installed version "([^"]+)": no bundles found for package "([^"]+)"(?: matching version "([^"]+)")?`)
	extNothing  = regexp.MustCompile(`no bundles found for package "([^"]+)"`)
	extUnsafe   = regexp.MustCompile(`validating upgrade for CRD "([^"]+)"|CustomResourceDefinition (\S+) failed upgrade safety validation`)
	extOwned    = regexp.MustCompile(`(\S+) "([^"]+)" in namespace "([^"]*)" exists and cannot be imported`)
	extAccount  = regexp.MustCompile(`(?i)service ?account "([^"]+)" not found(?: in namespace "([^"]+)")?`)
	extNoSpace  = regexp.MustCompile(`namespaces "([^"]+)" not found`)
	extNoBundle = regexp.MustCompile(`unsupported bundle: (.*)`)
	extWatch    = regexp.MustCompile(`"?watchNamespace"?.*(?:missing|required)|required field "?watchNamespace`)
	extRequires = regexp.MustCompile(`olm\.(?:gvk|package)\.required|olm\.constraint`)
	extRange    = regexp.MustCompile(`desired version range "([^"]*)" is invalid`)
	extGoing    = regexp.MustCompile(`unable to create new content in namespace (\S+) because it is being terminated`)
	extCollides = regexp.MustCompile(`object collision.*?([A-Z]\w+) ([a-z]\S*?):? [Oo]bject already exists|object collision`)
)

// badRange reads that the version of an extension is not a range of versions.
func badRange(x *Extension, message string) (cause, bool) {
	if !extRange.MatchString(message) {
		return cause{}, false
	}
	return cause{owner: "whoever owns the extension", unblock: "correct spec.source.catalog.version, to a version such as 1.2.3 or a range such as >=1.2.0 <2.0.0; or do without, as the command does: then the newest one is installed",
		commands: []string{shell.Command("kubectl patch clusterextension %s --type json -p %s", x.Name, shell.JSON([]any{map[string]any{"op": "remove", "path": "/spec/source/catalog/version"}}))}}, true
}

// extensionCause reads why an extension does not proceed.
func (c *Cluster) extensionCause(x *Extension, message string) (cause, bool) {
	if m := extGoing.FindStringSubmatch(message); m != nil {
		return cause{owner: "whoever deleted the namespace", unblock: fmt.Sprintf("namespace %s is being deleted: see what keeps it; once it is gone, create it and the service account again", m[1]),
			commands: []string{shell.Command("kubectl get namespace %s -o %s", m[1], "jsonpath={.status.conditions}")}}, true
	}
	if what, ok := badRange(x, message); ok {
		return what, true
	}
	if d, ok := readDenial(message); ok {
		return cause{unblock: fmt.Sprintf("allow %s to %s; it is tried again", d.who, d.what()), commands: []string{d.command()}}, true
	}
	if rules := extMissing.FindAllStringSubmatch(message, -1); rules != nil {
		return c.grants(x, rules), true
	}
	if m := extSeveral.FindStringSubmatch(message); m != nil {
		names := strings.Fields(m[1])
		return cause{owner: "whoever owns the extension or the catalogs",
			unblock: fmt.Sprintf("select one of the catalogs %s in the extension, as the command does for %s, or give one a higher spec.priority", strings.Join(names, ", "), names[0]),
			commands: []string{patchExtension(x, map[string]any{"source": map[string]any{"catalog": map[string]any{"selector": map[string]any{
				"matchLabels": map[string]any{"olm.operatorframework.io/metadata.name": names[0]}}}}})}}, true
	}
	if m := extUpgrade.FindStringSubmatch(message); m != nil {
		what := "a version that is a successor of " + m[1]
		if m[3] != "" {
			what += ", which " + m[3] + " is not or does not exist"
		}
		return cause{owner: "whoever owns the extension or the catalogs", unblock: fmt.Sprintf("request %s (with -catalog the path is shown), or, if the authors allow that jump, set upgradeConstraintPolicy to SelfCertified", what),
			commands: []string{shell.Command("kubectl get clustercatalogs"), shell.Command("kubectl get clusterextension %s -o %s", x.Name, "jsonpath={.spec.source.catalog}")}}, true
	}
	if m := extNothing.FindStringSubmatch(message); m != nil {
		return cause{owner: "whoever owns the extension or the catalogs", unblock: fmt.Sprintf("no catalog has what is requested of package %s: correct packageName, version or channels, or add a catalog that has it", m[1]),
			commands: []string{shell.Command("kubectl get clustercatalogs"), shell.Command("kubectl get clusterextension %s -o %s", x.Name, "jsonpath={.spec.source.catalog}")}}, true
	}
	return refusedBundle(x, message)
}

// refusedBundle reads what is wrong with the objects of a bundle.
func refusedBundle(x *Extension, message string) (cause, bool) {
	if m := extUnsafe.FindStringSubmatch(message); m != nil {
		name := m[1] + m[2]
		return cause{owner: "the authors of the bundle", unblock: fmt.Sprintf("request another version; if the change of CRD %s harms no object, spec.install.preflight.crdUpgradeSafety.enforcement None turns the check off", name),
			commands: []string{shell.Command("kubectl get %s -A", name)}}, true
	}
	if m := extOwned.FindStringSubmatch(message); m != nil {
		show := shell.Command("kubectl get %s %s -o yaml", strings.ToLower(m[1]), m[2])
		if m[3] != "" {
			show = shell.Command("kubectl get %s -n %s %s -o yaml", strings.ToLower(m[1]), m[3], m[2])
		}
		return cause{owner: "whoever created " + m[1] + " " + m[2], unblock: fmt.Sprintf("%s %s belongs to another installation: remove that one first (of a CRD its objects go too)", m[1], m[2]), commands: []string{show}}, true
	}
	if m := extAccount.FindStringSubmatch(message); m != nil {
		return cause{unblock: "create the service account, with the permissions that the bundle needs", commands: []string{shell.Command("kubectl create serviceaccount -n %s %s", cmp.Or(m[2], x.Spec.Namespace), m[1])}}, true
	}
	if m := extNoSpace.FindStringSubmatch(message); m != nil {
		return cause{unblock: "create the namespace", commands: []string{shell.Command("kubectl create namespace %s", m[1])}}, true
	}
	if m := extNoBundle.FindStringSubmatch(message); m != nil {
		text := "request a version that OLM v1 supports"
		if strings.Contains(m[1], "install mode") {
			text += ", or one namespace to watch in spec.config.inline.watchNamespace, if the feature SingleOwnNamespaceInstallSupport is on"
		}
		return cause{owner: "the authors of the bundle", unblock: text + ": " + m[1]}, true
	}
	if extWatch.MatchString(message) {
		return cause{unblock: "name the namespace that it watches: its own, as the command does, or another one, as the install modes of the bundle allow",
			commands: []string{patchExtension(x, map[string]any{"config": map[string]any{"configType": "Inline", "inline": map[string]any{"watchNamespace": x.Spec.Namespace}}})}}, true
	}
	if extRequires.MatchString(message) {
		return cause{owner: "the authors of the bundle", unblock: "the bundle requires other bundles, which OLM v1 does not install: request a version without requirements, or install the package with a Subscription of OLM v0"}, true
	}
	if m := extCollides.FindStringSubmatch(message); m != nil {
		object, who := "an object of the bundle", "whoever created the object"
		var commands []string
		if m[2] != "" {
			object, who = m[1]+" "+m[2], "whoever created "+m[1]+" "+m[2]
			commands = append(commands, shell.Command("kubectl get %s -A --field-selector metadata.name=%s -o yaml", strings.ToLower(m[1]), m[2]))
		}
		return cause{owner: who, unblock: object + " exists already, and belongs to another installation: remove that one first (of a CRD its objects go too)",
			commands: append(commands, shell.Command("kubectl get clusterextensionrevisions -l %s -o yaml", ownerNameLabel+"="+x.Name))}, true
	}
	return imageCause(message, "the bundle", "operator-controller-controller-manager")
}

func patchExtension(x *Extension, spec map[string]any) string {
	return shell.Command("kubectl patch clusterextension %s --type merge -p %s", x.Name, shell.JSON(map[string]any{"spec": spec}))
}

// grants are the objects that give a service account the permissions that a check
// before the installation found missing.
func (c *Cluster) grants(x *Extension, rules [][]string) cause {
	var spaces []string
	byspace := make(map[string][]any)
	for _, m := range rules {
		rule := map[string]any{"verbs": list(m[6])}
		if m[5] != "" {
			rule["nonResourceURLs"] = list(m[5])
		} else {
			rule["apiGroups"], rule["resources"] = list(m[2]), list(m[3])
			if m[4] != "" {
				rule["resourceNames"] = list(m[4])
			}
		}
		if !slices.Contains(spaces, m[1]) {
			spaces = append(spaces, m[1])
		}
		byspace[m[1]] = append(byspace[m[1]], rule)
	}
	slices.Sort(spaces)
	var items []any
	name := x.Name + "-installer-missing"
	for _, space := range spaces {
		meta, kind := map[string]any{"name": name}, "ClusterRole"
		if space != "" {
			meta, kind = map[string]any{"name": name, "namespace": space}, "Role"
		}
		const api = "rbac.authorization.k8s.io"
		items = append(items, map[string]any{"apiVersion": api + "/v1", "kind": kind, "metadata": meta, "rules": byspace[space]},
			map[string]any{"apiVersion": api + "/v1", "kind": kind + "Binding", "metadata": meta,
				"roleRef":  map[string]any{"apiGroup": api, "kind": kind, "name": name},
				"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": x.Spec.ServiceAccount.Name, "namespace": x.Spec.Namespace}}})
	}
	return cause{owner: "whoever may grant permissions",
		unblock:  fmt.Sprintf("service account %s/%s lacks permissions: look at them, and grant them with the command; it is tried again", x.Spec.Namespace, x.Spec.ServiceAccount.Name),
		commands: []string{shell.Print(shell.JSON(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})) + " | " + shell.Command("kubectl create -f -")}}
}

// list reads the elements that operator-controller separates by commas; "" is the
// core group.
func list(text string) []any {
	var all []any
	for _, e := range strings.Split(text, ",") {
		all = append(all, strings.TrimSpace(e))
	}
	return all
}
