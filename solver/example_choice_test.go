package solver_test

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/solver"
)

// A web shop needs a database, the newer the better. The newest one needs more
// storage than there is.
func ExampleSolve() {
	var p solver.Problem
	shop, storage := p.Var("shop"), p.Var("storage 3")
	db3, db2, db1 := p.Var("db 3"), p.Var("db 2"), p.Var("db 1")

	p.Require(shop, solver.Text("you asked for it"))
	p.Depend(shop, []solver.Var{db3, db2, db1}, nil)
	p.Depend(db3, []solver.Var{storage}, nil)
	p.Forbid(storage, solver.Text("the cluster has storage 2"))

	s, err := solver.Solve(context.Background(), &p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range s.Selected() {
		fmt.Println(p.Name(v))
	}
	refusal, err := s.WhyNot(context.Background(), db3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(refusal)
	// Output:
	// shop
	// db 2
	// db 3 would be preferred to db 2, but these cannot be met together:
	// db 3 is tried
	// └─ db 3 needs storage 3
	//    └─ storage 3 is not allowed: the cluster has storage 2
}
