package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// pseudonyms replaces the words of names by others, in the same order: a word that lies between two
// words that stay gets a word that lies between them, so that whatever is sorted by name stays so.
type pseudonyms struct {
	private map[string]bool   // words that are replaced, unless they are public
	public  map[string]bool   // words that stay
	become  map[string]string // set by assign
	ids     map[string]string // of UIDs and addresses
}

func newPseudonyms() *pseudonyms {
	p := &pseudonyms{private: map[string]bool{}, public: map[string]bool{}, become: map[string]string{}, ids: map[string]string{}}
	for w := range strings.FieldsSeq(publicWords) {
		p.public[w] = true
	}
	return p
}

// publicWords are words that names share with messages, and with the names of Kubernetes' and
// OpenShift's own objects.
const publicWords = `a account admin after alert all an and annotation api app apps at autoscaler aws azure baremetal be because been boot bootstrap budget build by
 cannot catalog cause cert certificate channel cloud cluster com completed condition conditions config configuration connection console container control controller coreos count cpu create created csi csv
 daemon daemonset data default degraded delete deleted deleting deployment desired disk disruption dns does down drain drained draining due dev
 endpoint error etcd event evict eviction exist exists exporter external failed failing failure false finalizer for forbidden found from gcp get group had has have health healthy host hostname http https
 id image in infra ingress install installed instance internal io is it job key kernel kube kubelet kubernetes k8s label latest lease lifecycle list local log machine machineconfig machines manager marketplace master max memory
 message metadata min minute minutes missing mode monitoring more mutating name names namespace namespaces needs network new no node nodes not object of olm on one only open openshift operator operators or org out
 pdb pending persistent plan plane pod pods policy pool preferred pressure prometheus proxy pv pvc pull range ready reason rebooting registry rendered replica replicas replicaset report required resource retry role running
 samples schedule scheduled scheduler secret seconds selector server service set source spec stable stateful statefulset state status storage sync system
 taint taints than that the there this time timeout timed to token true tuning type unable unavailable unknown unreachable until update updated updating upgrade upgradeable user value version violate volume
 waiting was webhook were which will with worker workers workload would x86 amd64 arm64 zone region topology arch os linux hosted self managed high availability single include exclude release ibm vsphere none fast candidate eus okd ci nightly rc ec fc assembly hotfix`

var (
	word    = regexp.MustCompile(`[A-Za-z0-9]+`)
	uuid    = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	address = regexp.MustCompile(`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|\b[0-9]{1,3}(?:-[0-9]{1,3}){3}\b|\b(?:[0-9a-fA-F]{1,4}:){2,7}:?[0-9a-fA-F]{1,4}\b`)
	mail    = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	given   = regexp.MustCompile(`(?i)\b(password|passwd|token|secret|apikey|api_key|bearer|authorization)([=:]\s*|\s+)\S+`)
	opaque  = regexp.MustCompile(`(?:sha256:)?\b[A-Za-z0-9+/_]{24,}={0,2}`)
	host    = regexp.MustCompile(`\b[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}\b`)
	clock3  = regexp.MustCompile(`^\d{1,2}:\d{2}:\d{2}$`)
	plain   = regexp.MustCompile(`^(?:[0-9]+|v[0-9]+(?:alpha[0-9]+|beta[0-9]+)?|[A-Za-z])$`)
)

// knownDomains are those of labels and annotations that engines read.
var knownDomains = []string{"kubernetes.io", "k8s.io", "x-k8s.io", "openshift.io", "operatorframework.io", "coreos.com", "operatorframework", "karpenter.sh", "olm.properties", "fairlead.io"}

// ownLabels are labels of Kubernetes' controllers that have no domain.
var ownLabels = []string{"pod-template-hash", "pod-template-generation", "controller-revision-hash", "controller-uid", "job-name"}

// knownDomain reports whether a key is Kubernetes' or OpenShift's own.
func knownDomain(key string) bool {
	if slices.Contains(ownLabels, key) {
		return true
	}
	domain, _, _ := strings.Cut(key, "/")
	return slices.ContainsFunc(knownDomains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }) ||
		strings.HasPrefix(domain, "operatorframework.io") || strings.HasPrefix(domain, "olm.")
}

// structure are the keys whose values are words of an API, or of a release.
var structure = map[string]bool{
	"apiVersion": true, "kind": true, "type": true, "status": true, "reason": true, "phase": true, "effect": true, "operator": true, "state": true, "mode": true, "policy": true, "resourceVersion": true, "version": true,
	"operators": true, "lastTransitionTime": true, "lastHeartbeatTime": true, "creationTimestamp": true, "deletionTimestamp": true, "startTime": true, "cpu": true, "memory": true, "severity": true, "alertname": true,
	"channel": true, "channels": true, "installPlanApproval": true, "catalog": true, "installedCSV": true, "currentCSV": true, "startingCSV": true, "replaces": true, "history": true, "group": true, "apiGroup": true, "controller": true,
}

// public kinds have names that a release or a published operator chose.
var publicKinds = map[string]bool{
	"ClusterOperator": true, "ClusterServiceVersion": true, "CustomResourceDefinition": true, "APIService": true, "APIRequestCount": true, "ClusterVersion": true, "Infrastructure": true, "OperatorHub": true, "ConfigMap": true,
}

// learn collects the words of an object's names.
func (p *pseudonyms) learn(r *Ref, text []byte) {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return
	}
	own := publicNamespace(r.Namespace) || r.Namespace == "" && publicNamespace(r.Name)
	switch {
	case publicKinds[r.Kind]:
		p.add(p.public, r.Name)
	case r.Kind == "Node" || !own:
		p.add(p.private, r.Name)
	}
	if !publicNamespace(r.Namespace) {
		p.add(p.private, r.Namespace)
	}
	p.collect("", v)
}

func publicNamespace(name string) bool {
	return name == "default" || strings.HasPrefix(name, "openshift") || strings.HasPrefix(name, "kube-")
}

func (p *pseudonyms) add(to map[string]bool, text string) {
	for _, w := range word.FindAllString(uuid.ReplaceAllString(address.ReplaceAllString(text, " "), " "), -1) {
		to[w] = true
	}
}

// collect finds names in labels and addresses in texts.
func (p *pseudonyms) collect(key string, v any) {
	switch v := v.(type) {
	case string:
		for _, id := range append(uuid.FindAllString(v, -1), address.FindAllString(v, -1)...) {
			p.ids[id] = ""
		}
		switch {
		case structure[key]:
			return
		case key == "spec.name" || key == "package":
			p.add(p.public, v)
		case key == "label" || key == "uid" || key == "providerID" || key == "clusterID" || key == "infrastructureName" || key == "clusterName":
			p.add(p.private, v)
		}
		for _, h := range host.FindAllString(v, -1) {
			if !knownDomain(h) && !strings.HasSuffix(h, ".svc") && key != "labelkey" {
				p.add(p.private, h)
			}
		}
	case []any:
		for _, x := range v {
			p.collect(key, x)
		}
	case map[string]any:
		for k, x := range v {
			labels := isLabels(key, x)
			if labels && !knownDomain(k) {
				p.add(p.private, k)
			}
			if labels {
				k = "label"
			}
			p.collect(k, x)
		}
	}
}

// isLabels reports whether a member of a value with a key is a label.
func isLabels(key string, member any) bool {
	_, text := member.(string)
	return key == "labels" || key == "matchLabels" || key == "nodeSelector" && text
}

// assign chooses the words.
func (p *pseudonyms) assign() {
	for w := range p.private {
		if p.public[strings.ToLower(w)] || p.public[w] || plain.MatchString(w) {
			delete(p.private, w)
		}
	}
	stays := slices.Sorted(maps.Keys(p.public))
	for c := '0'; c <= 'z'; c++ { // one letter stays
		if c <= '9' || c >= 'a' || c >= 'A' && c <= 'Z' {
			stays = append(stays, string(c))
		}
	}
	slices.Sort(stays)
	n := 0
	for _, w := range slices.Sorted(maps.Keys(p.private)) {
		at, _ := slices.BinarySearch(stays, w)
		before, after := "0", ""
		if at > 0 {
			before = stays[at-1]
		}
		if at < len(stays) {
			after = stays[at]
		}
		n++
		zeros := ""
		for strings.HasPrefix(after, before+zeros) && strings.TrimPrefix(after, before+zeros) <= "0" { // lies between
			zeros += "0"
		}
		p.become[w] = fmt.Sprintf("%s%s%05d", before, zeros, n)
	}
	for i, id := range slices.Sorted(maps.Keys(p.ids)) {
		i++
		switch {
		case uuid.MatchString(id):
			p.ids[id] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		case clock3.MatchString(id):
			p.ids[id] = id
		case strings.Contains(id, ":"):
			p.ids[id] = fmt.Sprintf("2001:db8::%04x", i)
		case strings.Contains(id, "-"):
			p.ids[id] = fmt.Sprintf("10-%03d-%03d-%03d", 100+i/10000, 100+i/100%100, 100+i%100)
		default:
			p.ids[id] = fmt.Sprintf("10.%03d.%03d.%03d", 100+i/10000, 100+i/100%100, 100+i%100)
		}
	}
}

// names returns what became what.
func (p *pseudonyms) names() [][2]string {
	var all [][2]string
	for _, of := range []map[string]string{p.become, p.ids} {
		for _, w := range slices.Sorted(maps.Keys(of)) {
			all = append(all, [2]string{w, of[w]})
		}
	}
	return all
}

// text replaces names in the value of a key.
func (p *pseudonyms) text(key, s string) string {
	switch {
	case structure[key]:
		return s
	case key == "key" || key == "topologyKey":
		return p.labelKey(s)
	}
	var b strings.Builder
	for s != "" { // UIDs and addresses are no words
		at := uuid.FindStringIndex(s)
		if a := address.FindStringIndex(s); a != nil && (at == nil || a[0] < at[0]) {
			at = a
		}
		if at == nil {
			break
		}
		b.WriteString(p.words(s[:at[0]]))
		b.WriteString(orElse(p.ids[s[at[0]:at[1]]], s[at[0]:at[1]]))
		s = s[at[1]:]
	}
	b.WriteString(p.words(s))
	return b.String()
}

func (p *pseudonyms) words(s string) string {
	return word.ReplaceAllStringFunc(s, func(w string) string { return orElse(p.become[w], w) })
}

// value replaces names in a value.
func (p *pseudonyms) value(key string, v any) any {
	switch v := v.(type) {
	case string:
		s := v
		switch key {
		case "message", "note", "description", "summary", "errorMessage":
			s = mail.ReplaceAllString(s, "redacted@example.com")
			s = given.ReplaceAllString(s, "$1$2redacted")
			s = opaque.ReplaceAllStringFunc(s, secretive)
		}
		return p.text(key, s)
	case []any:
		for i := range v {
			v[i] = p.value(key, v[i])
		}
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch {
			case isLabels(key, v[k]):
				if k == "alertname" || k == "severity" || k == "namespace" {
					out[k] = p.value(k, v[k])
					continue
				}
				out[p.labelKey(k)] = p.value("label", v[k])
			case key == "annotations":
				if k == "description" || k == "summary" || k == "message" || knownDomain(k) && !strings.HasSuffix(k, "/last-applied-configuration") {
					out[k] = p.value(k, v[k])
				}
			case key == "data":
				out[k] = p.value("message", v[k])
			default:
				out[k] = p.value(k, v[k])
			}
		}
		return out
	}
	return v
}

// labelKey replaces names in the key of a label.
func (p *pseudonyms) labelKey(k string) string {
	if knownDomain(k) {
		return k
	}
	return p.words(k)
}

// secretive hides a long word with digits, but for digests that stand in names of images.
func secretive(w string) string {
	if strings.HasPrefix(w, "sha256:") || !strings.ContainsAny(w, "0123456789") || strings.Count(w, "/") > 2 {
		return w
	}
	return "redacted"
}
