package diagnosis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
)

// trouble is a random cluster with causes that were put into it.
type trouble struct {
	r      *rand.Rand
	b      strings.Builder
	want   map[string]bool // IDs of the causes
	nodes  int
	pods   int
	update bool
	failed []string // what operators report
	refuse bool
	paused bool
	short  bool // a node of the control plane is down
}

// randomTrouble makes a cluster of up to eight workers and two applications on them, in the middle
// of an update of the workers or at rest, with one to five causes, each of another kind.
func randomTrouble(seed uint64) *trouble {
	t := &trouble{r: rand.New(rand.NewPCG(seed, 1)), want: map[string]bool{}}
	t.update = t.r.IntN(2) == 0
	t.nodes = 4 + t.r.IntN(5)
	kinds := []func(){t.nodeDown, t.cordoned, t.budget, t.noRoom, t.finalizer, t.hook, t.pool, t.gate, t.webhook, t.crash, t.image, t.late, t.job, t.catalog, t.groups, t.approval, t.lease, t.quorum, t.risk, t.channel, t.resize}
	var causes strings.Builder
	for _, k := range t.r.Perm(len(kinds))[:1+t.r.IntN(5)] {
		kinds[k]()
	}
	causes.WriteString(t.b.String())
	t.b.Reset()
	if t.frame(); t.want["lease/kube-system/kube-controller-manager"] {
		delete(t.want, "cronjob/shop/report") // which waits for that
	}
	t.b.WriteString(causes.String())
	return t
}

// frame writes the cluster itself.
func (t *trouble) frame() {
	refused := ""
	if t.refuse {
		refused = " refused=4.19.13:RetrievePayload:The_update_cannot_be_verified:_unable_to_verify"
	}
	fmt.Fprintf(&t.b, "version 4.19.8 4.19.12 since=2h done%s\n", refused)
	t.b.WriteString("operator etcd\noperator machine-config\n")
	for _, f := range t.failed {
		t.b.WriteString(f + "\n")
	}
	paused := ""
	if t.paused {
		paused = " paused"
	}
	fmt.Fprintf(&t.b, "pool master\npool worker max=2%s\n", paused)
	for i := range 3 {
		silent := ""
		if i == 2 && t.short {
			silent = " silent=40m"
		}
		fmt.Fprintf(&t.b, "node m-%d pool=master%s\n", i, silent)
	}
	for i := range t.nodes {
		old := ""
		if t.update && i > 0 || t.paused {
			old = " old"
		}
		fmt.Fprintf(&t.b, "node w-%d pool=worker%s cpu=8\n", i, old)
	}
	if t.r.IntN(2) == 0 { // as somebody wants it
		t.b.WriteString("cronjob shop/archive suspended\n")
	}
	for _, app := range []string{"web", "api"} {
		for i := range 3 {
			fmt.Fprintf(&t.b, "pod shop/%s-%d node=w-%d of=ReplicaSet/%s app=%s cpu=1\n", app, i, i%t.nodes, app, app)
		}
		fmt.Fprintf(&t.b, "budget shop/%s app=%s min=1\nreplicas ReplicaSet/shop/%s 3\n", app, app, app)
	}
}

// pod returns a name that is not taken.
func (t *trouble) pod() string { t.pods++; return fmt.Sprintf("x%d", t.pods) }

func (t *trouble) nodeDown() {
	fmt.Fprintf(&t.b, "node down pool=worker silent=%dm\npod shop/down-0 node=down of=ReplicaSet/down app=down notready\n", 31+t.r.IntN(300))
	t.want["node/down"] = true
}

func (t *trouble) cordoned() {
	p := t.pod()
	fmt.Fprintf(&t.b, "node shut cordoned cpu=64\npod shop/%s of=ReplicaSet/%s app=%s cpu=32\n", p, p, p)
	t.want["node/shut"] = true
}

func (t *trouble) budget() {
	p := t.pod()
	fmt.Fprintf(&t.b, "node drained-%s pool=worker old draining cpu=8\npod shop/%s node=drained-%s of=ReplicaSet/%s app=%s\nbudget shop/%s app=%s max=0\nreplicas ReplicaSet/shop/%s 1\n", p, p, p, p, p, p, p, p)
	t.want["poddisruptionbudget/shop/"+p] = true
}

func (t *trouble) noRoom() {
	p := t.pod()
	fmt.Fprintf(&t.b, "pod shop/%s of=ReplicaSet/%s app=%s cpu=100\n", p, p, p)
	t.want["pod/shop/"+p] = true
}

func (t *trouble) finalizer() {
	p := t.pod()
	fmt.Fprintf(&t.b, "pod shop/%s node=w-0 of=ReplicaSet/%s app=%s deleted=2h finalizer=example.com/hold notready\n", p, p, p)
	t.want["pod/shop/"+p] = true
}

func (t *trouble) hook() {
	t.b.WriteString("node ends cpu=8\nmachine api/m-ends node=ends deleted=1h hook=Backup\n")
	t.want["machine/api/m-ends#HookPendingBackup"] = true
}

func (t *trouble) pool() {
	t.paused = true
	t.want["machineconfigpool/worker"] = true
}

func (t *trouble) gate() {
	t.refuse = true
	t.want["update/4.19.13"] = true
}

func (t *trouble) webhook() {
	t.failed = append(t.failed, `operator monitoring degraded=failed_calling_webhook_"x":_Post_"https://hook.policy.svc:443/":_no_endpoints_available_for_service_"hook"`)
	t.want["service/policy/hook"] = true
}

func (t *trouble) crash() {
	p := t.pod()
	fmt.Fprintf(&t.b, "pod shop/%s node=w-0 of=ReplicaSet/%s app=%s waiting=CrashLoopBackOff\n", p, p, p)
	t.want["pod/shop/"+p] = true
}

func (t *trouble) image() {
	p := t.pod()
	fmt.Fprintf(&t.b, "pod shop/%s node=w-1 of=ReplicaSet/%s app=%s waiting=ErrImagePull says=pulling_image_\"r.example/%s:1\":_manifest_unknown\n", p, p, p, p)
	t.want["pod/shop/"+p] = true
}

func (t *trouble) late() {
	t.b.WriteString("cronjob shop/report ran=3h\n")
	t.want["cronjob/shop/report"] = true
}

func (t *trouble) job() {
	t.b.WriteString("job shop/migrate failed\n")
	t.want["job/shop/migrate"] = true
}

func (t *trouble) catalog() {
	t.b.WriteString("catalog index down\ngroup ops/g\nsubscription ops/a catalog=index\nsubscription ops/b catalog=index\n")
	t.want["catalogsource/marketplace/index#CatalogSourcesUnhealthy"] = true
}

func (t *trouble) groups() {
	t.b.WriteString("catalog other in=own\ngroup own/a\ngroup own/b\nsubscription own/c catalog=other\n")
	t.want["operatorgroup/own/b#TooManyOperatorGroups"] = true
}

func (t *trouble) approval() {
	t.b.WriteString("catalog third in=apps\ngroup apps/g\nsubscription apps/s catalog=third plan=install-1\ninstallplan apps/install-1 csv=s.v1\n")
	t.want["installplan/apps/install-1#RequiresApproval"] = true
}

func (t *trouble) lease() {
	t.b.WriteString("lease kube-system/kube-controller-manager renewed=2h\nlease kube-node-lease/w-0 renewed=10s\n")
	t.want["lease/kube-system/kube-controller-manager"] = true
}

// risk is a conditional update that somebody wants. What else is wrong does not stop it.
func (t *trouble) risk() {
	t.b.WriteString("wanted 4.19.14 risk=SlowDNS\n")
	t.want["update/4.19.14#RiskAppliesSlowDNS"] = true
}

func (t *trouble) channel() {
	t.b.WriteString("catalog fourth in=gone\ngroup gone/g\npackage s catalog=fourth in=gone fast:s.v2,s.v1\nsubscription gone/s catalog=fourth channel=old failed=ConstraintsNotSatisfiable:constraints_not_satisfiable:_no_operators_found_in_channel_old_of_package_s_in_the_catalog_referenced_by_subscription_s\n")
	t.want["subscription/gone/s#ConstraintsNotSatisfiable"] = true
}

func (t *trouble) resize() {
	t.b.WriteString("claim shop/data resizing=2h\n")
	t.want["persistentvolumeclaim/shop/data"] = true
}

func (t *trouble) quorum() {
	t.short = true
	t.want["node/m-2"] = true
}

// TestRandomTroubles: in at least 98 of 100 clusters in trouble each cause that was put in is
// named, nothing else is called a cause, and nothing is stuck after the steps. What a tried step
// says that it frees is freed when the steps are played again, one by one.
func TestRandomTroubles(t *testing.T) {
	n := long.N(200, 20_000)
	bad, tried, assumed := 0, 0, 0
	for seed := range n {
		x := randomTrouble(uint64(seed))
		w, err := testWorld(x.b.String())
		if err != nil {
			t.Fatal(err)
		}
		d := diagnose(w)
		var got []string
		for i := range d.Causes {
			got = append(got, d.Causes[i].Nodes...)
		}
		slices.Sort(got)
		var want []string
		for id := range x.want {
			want = append(want, id)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) || !d.Rest {
			if bad++; bad <= 3 {
				t.Logf("seed %d: causes %v, want %v, nothing is stuck after the steps: %v\n%s", seed, got, want, d.Rest, x.b.String())
			}
		}
		for _, s := range d.Steps {
			if s.Tried {
				tried++
			} else {
				assumed++
			}
		}
		played(t, w, d)
	}
	t.Logf("%d clusters: %d wrong; %d steps tried, %d assumed", n, bad, tried, assumed)
	if bad*50 > n {
		t.Errorf("%d of %d clusters are diagnosed wrongly: more than 2 of 100", bad, n)
	}
}

// TestStepOrders plays the steps of small clusters in every order: each order frees the same in the end,
// and no other step that is not about data in danger frees more when it is done first.
func TestStepOrders(t *testing.T) {
	n, later := long.N(60, 2000), 0
	for seed := range n {
		x := randomTrouble(uint64(seed) + 1<<32)
		w, err := testWorld(x.b.String())
		if err != nil {
			t.Fatal(err)
		}
		d := diagnose(w)
		if len(d.Steps) > 4 {
			continue
		}
		alone := func(i int) int {
			_, g, ok := playStep(w, &d.Graph, &d.Graph, &d.Steps[i])
			if !ok {
				return 0
			}
			return len(freed(&d.Graph, d.Causes, g))
		}
		for i := range d.Steps {
			if i > 0 && !d.Graph.Node(d.Steps[0].Object).Danger && alone(i) > alone(0) {
				later++
				t.Logf("seed %d: %q frees %d, and %q, which comes first, %d", seed, d.Steps[i].Do, alone(i), d.Steps[0].Do, alone(0))
				break
			}
		}
		orders(len(d.Steps), func(order []int) {
			graph, now := &d.Graph, w
			for _, i := range order {
				if after, g, ok := playStep(now, &d.Graph, graph, &d.Steps[i]); ok {
					graph, now = g, after
				}
			}
			if left := Stuck(graph.Causes()); d.Rest && len(left) > 0 {
				t.Fatalf("seed %d, order %v of %d steps: %v is left\n%s", seed, order, len(d.Steps), left, x.b.String())
			}
		})
	}
	if later*50 > n {
		t.Errorf("in %d of %d clusters another first step frees more", later, n)
	}
}

// orders calls f with every order of n things.
func orders(n int, f func([]int)) {
	var order []int
	var next func()
	next = func() {
		if len(order) == n {
			f(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				next()
				order = order[:len(order)-1]
			}
		}
	}
	next()
}

// playStep plays a step of a diagnosis in a world with a graph; false if its cause is gone, or it cannot be.
func playStep(w *world, first, graph *Graph, s *Step) (*world, *Graph, bool) {
	if graph.Node(s.Object) == nil {
		return nil, nil, false
	}
	for _, r := range w.remedies(graph, s.Object) {
		if r.Do == s.Do {
			return w.try(first, graph, s.Object, &r)
		}
	}
	return nil, nil, false
}

// played plays the steps again and compares what each frees.
func played(t *testing.T, w *world, d *Diagnosis) {
	graph, now := &d.Graph, w
	for i := range d.Steps {
		s := &d.Steps[i]
		found := false
		for _, r := range now.remedies(graph, s.Object) {
			if r.Do != s.Do {
				continue
			}
			after, g, ok := now.try(&d.Graph, graph, s.Object, &r)
			if !ok {
				t.Fatalf("step %q cannot be played", s.Do)
			}
			stuck := Stuck(g.Causes())
			for _, id := range s.Frees {
				if slices.Contains(stuck, id) {
					t.Fatalf("step %q does not free %s", s.Do, id)
				}
			}
			graph, now, found = g, after, true
			break
		}
		if !found {
			t.Fatalf("step %q is no remedy", s.Do)
		}
	}
}
