package solver_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// downloads is a source that would have to fetch its answers.
type downloads struct{}

func (downloads) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	versions := map[string]string{"app": "app 2,app 1", "lib": "lib 3,lib 2,lib 1", "lib < 3": "lib 2,lib 1"}
	all := make([][]solver.Candidate, len(needs))
	for i, need := range needs {
		for name := range strings.SplitSeq(versions[need], ",") {
			all[i] = append(all[i], solver.Candidate{Name: name, Slot: strings.Fields(name)[0]})
		}
	}
	return all, nil
}

func (downloads) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, name := range candidates {
		fmt.Println("download", name)
		if strings.HasPrefix(name, "app") {
			all[i].Needs = []string{"lib < 3"}
		}
	}
	return all, nil
}

// The needs of a version are known only once it has been downloaded. Only
// versions that are selected, or that fail, are downloaded.
func ExampleLazy_Solve() {
	l := solver.NewLazy(downloads{})
	s, err := l.Solve(context.Background(), []string{"app", "lib"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range s.Selected() {
		fmt.Println(s.Problem().Name(v))
	}
	// Output:
	// download app 2
	// download lib 2
	// app 2
	// lib 2
}
