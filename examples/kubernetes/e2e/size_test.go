package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sizes are the numbers of nodes in FAIRLEAD_NODES, with commas.
func sizes(t *testing.T) []int {
	t.Helper()
	text := os.Getenv("FAIRLEAD_NODES")
	if text == "" {
		t.Skip("FAIRLEAD_NODES does not say how many nodes: 100,300,1000 takes most of an hour")
	}
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 {
			t.Fatalf("FAIRLEAD_NODES=%s: %q is not a number of nodes", text, word)
		}
		out = append(out, n)
	}
	return out
}

// measured is what one size came to.
type measured struct {
	nodes, pods, evicted int
	memory               int64 // of the operator, in bytes, at most
	server               int64 // of the API server
	requests             int
	writes               int
	late                 []time.Duration // after the deadline, sorted
	took                 time.Duration   // from the first taint to the last pod
}

func (m *measured) at(percent int) time.Duration {
	return m.late[min(len(m.late)-1, len(m.late)*percent/100)]
}

// Nodes without machines, ten pods on each, of which every tenth node is tainted,
// one after the other, while pods come and go on the others: memory, requests and
// how late pods are told to leave, as a table and a plot.
//
//	FAIRLEAD_NODES=100,300,1000 e2e/run -v TestSizes
//
// It is run by hand. FAIRLEAD_OUT names a directory for table.md and plot.svg.
func TestSizes(t *testing.T) {
	var all []measured
	for _, n := range sizes(t) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { all = append(all, size(t, n)) })
	}
	table := "| nodes | pods | evicted | memory of the operator | of the API server | requests for each evicted pod | of them writes | late: median | 99 of 100 | last | in all |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	for i := range all {
		m := &all[i]
		table += fmt.Sprintf("| %d | %d | %d | %d MB | %d MB | %.2f | %.2f | %.1f s | %.1f s | %.1f s | %.0f s |\n", m.nodes, m.pods, m.evicted, m.memory>>20, m.server>>20,
			float64(m.requests)/float64(m.evicted), float64(m.writes)/float64(m.evicted), m.at(50).Seconds(), m.at(99).Seconds(), m.at(100).Seconds(), m.took.Seconds())
	}
	t.Logf("\n%s", table)
	if dir := os.Getenv("FAIRLEAD_OUT"); dir != "" {
		for name, text := range map[string]string{"table.md": table, "plot.svg": plot(all)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// together runs f for the numbers below n, sixteen at a time.
func together(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range 16 {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

func size(t *testing.T, nodes int) measured {
	const perNode, seconds = 10, 5
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	m := measured{nodes: nodes, pods: nodes * perNode}
	var mu sync.Mutex
	pods := map[string]types.UID{} // those that have to leave
	together(nodes, func(n int) {
		node := fmt.Sprintf("n%d", n)
		if err := w.kubelets.AddNode(t.Context(), node, nil); err != nil {
			t.Error(err)
		}
		for i := range perNode {
			p := w.pod("shop", fmt.Sprintf("p-%d-%d", n, i), node, tolerating(seconds))
			if n%10 == 0 {
				mu.Lock()
				pods[p.Name] = p.UID
				mu.Unlock()
			}
		}
	})
	left := w.departures("shop")
	manager := operator.Start(t, w.Cluster, "-controllers=eviction", "-leader-elect=false")
	manager.Ready()
	started := time.Now()

	// Churn: on the nodes that stay a pod goes and another one comes, ten times a second.
	churn, stop := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	churning.Go(func() {
		for i := 0; churn.Err() == nil; i++ {
			n := i%(nodes-1) + 1
			if n%10 == 0 {
				continue
			}
			old := &corev1.Pod{}
			old.Namespace, old.Name = "shop", fmt.Sprintf("p-%d-%d", n, (i/nodes)%perNode)
			_ = w.admin.Delete(churn, old)
			w.pod("shop", fmt.Sprintf("c-%d", i), fmt.Sprintf("n%d", n), tolerating(seconds))
			time.Sleep(100 * time.Millisecond)
		}
	})
	due := map[int]time.Time{}
	for n := 0; n < nodes; n += 10 {
		due[n] = w.taint(fmt.Sprintf("n%d", n), true).Add(seconds * time.Second)
		time.Sleep(200 * time.Millisecond)
	}
	gone := func() (names []string) {
		for name := range pods {
			if !left.of(name).IsZero() {
				names = append(names, name)
			}
		}
		return names
	}
	w.within(20*time.Minute, "the pods leave", func() string {
		if n := len(gone()); n < len(pods) {
			return fmt.Sprintf("%d of %d have", n, len(pods))
		}
		return ""
	})
	m.took = time.Since(started)
	stop()
	churning.Wait()
	m.memory = manager.Memory().Peak
	w.evictedOnce(pods, gone()...)
	m.evicted = len(pods)
	for name := range pods {
		var n, i int
		if _, err := fmt.Sscanf(name, "p-%d-%d", &n, &i); err != nil {
			t.Fatal(err)
		}
		d := left.of(name).Sub(due[n])
		if d < 0 {
			t.Errorf("%s left %v before its deadline", name, -d)
		}
		m.late = append(m.late, d)
	}
	slices.Sort(m.late)
	for _, r := range w.requests(cluster.Filter{User: operator.User, Since: started}) {
		m.requests++
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			m.writes++
		}
	}
	server, err := cluster.MemoryOf(w.PIDs()["kube-apiserver"])
	if err != nil {
		t.Fatal(err)
	}
	m.server = server.Peak
	return m
}

// plot draws how many of 100 pods were told to leave so long after their deadline,
// a line for each size.
func plot(all []measured) string {
	const width, height, margin = 640, 320, 48
	longest := time.Second
	for i := range all {
		longest = max(longest, all[i].at(100))
	}
	colors := []string{"#1f6feb", "#d4572a", "#2d8a4e", "#8250df"}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width+2*margin, height+2*margin)
	fmt.Fprintf(&b, `<text x="%d" y="20">pods told to leave (of 100), by seconds after their deadline</text>`+"\n", margin)
	fmt.Fprintf(&b, `<path d="M%d %dV%dH%d" fill="none" stroke="#888"/>`+"\n", margin, margin, margin+height, margin+width)
	for i := range 5 {
		x, y := margin+i*width/4, margin+height-i*height/4
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%.1f</text><text x="%d" y="%d" text-anchor="end">%d</text>`+"\n", x, margin+height+18, longest.Seconds()*float64(i)/4, margin-6, y+4, i*25)
	}
	for i := range all {
		m := &all[i]
		var points []string
		for p := range 101 {
			points = append(points, fmt.Sprintf("%.1f,%.1f", margin+float64(width)*float64(m.at(p))/float64(longest), margin+float64(height)*(1-float64(p)/100)))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colors[i%len(colors)])
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" text-anchor="end">%d nodes, %d pods</text>`+"\n", margin+width, margin+height-20-18*i, colors[i%len(colors)], m.nodes, m.pods)
	}
	return b.String() + "</svg>\n"
}
