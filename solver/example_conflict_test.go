package solver_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fairlead/fairlead/solver"
)

// Two required programs need different versions of the same library.
func ExampleUnsatError_Explain() {
	var p solver.Problem
	menu, icons := p.Var("menu"), p.Var("icons")
	menu15, menu14 := p.Var("menu 1.5"), p.Var("menu 1.4")
	lib2, lib1 := p.Var("lib 2"), p.Var("lib 1")

	p.Require(menu, nil)
	p.Require(icons, nil)
	p.Depend(menu, []solver.Var{menu15, menu14}, nil)
	p.Depend(menu15, []solver.Var{lib2}, nil)
	p.Depend(menu14, []solver.Var{lib2}, nil)
	p.Depend(icons, []solver.Var{lib1}, nil)
	p.Limit(1, []solver.Var{lib2, lib1}, solver.Text("there can be only one lib"))

	_, err := solver.Solve(context.Background(), &p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		fmt.Println(err)
		return
	}
	why, err := unsat.Explain(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	why.WriteText(os.Stdout)
	// Output:
	// These cannot be met together:
	// menu is required
	// └─ menu needs menu 1.5 or menu 1.4
	//    └─ menu 1.5 and menu 1.4 need lib 2
	// icons is required
	// └─ icons needs lib 1
	//    └─ at most 1 of lib 2 and lib 1: there can be only one lib
	// What would help:
	// - do not require menu
	// - or do not require icons
}
