package solver_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// What would be installed if the newest version were withdrawn, and what if the
// cache were also wanted?
func ExampleSession_Solve() {
	var p solver.Problem
	app, cache := p.Var("app"), p.Var("cache")
	app3, app2, app1 := p.Var("app 3"), p.Var("app 2"), p.Var("app 1")
	p.Require(app, nil)
	p.Depend(app, []solver.Var{app3, app2, app1}, nil)
	p.Exclude(app2, cache, nil)
	p.Exclude(app3, cache, nil)

	session, err := solver.NewSession(&p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range []*solver.WhatIf{
		nil,
		{Forbid: []solver.Var{app3}},
		{Require: []solver.Var{cache}},
	} {
		s, err := session.Solve(context.Background(), w)
		if err != nil {
			fmt.Println(err)
			return
		}
		var names []string
		for v := range s.Selected() {
			names = append(names, p.Name(v))
		}
		fmt.Println(strings.Join(names, ", "))
	}
	// Output:
	// app, app 3
	// app, app 2
	// app, cache, app 1
}
