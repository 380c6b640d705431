package taint

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
)

// dumpCommand prints the input of the verb.
const dumpCommand = "kubectl get nodes,pods,pdb -A -o json"

// answer is an explanation, which also applies to other nodes with the same taints.
type answer struct {
	*taints.Explanation
	Also []string `json:"alsoNodes,omitempty"` // the other nodes, as in Node
	pod  *fairlead.Pod
}

// declare declares the flags of a question.
func (e *question) declare(c *args.Call) {
	c.Flags.StringVar(&e.pod, "pod", "", "")
	c.Flags.StringVar(&e.node, "node", "", "")
	c.Offer("pod", reading.Names("Pod"))
	c.Offer("node", reading.Names("Node"))
}

// explain explains what nodes' taints mean for pods.
func explain(c *args.Call, now time.Time) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	var asked question
	asked.declare(c)
	all := c.Flags.Bool("v", false, "")
	redact := c.Flags.Bool("redact", false, "")
	if err := in.parse(); err != nil {
		return err
	}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	pods, err := asked.pods(cluster)
	if err != nil {
		return err
	}
	if !in.known.Clock.At.IsZero() {
		now = in.known.Clock.At
	}
	nodes := newSuits(cluster, in.known.Storage(), in.options())
	explained := explainWith(&taints.ExplainOptions{Options: *in.options(), Redact: *redact, Now: now})
	var pending [][]*fairlead.Pod
	summed := *format != "json" && !*all && asked.pod == "" && asked.node == ""
	if summed {
		pods, pending = divide(pods)
	}
	classes, odd, err := asked.classes(nodes, pods)
	if err != nil {
		return err
	}
	answers, refused := []answer{}, false
	var wrong []string   // IDs of the nodes of pods that cannot be scheduled there, and of the pods without one
	var missing []string // pods whose nodes are not in the input
	for i, p := range pods {
		if len(classes[i]) == 0 && p.Spec.NodeName != "" {
			missing = append(missing, p.ObjectMeta.String()+" on "+p.Spec.NodeName)
		}
		fits := len(classes[i]) == 0 && p.Spec.NodeName != ""
		for _, like := range classes[i] {
			answers = append(answers, explained(p, like))
			fits = fits || answers[len(answers)-1].Schedulable
		}
		if refused = refused || !fits; !fits {
			wrong = append(wrong, subject(p))
		}
	}
	if len(answers)+len(odd) == 0 && (len(pending) == 0 || len(nodes.classes) == 0) {
		return in.source.Without(in.file, "there is no pod together with a node", "dump both: "+dumpCommand)
	}
	if len(missing) > 0 {
		words.Fprintf(c.Stderr, "%s: the nodes of %s are not in the input; also dump them: %s\n", c.Name, some(missing, "pod"), dumpCommand)
	}
	if *format != "json" && !*redact {
		in.prevents(wrong, pending, now).Tell(c.Stdout, *all)
	}
	switch {
	case *format == "json":
		in.beside(asked.rests()...)
		err = c.JSON(map[string]any{"answers": together(answers, odd)})
	case summed:
		fits := summary(c.Stdout, answers, pending, nodes, explained)
		refused = refused || !fits
	default:
		each(c.Stdout, answers, odd)
	}
	return findings(err, in.unknown(*format, asked.rests()...) || refused || len(missing) > 0)
}

// each writes all answers.
func each(w io.Writer, answers []answer, odd []unsuited) {
	for i := range answers {
		answers[i].text(w, "")
	}
	for i := range odd {
		odd[i].text(w)
	}
}

// subject is what the diagnosis is asked about for a pod: its node, or without one the pod.
func subject(p *fairlead.Pod) string {
	if p.Spec.NodeName != "" {
		return diagnosis.ID("Node", "", p.Spec.NodeName)
	}
	return diagnosis.ID("Pod", p.Namespace, p.Name)
}

// prevents returns what the diagnosis says of objects and of pods without a node, if it is more than that there is no
// node for them.
func (in *input) prevents(ids []string, pending [][]*fairlead.Pod, now time.Time) *diagnosing.Advice {
	for _, like := range pending {
		for _, p := range like {
			ids = append(ids, subject(p))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return diagnosing.Beyond(diagnosing.About(in.known, now, diagnosis.Options{Of: ids}), "Pod")
}

// rests returns the kinds of which every object must be known.
func (e *question) rests() (kinds []string) {
	if e.pod == "" {
		kinds = append(kinds, "Pod")
	}
	if e.node == "" {
		kinds = append(kinds, "Node")
	}
	return kinds
}

// explainWith returns what explains pods by these options.
func explainWith(o *taints.ExplainOptions) explainFunc {
	return func(p *fairlead.Pod, like []*fairlead.Node) answer {
		a := answer{Explanation: taints.Explain(p, like[0], o), pod: p}
		for _, n := range like[1:] {
			a.Also = append(a.Also, "node/"+n.Name)
		}
		return a
	}
}

// together returns both lists as one, for JSON.
func together(answers []answer, odd []unsuited) []any {
	list := make([]any, 0, len(answers)+len(odd))
	for i := range answers {
		list = append(list, answers[i])
	}
	for i := range odd {
		list = append(list, odd[i])
	}
	return list
}

// likeness is equal for pods that require the same of nodes.
func likeness(p *fairlead.Pod) string {
	text, err := json.Marshal([]any{p.Namespace, p.Labels, p.Spec.Tolerations, p.Spec.NodeSelector, p.Spec.Affinity, p.Spec.TopologySpreadConstraints, p.Spec.Containers, p.Spec.InitContainers, p.Spec.Overhead, p.Spec.Volumes, p.Spec.ResourceClaims, p.Spec.SchedulingGates, p.Spec.SchedulerName})
	if err != nil { // strings, numbers and maps of them: it cannot fail
		return p.ObjectMeta.String()
	}
	return string(text)
}

// divide returns the pods with a node, and those without in groups that require the same of
// nodes.
func divide(pods []*fairlead.Pod) (running []*fairlead.Pod, pending [][]*fairlead.Pod) {
	at := map[string]int{}
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			running = append(running, p)
			continue
		}
		key := likeness(p)
		k, known := at[key]
		if !known {
			k = len(pending)
			at[key], pending = k, append(pending, nil)
		}
		pending[k] = append(pending[k], p)
	}
	return running, pending
}

// question selects pods and nodes; empty means all.
type question struct{ pod, node string }

// pods returns the selected pods.
func (e *question) pods(cluster *taints.Cluster) ([]*fairlead.Pod, error) {
	var found []*fairlead.Pod
	var names []string
	for i := range cluster.Pods {
		p := &cluster.Pods[i]
		title := p.ObjectMeta.String()
		if e.pod == "" || e.pod == title || e.pod == p.Name {
			found, names = append(found, p), append(names, title)
		}
	}
	switch {
	case e.pod == "":
		return found, nil
	case len(found) == 0:
		return nil, fmt.Errorf("-pod %s: there is no such pod in the input, which has %s; dump it: %s", e.pod, words.Count(len(cluster.Pods), "pod", "pods"), dumpCommand)
	case len(found) > 1:
		return nil, fmt.Errorf("-pod %s: there are several: %s; name one with its namespace", e.pod, strings.Join(names, ", "))
	}
	return found, nil
}

// maxAnswers is how many explanations are listed at most.
const maxAnswers = 200_000

// classes returns the selected nodes for each pod, grouped by taints, and which pods without a
// node nodes do not suit for other reasons. Those nodes are left out.
func (e *question) classes(l *suits, pods []*fairlead.Pod) (classes [][][]*fairlead.Node, odd []unsuited, err error) {
	classes = make([][][]*fairlead.Node, len(pods))
	n := 0
	for i, p := range pods {
		var rejected []rejection
		if classes[i], rejected, err = e.nodes(l, p); err != nil {
			return nil, nil, err
		}
		if len(rejected) > 0 {
			odd = append(odd, unsuited{Pod: "pod/" + p.ObjectMeta.String(), Suited: sum(classes[i]), Rejected: rejected})
		}
		n += len(classes[i])
	}
	if n > maxAnswers {
		return nil, nil, fmt.Errorf("the input has %s, and those without a node are explained on %s: more than %d explanations; select with -pod or -node, or omit -v and -o",
			words.Count(len(pods), "pod", "pods"), words.Count(len(l.classes), "kind of node", "kinds of nodes"), maxAnswers)
	}
	return classes, odd, nil
}

// sum returns how many nodes there are in all groups.
func sum(classes [][]*fairlead.Node) (n int) {
	for _, like := range classes {
		n += len(like)
	}
	return n
}

// lookup finds nodes by name, and groups those with the same taints, in the order of
// the input.
type lookup struct {
	byName  map[string]*fairlead.Node
	classes [][]*fairlead.Node
}

func newLookup(cluster *taints.Cluster) *lookup {
	l := &lookup{byName: map[string]*fairlead.Node{}}
	at := map[string]int{}
	for i := range cluster.Nodes {
		n := &cluster.Nodes[i]
		l.byName[n.Name] = n
		key := fmt.Sprint(n.Spec.Unschedulable, n.Spec.Taints)
		k, known := at[key]
		if !known {
			k = len(l.classes)
			at[key], l.classes = k, append(l.classes, nil)
		}
		l.classes[k] = append(l.classes[k], n)
	}
	return l
}

// nodes returns the selected nodes for a pod, grouped by taints.
func (e *question) nodes(l *suits, p *fairlead.Pod) ([][]*fairlead.Node, []rejection, error) {
	want := e.node
	if want == "" && e.pod == "" {
		want = p.Spec.NodeName
	}
	if want == "" && p.Spec.NodeName == "" {
		suited, rejected := l.split(p)
		return suited, rejected, nil
	}
	switch n := l.byName[want]; {
	case want == "":
		return l.classes, nil, nil
	case n != nil:
		return [][]*fairlead.Node{{n}}, nil, nil
	case e.node != "":
		return nil, nil, fmt.Errorf("-node %s: there is no such node in the input, which has %s; dump it: %s",
			e.node, words.Count(len(l.byName), "node", "nodes"), dumpCommand)
	}
	return nil, nil, nil
}
