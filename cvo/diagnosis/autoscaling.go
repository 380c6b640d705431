package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
)

// autoscalersWait adds the autoscalers that cannot scale: without metrics, or without what they scale.
func (b *builder) autoscalersWait() {
	for i := range b.apps.autoscalers {
		a := &b.apps.autoscalers[i]
		for _, kind := range [...]string{"AbleToScale", "ScalingActive"} {
			c := fairlead.FindCondition(a.Status.Conditions, kind)
			if c != nil && c.Status == fairlead.ConditionFalse && c.Reason != "ScalingDisabled" {
				b.autoscaler(a, c)
				break
			}
		}
	}
}

// autoscaler adds one, with the API of metrics that it waits for if that does not answer.
func (b *builder) autoscaler(a *snapshot.Autoscaler, c *fairlead.Condition) {
	full := a.ObjectMeta.String()
	x := Node{Kind: "HorizontalPodAutoscaler", Namespace: a.Namespace, Name: a.Name, State: Faulty, Reason: AutoscalerIdle, Since: c.LastTransitionTime, Sure: Seen, Owner: "owner of the workload", Quote: c.Message}
	x.Says = "autoscaler " + full + " does not scale " + strings.ToLower(a.Spec.ScaleTargetRef.Kind) + " " + a.Spec.ScaleTargetRef.Name
	x.do, x.command = "correct what its conditions name", shell.Command("kubectl -n %s describe horizontalpodautoscaler %s", a.Namespace, a.Name)
	describe := x.command
	x.because(failure.Sign{Type: c.Type, Reason: c.Reason, Message: c.Message}, 140)
	x.command = cmp.Or(x.command, describe)
	if p := b.strange(a, c.Message); p != nil && x.Reason == "RequestMissing" {
		x.Says += "; the pod is not of the workload, and has its labels"
		x.do, x.command = "give pod "+p.ObjectMeta.String()+", or what makes it, other labels, or the requests that its containers lack", shell.Command("kubectl -n %s get pod %s --show-labels", p.Namespace, p.Name)
	}
	for k := range b.apis {
		if api := ID("APIService", "", b.apis[k].Name); b.have[api] && metricsOf(c.Reason) == b.apis[k].Spec.Group {
			b.wait(ID(x.Kind, x.Namespace, x.Name), api, "Metrics", Derived)
			x.State = Waiting
		}
	}
	b.add(x)
}

// strange returns the pod without requests of which an autoscaler complains, if a Job made it, or
// nothing: then it only has the labels of the workload's own.
func (b *builder) strange(a *snapshot.Autoscaler, message string) *fairlead.Pod {
	named := strings.FieldsFunc(message, func(r rune) bool { return r == ' ' || r == ',' || r == ')' })
	for _, i := range b.podsOfNamespace(a.Namespace) {
		p := &b.pods[i]
		if o := p.ControllerOf(); (o == nil || o.Kind == "Job") && slices.Contains(named, p.Name) {
			return p
		}
	}
	return nil
}

// metricsOf returns the group of the API whose metrics an autoscaler could not get, by the reason that
// it gives.
func metricsOf(reason string) string {
	switch reason {
	case "FailedGetResourceMetric", "FailedGetContainerResourceMetric":
		return "metrics.k8s.io"
	case "FailedGetPodsMetric", "FailedGetObjectMetric":
		return "custom.metrics.k8s.io"
	case "FailedGetExternalMetric":
		return "external.metrics.k8s.io"
	}
	return ""
}
