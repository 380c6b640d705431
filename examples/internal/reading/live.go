package reading

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/words"
)

// running says how to read a running cluster: with a program of the PATH, which knows the
// credentials. They are never read here.
type running struct {
	program string
	flags   []string // of each call
}

// request is a kind that a running cluster is asked for. Kinds that only OpenShift has are asked for by oc
// and kubectl alike.
type request struct {
	resource, kind string
	cluster        bool // it has no namespace
}

// others are kinds that verbs look at and that have no list of their own in a snapshot.
var others = []request{
	{"certificatesigningrequests.certificates.k8s.io", "CertificateSigningRequest", true}, {"ingressclasses.networking.k8s.io", "IngressClass", true},
	{"clusterissuers.cert-manager.io", "ClusterIssuer", true}, {"issuers.cert-manager.io", "Issuer", false}, {"certificates.cert-manager.io", "Certificate", false},
}

// elsewhere are resources that are not asked for: of ConfigMaps few count, PackageManifests are large and
// seldom needed, and the others say what another resource says too.
var elsewhere = []string{"configmaps", "packagemanifests.packages.operators.coreos.com", "endpoints", "events.events.k8s.io"}

// requests returns the kinds that a cluster is asked for, if it has them.
func requests() []request {
	all := slices.Clone(others)
	for _, k := range snapshot.Kinds() {
		for _, group := range k.Groups {
			if resource := strings.TrimSuffix(k.Plural+"."+group, "."); !slices.Contains(elsewhere, resource) {
				all = append(all, request{resource, k.Name, !k.Namespaced})
			}
		}
	}
	return all
}

// definitions are large, and few verbs need them.
const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// needs returns what a call asks for of what a cluster serves.
func (s *Source) needs(served string) (cluster, spaced []request) {
	there := map[string]bool{}
	for _, name := range strings.Fields(served) {
		there[name] = true
	}
	for _, q := range requests() {
		switch {
		case !there[q.resource], s.Kinds != nil && !slices.Contains(s.Kinds, q.kind), q.resource == definitions && !s.Definitions:
		case q.cluster:
			cluster = append(cluster, q)
		default:
			spaced = append(spaced, q)
		}
	}
	return cluster, spaced
}

// live reads the running cluster, in a call for what has no namespace, and one for the rest: of all
// namespaces, or, of kinds for which that is refused, of the context's own.
func (s *Source) live(r *snapshot.Reader) error {
	run, err := s.program()
	if err != nil {
		return err
	}
	own := cmp.Or(s.namespace, run.context(s))
	served, err := run.call(s, "api-resources", "--verbs=list", "-o", "name", "--no-headers")
	if err != nil {
		return fmt.Errorf("%s: the cluster does not answer: %w", run.program, err)
	}
	cluster, spaced := s.needs(string(served))
	openshift := slices.ContainsFunc(cluster, func(q request) bool { return q.kind == "ClusterVersion" })
	failed := run.list(s, r, cluster, "")
	if s.namespace == "" {
		maps.Copy(failed, run.list(s, r, spaced, "-A"))
	} else {
		for _, q := range spaced {
			failed[q] = "-namespace asks for one only"
		}
	}
	without := func(q request) bool { return failed[q] == "" }
	twin := func(q request) bool { // another API has the kind, and of that it may be known as a whole
		return slices.ContainsFunc(spaced, func(x request) bool { return x.kind == q.kind && x != q })
	}
	again := slices.DeleteFunc(slices.Clone(spaced), without)
	inside := run.list(s, r, again, "--namespace="+own)
	none := slices.DeleteFunc(cluster, without)
	var some []request
	for _, q := range again {
		if inside[q] != "" || twin(q) {
			none = append(none, q)
		} else {
			some = append(some, q)
		}
	}
	s.refused(r, none, failed, "")
	if s.namespace == "" {
		s.refused(r, some, failed, own)
	}
	s.withheld = len(none)+len(some) > 0
	if n := len(none); n > 0 && n == len(cluster)+len(spaced) {
		return fmt.Errorf("%s: this account may list nothing that is asked for, neither in the whole cluster nor in namespace %s; with -namespace it is asked in another one", s.running, own)
	}
	if openshift {
		run.gates(s, r)
	}
	return nil
}

// gates reads what administrators have to acknowledge before an update, and what they have.
func (p *running) gates(s *Source, r *snapshot.Reader) {
	for _, m := range [][2]string{{"openshift-config-managed", "admin-gates"}, {"openshift-config", "admin-acks"}} {
		text, problem := p.call(s, "get", "configmap", m[1], "-n", m[0], "-o", "json", "--ignore-not-found")
		if problem == nil && len(text) > 0 {
			problem = r.Stream(bytes.NewReader(text), p.program+" get configmap "+m[1])
		}
		if problem != nil {
			r.Missed("ConfigMap", snapshot.Gap{Namespace: m[0], Why: problem.Error(), Permission: "get configmaps in " + m[0]})
		}
	}
}

// context says which cluster and account answer, and returns the namespace of the context.
func (p *running) context(s *Source) (namespace string) {
	var v struct {
		Context  string `json:"current-context"`
		Contexts []struct {
			Context struct{ Cluster, User, Namespace string }
		}
	}
	text, err := p.call(s, "config", "view", "--minify", "-o", "json")
	if err != nil || json.Unmarshal(text, &v) != nil || len(v.Contexts) == 0 {
		words.Fprintf(s.call.Stderr, "note: %s reads the cluster of the current context\n", p.program)
		s.running = "the running cluster"
		return "default"
	}
	c := v.Contexts[0].Context
	s.running = "cluster " + c.Cluster
	words.Fprintf(s.call.Stderr, "note: %s reads the cluster %s (context %s) as %s\n", p.program, c.Cluster, v.Context, c.User)
	return cmp.Or(c.Namespace, "default")
}

// denied finds which kind a server refused to list.
var denied = regexp.MustCompile(`cannot list resource "([^"]+)" in API group "([^"]*)"`)

// unexplained reports whether kubectl tells a problem that is not a refusal.
func unexplained(problems string) bool {
	for line := range strings.Lines(problems) {
		if line = strings.TrimSpace(line); line != "" && !denied.MatchString(line) && !logged.MatchString(line) && !strings.HasPrefix(line, "Warning:") {
			return true
		}
	}
	return false
}

// logged finds what kubectl logs of parts of the API that do not answer.
var logged = regexp.MustCompile(`^[EIW]\d{4} `)

// list reads all objects of kinds, in one call, and returns why some could not be read. What could be is
// recorded as known, in all namespaces or one.
func (p *running) list(s *Source, r *snapshot.Reader, of []request, scope string) (failed map[request]string) {
	failed = map[request]string{}
	if len(of) == 0 {
		return failed
	}
	resources := make([]string, len(of))
	for i, q := range of {
		resources[i] = q.resource
	}
	s.call.Doing("reading " + words.First(resources, 3))
	line := []string{"get", strings.Join(resources, ","), "-o", "json", "--chunk-size=500"}
	if scope != "" {
		line = append(line, scope)
	}
	text, problems, err := p.run(s, line...)
	if err != nil && len(of) > 1 && unexplained(problems) { // whose fault it is shows in calls of their own
		for i, q := range of {
			if why := p.list(s, r, of[i:i+1], scope)[q]; why != "" {
				failed[q] = why
			}
		}
		return failed
	}
	namespace, inside := strings.CutPrefix(scope, "--namespace=")
	if !inside {
		namespace = ""
	}
	for _, m := range denied.FindAllStringSubmatch(problems, -1) {
		for _, q := range of {
			if q.resource == strings.TrimSuffix(m[1]+"."+m[2], ".") {
				failed[q] = "the server refuses it to this account"
			}
		}
	}
	broken := err != nil && len(failed) == 0
	if len(text) > 0 {
		failure := r.StreamIn(namespace, bytes.NewReader(text), p.program+" get "+words.First(resources, 3))
		if failure == nil && !json.Valid(text) { // what was read is used, and of which kinds there is more is not known
			failure = errors.New("the answer was cut off")
		}
		if failure != nil {
			broken, err = true, failure
		}
	}
	for _, q := range of {
		switch {
		case failed[q] != "":
		case broken:
			failed[q] = err.Error()
		case namespace != "":
			r.Listed(q.kind, namespace)
		default:
			r.Listed(q.kind)
		}
	}
	return failed
}

// refused records that kinds could not be read, but for one namespace if that is named, and says which
// permission would help. Kinds that failed for the same reason are told together.
func (s *Source) refused(r *snapshot.Reader, of []request, failed map[request]string, but string) {
	outside := ""
	if but != "" {
		outside = " outside of namespace " + but
	}
	for len(of) > 0 {
		why := failed[of[0]]
		var names []string
		var rest []request
		for _, q := range of {
			if failed[q] != why {
				rest = append(rest, q)
				continue
			}
			names = append(names, q.resource)
			if but == "" {
				r.Missed(q.kind, snapshot.Gap{Where: snapshot.Position{File: "get " + q.resource}, Why: why, Permission: "list " + q.resource})
			}
		}
		most := 4
		if s.call.Flags.Lookup("v").Value.String() == "true" {
			most = len(names)
		}
		s.found(fmt.Sprintf("%s%s are unknown: %s; it takes the permission to list them in the whole cluster", words.List(names, "and", most), outside, why))
		of = rest
	}
}

// program returns oc or kubectl.
func (s *Source) program() (*running, error) {
	p := &running{}
	for _, name := range []string{"oc", "kubectl"} {
		if path, err := exec.LookPath(name); err == nil {
			p.program = path
			break
		}
	}
	if p.program == "" {
		return nil, errors.New("neither oc nor kubectl is on the PATH, and one of them reads the cluster; or name a FILE with the output of kubectl get -o yaml")
	}
	for _, f := range [][2]string{{"--kubeconfig=", s.kubeconfig}, {"--context=", s.context}, {"--cluster=", s.cluster}} {
		if f[1] != "" {
			p.flags = append(p.flags, f[0]+f[1])
		}
	}
	return p, nil
}

// call runs the program. The error is the first line that it says.
func (p *running) call(s *Source, words ...string) ([]byte, error) {
	out, _, err := p.run(s, words...)
	return out, err
}

// run runs the program, and also returns all that it says on standard error.
func (p *running) run(s *Source, words ...string) (out []byte, problems string, err error) {
	cmd := exec.CommandContext(s.call.Context, p.program, append(words, p.flags...)...)
	cmd.WaitDelay = 5 * time.Second
	var to, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &to, &errs
	err = cmd.Run()
	if s.call.Context.Err() != nil {
		return nil, "", s.call.Context.Err()
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); err != nil && first != "" {
		err = errors.New(first)
	}
	return to.Bytes(), errs.String(), err
}
