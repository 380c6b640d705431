package machines

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/document"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	corev1 "k8s.io/api/core/v1"
)

// slotsKey is the key under which the controller stores the slots of its
// limits.
const slotsKey = "slots"

// slots fills in the slots that the machine waits for. Machines are read from the
// server, because a missing one would lose its slots; whether their nodes are down
// is read from the cache. A machine whose drain has begun has its slots.
func (b *Backend) slots(ctx context.Context, w *lifecycle.World) error {
	if b.Gate == nil || lifecycle.FindCondition(w.Machine.Status.Conditions, lifecycle.ConditionDrained) != nil {
		return nil
	}
	list := kube.ListOf(b.kind())
	if err := b.Client.List(ctx, list); err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	all := []lifecycle.Machine{*w.Machine} // as it was observed
	for i := range list.Items {
		d, err := document.Read(&list.Items[i])
		if err != nil {
			return err
		}
		if d.Machine.UID != w.Machine.UID {
			all = append(all, d.Machine)
		}
	}
	var found corev1.NodeList
	if err := b.Cache.List(ctx, &found); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	down := map[string]drain.Member{}
	for i := range found.Items {
		n := kube.Node(&found.Items[i])
		if m, _ := drain.MemberOf(&drain.World{View: drain.View{Node: &n}}, b.now()); m.Down != "" {
			down[n.Name] = m
		}
	}
	members := fleet.Members(all)
	for i := range members {
		m := &members[i]
		if ref := all[i].Status.NodeRef; ref != nil && m.Down == "" {
			m.Down, m.DownSince = down[ref.Name].Down, down[ref.Name].DownSince
		}
	}
	a, err := b.Gate.Admit(ctx, members, b.now())
	if err != nil {
		return err
	}
	w.Slots = a.SlotsOf(w.Machine.ObjectMeta.String())
	return nil
}
