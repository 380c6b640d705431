package payload_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/samples"
)

// level makes tasks of some runlevels with some components each, one manifest a
// component.
func level(runlevels, components int) []*payload.Manifest {
	tasks := make([]*payload.Manifest, 0, runlevels*components)
	for l := range runlevels {
		for c := range components {
			file := fmt.Sprintf("release-manifests/0000_%02d_component-%03d_00_config.yaml", l, c)
			m := &payload.Manifest{File: file, ID: payload.ID{Kind: "ConfigMap", Name: file}}
			m.Name, _ = payload.ParseFileName(file[len("release-manifests/"):])
			tasks = append(tasks, m)
		}
	}
	return tasks
}

// BenchmarkGraph orders 1,000 manifests: 40 runlevels of 25 components. With
// names it reads the names of the files, too, as the reference does each time.
func BenchmarkGraph(b *testing.B) {
	tasks := level(40, 25)
	b.Run("1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			payload.NewGraph(tasks, nil)
		}
	})
	b.Run("1000 with names", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, m := range tasks {
				m.Name, _ = payload.ParseFileName(m.File[len("release-manifests/"):])
			}
			payload.NewGraph(tasks, nil)
		}
	})
}

// BenchmarkRun carries out 1,000 tasks that do nothing.
func BenchmarkRun(b *testing.B) {
	g := payload.NewGraph(level(40, 25), nil)
	for _, workers := range []int{1, 16, 50} {
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := g.Start(&payload.RunOptions{Workers: workers})
				under := make([]int, 0, workers)
				for !r.Over() {
					for t, ok := r.Next(); ok; t, ok = r.Next() {
						under = append(under, t)
					}
					for _, t := range under {
						r.Done(t)
					}
					under = under[:0]
				}
				if r.Left() > 0 {
					b.Fatal("tasks are left")
				}
			}
		})
	}
}

// BenchmarkPlan plans 100,000 manifests: names, order, critical path, schedule.
func BenchmarkPlan(b *testing.B) {
	tasks := level(100, 1000)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range tasks {
			m.Name, _ = payload.ParseFileName(m.File[len("release-manifests/"):])
		}
		p := payload.NewPlan(tasks, nil)
		if p.Schedule.Total < time.Second {
			b.Fatal(p.Schedule.Total)
		}
	}
}

// BenchmarkLoad reads the real payload, and picks what belongs to a cluster.
func BenchmarkLoad(b *testing.B) {
	fsys := os.DirFS(samples.Data(b, "payload"))
	b.ReportAllocs()
	for b.Loop() {
		p, err := payload.Load(fsys, nil)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(p.Select(nil).Tasks); n != 910 {
			b.Fatal(n)
		}
	}
}
