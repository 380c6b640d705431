package olm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// deadEnds returns a package of n versions in one channel that all fail late:
// each requires two operators that provide the same API.
func deadEnds(n int) string {
	var b strings.Builder
	pkg := func(name, props string, entries []string) {
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"s"}{"schema":"olm.channel","package":%q,"name":"s","entries":[%s]}`+"\n", name, name, strings.Join(entries, ","))
		if props != "" {
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":"%s.v1","image":"x","properties":[{"type":"olm.package","value":{"packageName":%q,"version":"1.0.0"}},%s]}`+"\n", name, name, name, props)
		}
	}
	pkg("x", property("olm.gvk", gvkOf("K")), []string{`{"name":"x.v1"}`})
	pkg("y", property("olm.gvk", gvkOf("K")), []string{`{"name":"y.v1"}`})
	var entries []string
	for i := 1; i <= n; i++ {
		entry := fmt.Sprintf(`{"name":"a.v%d"}`, i)
		if i > 1 {
			entry = fmt.Sprintf(`{"name":"a.v%d","replaces":"a.v%d"}`, i, i-1)
		}
		entries = append(entries, entry)
		needs := property("olm.package.required", `{"packageName":"x","versionRange":">=1.0.0"}`) + "," + property("olm.package.required", `{"packageName":"y","versionRange":">=1.0.0"}`)
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"a","name":"a.v%d","image":"x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"%d.0.0"}},%s]}`+"\n", i, i, needs)
	}
	pkg("a", "", entries)
	return b.String()
}

// TestEndsAtRandom ends the context at a random moment of every question, on
// catalogs for which the questions take long. Each ends with the error of the
// context, or was done before; the delay is logged, and must not exceed two
// seconds on any machine.
func TestEndsAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	dead := samples.Text(t, deadEnds(long.N(1000, 10_000)))
	chained := samples.Text(t, chainedPackages(120, 20))
	fresh := func(ends bool) (*olm.Resolver, *olm.Request) {
		held, c := chained, &olm.Case{}
		for i := range 40 {
			c.Subscriptions = append(c.Subscriptions, fmt.Sprintf("p%03d", 119-i))
		}
		if ends {
			held, c = dead, &olm.Case{Subscriptions: []string{"a"}}
		}
		resolver, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		req, err := resolver.Request("", c)
		if err != nil {
			t.Fatal(err)
		}
		return resolver, req
	}
	stages := []struct {
		name string
		ends bool
		do   func(ctx context.Context, r *olm.Resolver, req *olm.Request) error
	}{
		{"resolve", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.Resolve(ctx, req)
			return err
		}},
		{"resolve dead ends", true, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.Resolve(ctx, req)
			return err
		}},
		{"explain", true, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.Resolve(ctx, req)
			var unsat *olm.UnsatError
			if errors.As(err, &unsat) {
				_, err = unsat.Explain(ctx)
			}
			return err
		}},
		{"why not", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.WhyNot(ctx, req, "p119.v1")
			return err
		}},
		{"update only", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.UpdateOnly(ctx, req, []string{"p119"})
			return err
		}},
		{"path", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.UpgradePath(ctx, req, []olm.Target{{Package: "p119"}}, nil)
			return err
		}},
		{"namespaces", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := r.ResolveNamespaces(ctx, []*olm.Request{req})
			return err
		}},
		{"what if", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			base, err := r.Base(ctx, req)
			if err == nil {
				_, err = base.WhatIf(ctx, &olm.Supposition{Unsubscribe: []string{"p119"}})
			}
			return err
		}},
		{"impact", false, func(ctx context.Context, r *olm.Resolver, req *olm.Request) error {
			_, err := olm.Impact(ctx, r, r, []olm.Member{{Name: "m", Request: req}})
			return err
		}},
	}
	for _, stage := range stages {
		var late []time.Duration
		for range long.N(5, 100) {
			resolver, req := fresh(stage.ends)
			limit := time.Duration(r.Int64N(int64(30 * time.Millisecond)))
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			begin := time.Now()
			err := stage.do(ctx, resolver, req)
			took := time.Since(begin)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				late = append(late, took-limit)
			}
		}
		if slices.Sort(late); len(late) > 0 {
			t.Logf("%s: ended %d times, late by %v, at most %v", stage.name, len(late), late[len(late)/2], late[len(late)-1])
			if late[len(late)-1] > 2*time.Second {
				t.Errorf("%s: %v late", stage.name, late[len(late)-1])
			}
		}
	}
}
