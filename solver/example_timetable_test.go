package solver_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/solver"
)

// A slot is a room at an hour. It is a custom reason, which also says what can
// be done about it.
type slot struct{ room, hour string }

func (s slot) String() string { return s.room + " holds one course at " + s.hour }

func (s slot) Advice() (string, int) {
	return "find a second room like " + s.room + " at " + s.hour, 30
}

// A timetable of three courses, two of which have the same teacher. Rooms and
// hours are preferred in the order in which they are listed.
func Example_timetable() {
	ctx := context.Background()
	teachers := map[string]string{"algebra": "Noether", "rings": "Noether", "chemistry": "Curie"}
	rooms := map[string][]string{"algebra": {"hall", "attic"}, "rings": {"hall", "attic"}, "chemistry": {"hall"}}

	timetable := func(hours ...string) (*solver.Problem, error) {
		p := &solver.Problem{}
		busy := make(map[slot][]solver.Var)      // by room and hour
		teaches := make(map[string][]solver.Var) // by teacher and hour
		for _, course := range []string{"algebra", "rings", "chemistry"} {
			var choices []solver.Lit
			for _, hour := range hours {
				for _, room := range rooms[course] {
					v := p.Var(course + " in the " + room + " at " + hour)
					choices = append(choices, v.Yes())
					busy[slot{room, hour}] = append(busy[slot{room, hour}], v)
					at := teachers[course] + " at " + hour
					teaches[at] = append(teaches[at], v)
				}
			}
			p.Any(choices, solver.Advised(course+" has to take place", "give up that "+course+" has to take place", 1))
		}
		for _, hour := range hours {
			for _, room := range []string{"hall", "attic"} {
				p.Limit(1, busy[slot{room, hour}], slot{room, hour})
			}
			for _, teacher := range []string{"Curie", "Noether"} {
				p.Limit(1, teaches[teacher+" at "+hour], solver.Text(teacher+" gives one course at a time"))
			}
		}
		s, err := solver.Solve(ctx, p, nil)
		if err == nil {
			for v := range s.Selected() {
				fmt.Println(p.Name(v))
			}
		}
		return p, err
	}

	if _, err := timetable("nine", "ten"); err != nil {
		fmt.Println(err)
	}

	fmt.Println("and in one hour?")
	_, err := timetable("nine")
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		why, err := unsat.Explain(ctx, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(why)
	}
	// Output:
	// algebra in the hall at nine
	// rings in the attic at ten
	// chemistry in the hall at ten
	// and in one hour?
	// These cannot be met together:
	// algebra has to take place (algebra in the hall at nine or algebra in the attic at nine)
	// rings has to take place (rings in the hall at nine or rings in the attic at nine)
	// └─ at most 1 of algebra in the hall at nine, algebra in the attic at nine, rings in the hall at nine and rings in the attic at nine: Noether gives one course at a time
	// What would help:
	// - give up that algebra has to take place
	// - or give up that rings has to take place
}
