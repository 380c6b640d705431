package machine

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// Limits of a text without -v.
const (
	mostMachines = 10 // machines that are blocked
	mostWaits    = 5  // waits of a machine
	mostNames    = 3  // names of similar objects
)

// explanations prints explanations as text, with what the diagnosis says about them. Of many machines, those that are blocked are
// grouped by cause, and only the first are explained in full.
func explanations(w io.Writer, all []machines.Explanation, why *diagnosing.Advice, o *options) {
	blocked := 0
	for i := range all {
		if len(all[i].Blocked) > 0 {
			blocked++
		}
	}
	brief := !o.all && o.order == nil && len(all) > mostMachines
	if brief {
		words.Fprintf(w, "%s, %d of them blocked\n", words.Count(len(all), "machine", "machines"), blocked)
		causes(w, all)
	}
	if len(all) > 1 && why.Some() {
		why.Tell(w, o.all)
	}
	if brief || len(all) > 1 && why.Some() {
		fmt.Fprintln(w)
	}
	told := 0
	for i := range all {
		if brief && (len(all[i].Blocked) == 0 || told == mostMachines) {
			continue
		}
		if told > 0 {
			fmt.Fprintln(w)
		}
		if len(all) > 1 {
			explainedText(w, &all[i], nil, o)
		} else {
			explainedText(w, &all[i], why, o)
		}
		told++
	}
	if told < len(all) {
		words.Fprintf(w, "\n%s; -v shows each, -machine NAME one of them\n", words.Count(len(all)-told, "more machine", "more machines"))
	}
}

// causes prints what blocks machines, grouped by cause.
func causes(w io.Writer, all []machines.Explanation) {
	list := machines.Causes(all)
	for i, k := range list {
		if i == mostMachines && len(list) > i+1 {
			fmt.Fprintf(w, "  and %d more causes\n", len(list)-i)
			break
		}
		text := k.First.Reason
		if k.First.Owner != "" {
			text += " of " + k.First.Owner
		}
		var names []string
		for _, m := range k.Machines {
			names = append(names, all[m].Machine)
		}
		page.Fold(w, "  ", text+": "+some(names))
	}
}

// some lists the first of many names.
func some(names []string) string {
	if len(names) <= mostNames+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

// next returns what a controller does next. Many evictions are merged.
func next(x *machines.Explanation, all bool) []string {
	if all || len(x.Evict) <= mostNames {
		return x.Next
	}
	var list []string
	for _, n := range x.Next {
		switch {
		case !strings.HasPrefix(n, "evict pod "):
			list = append(list, n)
		case n == "evict pod "+x.Evict[0]:
			list = append(list, fmt.Sprintf("evict %d pods: %s", len(x.Evict), some(x.Evict)))
		}
	}
	return list
}

// age formats an elapsed time: after three days in days.
func age(d time.Duration) string {
	if days := int(d / (24 * time.Hour)); days >= 3 {
		return fmt.Sprintf("%d days", days)
	}
	return d.Round(time.Second).String()
}

// explainedText prints an explanation as text, with what the diagnosis says.
func explainedText(w io.Writer, x *machines.Explanation, why *diagnosing.Advice, o *options) {
	now := o.at
	ago := func(t time.Time) string {
		if t.After(now) {
			return t.Format(time.RFC3339)
		}
		return fmt.Sprintf("%s (%s)", t.Format(time.RFC3339), age(now.Sub(t)))
	}
	head := "machine " + x.Machine
	if x.Node != "" {
		head += ", node " + x.Node
	}
	if x.Deleting.IsZero() {
		page.Fold(w, "", head+": not being deleted")
	} else {
		page.Fold(w, "", head+": being deleted since "+ago(x.Deleting))
	}
	why.Tell(w, o.all)
	for _, h := range x.Hooks {
		page.Fold(w, "  hook   ", h)
	}
	for _, c := range x.Causes {
		sure := "likely"
		if c.Sure {
			sure = "certain"
		}
		page.Fold(w, "  why    ", fmt.Sprintf("%s (%s): %s", c.Trigger, sure, c.Text))
	}
	if x.Stage != "" {
		words.Fprintf(w, "  stage  %s\n", x.Stage)
	}
	for _, r := range x.Reported {
		page.Fold(w, "  says   ", r)
	}
	if x.Drained != "" {
		page.Fold(w, "  drain  ", x.Drained)
	}
	waits := x.Waits(o.all)
	for i, wait := range waits {
		if more := len(waits) - i; !o.all && i == mostWaits && more > 1 {
			fmt.Fprintf(w, "  waits  and for %d more things; -v lists them\n", more)
			break
		}
		b := wait.Block
		page.Fold(w, "  waits  ", b.Reason+": "+b.Message)
		if len(wait.Also) > 0 {
			page.Fold(w, "         also     ", some(wait.Also))
		}
		if b.Owner != "" {
			page.Fold(w, "         owner    ", b.Owner)
		}
		if !b.Since.IsZero() {
			page.Fold(w, "         since    ", ago(b.Since))
		}
		page.Fold(w, "         unblock  ", b.Unblock)
	}
	for _, n := range next(x, o.all) {
		page.Fold(w, "  next   ", n)
	}
	for _, u := range x.Unknown {
		page.Fold(w, "  note   ", u)
	}
	if len(x.Blocked) == 0 && len(x.Next) == 0 && !x.Deleting.IsZero() {
		fmt.Fprintln(w, "  nothing blocks it")
	}
}
