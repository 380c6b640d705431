// Quickstart tells a short story with a small catalog of operators: it opens the
// catalog, resolves a subscription with its requirements, requests something
// impossible, validates a draft, installs and updates an operator, deletes a
// machine, asks which pods can run where, and updates a cluster to its next
// release. It needs no network and no files.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/solver/olm"
)

//go:embed catalog draft all:releases
var embedded embed.FS

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// tell writes the story.
func tell(ctx context.Context, w io.Writer) error {
	files, err := fs.Sub(embedded, "catalog")
	if err != nil {
		return err
	}
	harbour, err := catalog.Open(ctx, files, nil)
	if err != nil {
		return err
	}
	listCatalog(w, harbour)

	resolver, err := olm.NewResolver([]olm.Source{
		{SourceKey: olm.SourceKey{Name: "harbour"}, Catalog: harbour},
	}, nil)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		title         string
		subscriptions []string
	}{
		{"2. You subscribe to lighthouse. What would be installed, and why?", []string{"lighthouse"}},
		{"3. You also subscribe to regatta, which wants the next tide", []string{"lighthouse", "regatta"}},
		{"4. Museum and regatta cannot both be installed. Why, and what would help?", []string{"museum", "regatta"}},
	} {
		fmt.Fprintf(w, "\n%s\n\n", c.title)
		if err := resolve(ctx, w, resolver, c.subscriptions...); err != nil {
			return err
		}
	}
	if err := judge(ctx, w); err != nil {
		return err
	}
	fmt.Fprint(w, "\n6. Install lighthouse at an old version, and let it be updated\n\n")
	if err := installAndUpdate(ctx, w, resolver); err != nil {
		return err
	}
	fmt.Fprint(w, "\n7. Delete a machine whose node must not be drained at once\n\n")
	if err := deleteMachine(ctx, w); err != nil {
		return err
	}
	fmt.Fprint(w, "\n8. Nodes have taints. Which pods do they take, and which must leave?\n\n")
	if err := placeAndEvict(w); err != nil {
		return err
	}
	fmt.Fprint(w, "\n9. Take the whole cluster to its next release\n\n")
	return updateCluster(ctx, w)
}

// judge validates a draft with two mistakes.
func judge(ctx context.Context, w io.Writer) error {
	files, err := fs.Sub(embedded, "draft")
	if err != nil {
		return err
	}
	_, report, err := check.Open(ctx, files, nil)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n5. You write a catalog of your own. Is it valid?\n\n")
	for _, found := range report.Findings() {
		indent(w, found.Error())
	}
	return nil
}

func listCatalog(w io.Writer, c *catalog.Catalog) {
	fmt.Fprint(w, "1. A catalog, as its authors wrote it: YAML and JSON, a folder a package\n\n")
	for p := range c.Packages() {
		for ch := range p.Channels() {
			note := ""
			if ch.Name() == p.DefaultChannel() {
				note = "  (default)"
			}
			fmt.Fprintf(w, "   %-11s %-8s", p.Name(), ch.Name())
			for _, e := range ch.Entries() {
				fmt.Fprintf(w, " %s", e.Name)
			}
			fmt.Fprintln(w, note)
		}
	}
}

// subscribe returns a request with one subscription for each package.
func subscribe(packages ...string) *olm.Request {
	req := &olm.Request{}
	for _, name := range packages {
		req.Subscriptions = append(req.Subscriptions, olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: name},
			Spec:       olm.SubscriptionSpec{Package: name},
		})
	}
	return req
}

func resolve(ctx context.Context, w io.Writer, r *olm.Resolver, packages ...string) error {
	plan, err := r.Resolve(ctx, subscribe(packages...))
	var unsat *olm.UnsatError
	if errors.As(err, &unsat) {
		explanation, err := unsat.Explain(ctx)
		indent(w, fmt.Sprint(explanation))
		return err
	}
	if err != nil {
		return err
	}
	for _, c := range plan.Chosen {
		fmt.Fprintf(w, "   %-18s from channel %s\n", c.Name, c.Channel)
		for _, s := range c.Subscriptions {
			fmt.Fprintf(w, "      because subscription %s asks for it\n", s)
		}
		for _, need := range c.RequiredBy {
			fmt.Fprintf(w, "      because %s requires\n         %s\n", need.Operator, need.Text)
		}
	}
	for _, s := range plan.Subscriptions {
		for _, why := range s.Why {
			fmt.Fprintf(w, "\n   Not the newest of %s:\n", s.Subscription)
			indent(w, why)
		}
	}
	return nil
}

// indent writes text in lines of at most 80 columns, with the continuation lines of a
// paragraph indented deeper than its first.
func indent(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		margin := "   " + line[:len(line)-len(strings.TrimLeft(line, " "))]
		at := 0
		for i, word := range words {
			switch {
			case i == 0:
				fmt.Fprint(w, margin+word)
				at = len(margin) + len(word)
			case at+1+len(word) > 80:
				fmt.Fprint(w, "\n"+margin+"   "+word)
				at = len(margin) + 3 + len(word)
			default:
				fmt.Fprint(w, " "+word)
				at += 1 + len(word)
			}
		}
		fmt.Fprintln(w)
	}
}
