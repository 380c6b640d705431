package diagnosis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
)

// manyNodes is a cluster in the middle of an update of its workers, with budgets that never allow an
// eviction, nodes that are down or cordoned, pods that fail, that have no room, or that wait for a
// cordoned node, and operators that are degraded.
func manyNodes(nodes, podsEach int) string {
	var b strings.Builder
	b.WriteString("version 4.19.8 4.19.12 since=2h done\noperator etcd\npool worker max=50\n")
	for i := range nodes * 3 / 50 {
		state := ""
		if i%40 == 1 {
			state = fmt.Sprintf(" degraded=something_failed_%d", i)
		}
		fmt.Fprintf(&b, "operator op-%d%s\n", i, state)
	}
	for i := range nodes / 100 {
		fmt.Fprintf(&b, "node c-%d cpu=256 cordoned\npod shop/big-%d of=ReplicaSet/big%d app=big cpu=200\npod shop/huge-%d of=ReplicaSet/huge%d app=huge cpu=1000\n", i, i, i, i, i)
	}
	for i := range nodes {
		extra := " old"
		switch {
		case i%500 == 7:
			extra = " old silent=2h"
		case i%100 == 3:
			extra = " old draining"
		case i%3 == 0:
			extra = ""
		}
		fmt.Fprintf(&b, "node w-%d pool=worker cpu=64%s\n", i, extra)
		for k := range podsEach {
			app := fmt.Sprintf("a%d", (i*podsEach+k)/3)
			state := ""
			if (i+k)%997 == 0 {
				state = " waiting=CrashLoopBackOff"
			}
			fmt.Fprintf(&b, "pod shop/%s-%d node=w-%d of=ReplicaSet/%s app=%s cpu=1%s\n", app, k, i, app, app, state)
		}
	}
	for i := range nodes / 5 {
		fmt.Fprintf(&b, "budget shop/a%d app=a%d min=%d\n", i*10, i*10, 1+i%2*2)
	}
	return b.String()
}

func BenchmarkDiagnose(b *testing.B) {
	for _, size := range [][2]int{{50, 30}, {long.N(500, 5_000), 30}} {
		w, err := testWorld(manyNodes(size[0], size[1]))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dNodes%dPods", size[0], size[0]*size[1]), func(b *testing.B) {
			for b.Loop() {
				diagnose(w)
			}
		})
	}
}
