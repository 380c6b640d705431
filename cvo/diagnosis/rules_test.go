package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/golden"
)

// apis are the versions of the kinds in the rules that are not of v1.
var apis = map[string]string{
	"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1", "Ingress": "networking.k8s.io/v1",
	"IngressClass": "networking.k8s.io/v1", "EndpointSlice": "discovery.k8s.io/v1", "Lease": "coordination.k8s.io/v1", "Route": "route.openshift.io/v1",
	"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1", "StorageClass": "storage.k8s.io/v1", "MachineConfigPool": "machineconfiguration.openshift.io/v1",
	"HorizontalPodAutoscaler": "autoscaling/v2", "ClusterVersion": "config.openshift.io/v1", "Machine": "cluster.x-k8s.io/v1beta1",
	"CertificateSigningRequest": "certificates.k8s.io/v1",
}

// TestRules states rules about what makes pods and what leads to them, a small cluster for each. A line is
// an object: KIND [NAMESPACE/]NAME | the rest of its metadata | the rest. The words listed=KIND/NAMESPACE
// say what is known as a whole; says also shows the sentences, and steps the commands.
func TestRules(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	golden.Run(t, "testdata/rules/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			var r snapshot.Reader
			var text strings.Builder
			for line := range strings.Lines(c.Input) {
				p := strings.SplitN(line+" | | ", "|", 4)
				kind, name, _ := strings.Cut(strings.TrimSpace(p[0]), " ")
				api := apis[kind]
				if api == "" {
					api = "v1"
				}
				if space, own, is := strings.Cut(name, "/"); is {
					name = own + ", namespace: " + space
				}
				fmt.Fprintf(&text, "---\n{apiVersion: %s, kind: %s, metadata: {name: %s, %s}, %s}\n", api, kind, name, strings.TrimSpace(p[1]), strings.TrimSpace(p[2]))
			}
			if err := r.Stream(strings.NewReader(text.String()), "x.yaml"); err != nil {
				return err.Error() + "\n"
			}
			for _, list := range c.Values("listed") {
				kind, space, is := strings.Cut(list, "/")
				if is {
					r.Listed(kind, space)
				} else {
					r.Listed(kind)
				}
			}
			s, err := r.Snapshot()
			if err != nil {
				return err.Error() + "\n"
			}
			d := diagnosis.Diagnose(s, now, nil)
			var out strings.Builder
			for i := range d.Causes {
				x := &d.Causes[i]
				fmt.Fprintf(&out, "%s %s", x.Reason, strings.Join(x.Nodes, " "))
				if !x.Since.IsZero() {
					out.WriteString(" since " + x.Since.Format("15:04"))
				}
				if x.Open {
					out.WriteString(" (open)")
				}
				if out.WriteString("\n"); c.Has("says") {
					out.WriteString("  " + d.Says[i] + "\n")
				}
				for _, id := range x.Affects {
					out.WriteString("  holds up " + id + "\n")
				}
			}
			for i := range d.Steps {
				if c.Has("steps") {
					out.WriteString("$ " + d.Steps[i].Command + "\n")
				}
			}
			if len(d.Causes) == 0 {
				out.WriteString("none\n")
			}
			return out.String()
		}
	})
}
