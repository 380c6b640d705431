package pubgrub

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// A snapshot is a registry as resolvo reads it (its DependencySnapshot): versions,
// sets of them and packages, identified by their positions.
type snapshot struct {
	Solvables []solvable   `json:"solvables"`
	Sets      []versionSet `json:"version_sets"`
	Packages  []pkg        `json:"packages"`
}

type solvable struct {
	Display      string       `json:"display"`
	Name         int          `json:"name"`
	Order        int          `json:"order"` // among those of its package, from the most preferred
	Dependencies dependencies `json:"dependencies"`
	Available    bool         `json:"hint_dependencies_available"`
}

type dependencies struct {
	Requirements []single `json:"requirements"`
}

type single struct {
	Single int // a set
}

type versionSet struct {
	Name     int    `json:"name"`
	Display  string `json:"display"`
	Matching []int  `json:"matching_candidates"`
}

type pkg struct {
	Name      string `json:"name"`
	Solvables []int  `json:"solvables"`
}

// snapshotOf returns the registry; set number i has version number i alone.
func snapshotOf(all []version) *snapshot {
	s := &snapshot{}
	number := make(map[int]int) // by package
	name := func(of int) int {
		if _, ok := number[of]; !ok {
			number[of] = len(s.Packages)
			s.Packages = append(s.Packages, pkg{Name: fmt.Sprintf("p%d", of), Solvables: []int{}})
		}
		return number[of]
	}
	for i, v := range all {
		at := name(v.pkg)
		s.Packages[at].Solvables = append(s.Packages[at].Solvables, i)
		s.Sets = append(s.Sets, versionSet{at, fmt.Sprint(v.number), []int{i}})
	}
	for _, v := range all {
		order := 0
		for _, k := range s.Packages[number[v.pkg]].Solvables {
			if all[k].number > v.number {
				order++
			}
		}
		own := solvable{Display: fmt.Sprintf("p%d %d", v.pkg, v.number), Name: number[v.pkg], Order: order, Available: true}
		own.Dependencies.Requirements = []single{}
		for _, n := range v.needs {
			set := versionSet{Name: name(n.pkg), Display: fmt.Sprint(n.ranges), Matching: []int{}}
			for _, k := range s.Packages[set.Name].Solvables {
				if slices.ContainsFunc(n.ranges, func(r [2]int) bool { return r[0] <= all[k].number && all[k].number < r[1] }) {
					set.Matching = append(set.Matching, k)
				}
			}
			own.Dependencies.Requirements = append(own.Dependencies.Requirements, single{len(s.Sets)})
			s.Sets = append(s.Sets, set)
		}
		s.Solvables = append(s.Solvables, own)
	}
	s.Sets = append(s.Sets, versionSet{Display: "none", Matching: []int{}}) // resolvo takes the last one for one that was added later
	return s
}

// TestSnapshot: a need is a set of the versions in its ranges.
func TestSnapshot(t *testing.T) {
	all, err := read("{0: {1: {7: [(1, Some(3)), (5, None)]}, 2: {}}, 7: {2: {}, 4: {}, 9: {}},}")
	if err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(all)
	need := s.Solvables[0].Dependencies.Requirements
	if len(need) != 1 || fmt.Sprint(s.Sets[need[0].Single].Matching) != "[2 4]" || s.Solvables[0].Order != 1 || s.Solvables[4].Order != 0 {
		t.Errorf("%+v", s)
	}
}

// askResolvo asks resolvo the same questions, in as many rounds.
func askResolvo(t testing.TB, all []version, rounds int) (yes int, ns float64) {
	program := os.Getenv("FAIRLEAD_RESOLVO")
	if program == "" {
		t.Skip("FAIRLEAD_RESOLVO does not name the program")
	}
	text, err := json.Marshal(snapshotOf(all))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "snapshot.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, name, strconv.Itoa(len(all)), strconv.Itoa(rounds)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var questions int
	if _, err := fmt.Sscan(string(out), &questions, &yes, &ns); err != nil || questions != len(all) {
		t.Fatalf("%v: %s", err, out)
	}
	return yes, ns
}
