package taints_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// FuzzParseChange: what is accepted is printed as it was and names a taint that
// the API accepts; what is not has an error that points into the text, and a fix
// that is accepted.
func FuzzParseChange(f *testing.F) {
	for _, s := range []string{"key=value:NoSchedule", "key-", "key:noexecute-", "Example.com/x:NoSchedule", "a=b=c:d:e", "-", "a=:NoExecute", "ключ=я:NoSchedule"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := taints.ParseChange(text)
		var wrong *taints.SyntaxError
		switch {
		case errors.As(err, &wrong):
			if wrong.Offset < 0 || wrong.Offset > len(text) || wrong.Text != text || wrong.Error() == "" {
				t.Fatalf("%q: %+v", text, wrong)
			}
			if wrong.Fix != "" {
				if _, err := taints.ParseChange(wrong.Fix); err != nil {
					t.Fatalf("%q: the fix %q: %v", text, wrong.Fix, err)
				}
			}
		case err != nil:
			t.Fatalf("%q: %v is no *SyntaxError", text, err)
		default:
			if c.String() != text {
				t.Fatalf("%q is printed %q", text, c)
			}
			taint := c.Taint()
			if taint.Effect == "" {
				taint.Effect = fairlead.NoSchedule
			}
			if err := taints.ValidateTaints([]fairlead.Taint{taint}, nil); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

// FuzzReadCluster: nothing makes it panic, and what it reads has names and can be
// judged.
func FuzzReadCluster(f *testing.F) {
	f.Add([]byte(`{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n1"}, "spec": {"taints": [{"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"}]}}]}`))
	f.Add([]byte(`{"kind": "PodList", "items": [{"metadata": {"name": "p"}, "spec": {"tolerations": [{"key": "a", "tolerationSeconds": 5}]}}]}`))
	f.Add([]byte(`{"kind": "Node", "metadata": {"name": 5}}`))
	f.Add([]byte(`{"kind":"Pod","metadata":{"name":"a","deletionTimestamp":"x"}}[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := taints.ReadCluster(bytes.NewReader(data))
		if err != nil {
			if c != nil || strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("%v with %v", c, err)
			}
			return
		}
		for i := range c.Nodes {
			for j := range c.Pods {
				x := taints.Explain(&c.Pods[j], &c.Nodes[i], nil)
				v := taints.Evaluate(&c.Pods[j], &c.Nodes[i], nil)
				if x.Schedulable != v.Schedulable() || x.Evicted == v.Stays() || utf8.Valid(data) && !utf8.ValidString(x.String()) {
					t.Fatalf("%v, but %b", x, v)
				}
			}
		}
		for _, finding := range taints.Lint(c, nil) {
			if finding.Object == "" || finding.Field == "" || finding.Problem == "" {
				t.Fatalf("%+v", finding)
			}
		}
	})
}

// FuzzRestriction: annotations of a namespace hold whatever somebody wrote.
func FuzzRestriction(f *testing.F) {
	f.Add(`[{"key": "a", "operator": "Exists"}]`)
	f.Add(`{}`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, text string) {
		ns := fairlead.ObjectMeta{Name: "shop", Annotations: map[string]string{taints.AnnotationTolerationsWhitelist: text}}
		r, err := taints.RestrictionOf(ns, taints.Restriction{})
		var wrong *taints.ReadError
		if err != nil && (!errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "namespace/shop: metadata.annotations[")) {
			t.Fatalf("%q: %v", text, err)
		}
		list, err := r.Apply(&fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "p"}}, nil)
		if err != nil || len(list) != 0 {
			t.Fatalf("a pod without tolerations: %v, %v", list, err)
		}
	})
}

// FuzzSyncMachineTaints: so does the annotation of a node.
func FuzzSyncMachineTaints(f *testing.F) {
	f.Add("a:NoSchedule,b:NoExecute")
	f.Add(",")
	f.Fuzz(func(t *testing.T, text string) {
		n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1", Annotations: map[string]string{taints.AnnotationMachineTaints: text}}}
		n.Spec.Taints = []fairlead.Taint{{Key: "a", Effect: fairlead.NoSchedule}, {Key: "mine", Effect: fairlead.NoExecute}}
		s, err := taints.SyncMachineTaints(n, nil)
		if err != nil {
			var wrong taints.FieldErrors
			if !errors.As(err, &wrong) || wrong[0].Object != "node/n1" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if s.Annotation != "" || len(s.Taints) > 2 {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}
