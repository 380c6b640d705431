package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deployed sets the health of the deployments of each CSV.
func (o *observation) deployed() error {
	if len(o.w.CSVs) == 0 {
		return nil
	}
	all, err := o.deployments(o.ctx, o.w.Namespace)
	if err != nil {
		return err
	}
	for i := range o.w.CSVs {
		c := &o.w.CSVs[i]
		if c.Copied() {
			continue
		}
		note, carriedOut := c.Annotations[DeployedAnnotation]
		c.Deployed, c.Detail, c.DeployedDigest = strategyHealth(c, all, note)
		if !carriedOut {
			c.DeployedDigest = ""
		}
		if c.Deployed == "" && carriedOut && len(c.Spec.Install.Spec.Deployments) == 0 {
			c.Deployed = install.Ready // it has no deployments, and deploying is done
		}
	}
	return nil
}

// strategyHealth returns the health of the deployments of a CSV, and their common
// digest: none if one is missing or was written differently.
func strategyHealth(c *install.CSV, all []appsv1.Deployment, digest string) (install.Health, string, string) {
	var mine []*appsv1.Deployment
	for i := range all {
		if all[i].Labels[group.OwnerLabel] == c.Name {
			mine = append(mine, &all[i])
		}
	}
	missing := ""
	for _, d := range c.Spec.Install.Spec.Deployments {
		at := slices.IndexFunc(mine, func(m *appsv1.Deployment) bool { return m.Name == d.Name })
		if at < 0 {
			missing = fmt.Sprintf("deployment %s is missing", d.Name)
		}
		if at < 0 || mine[at].Annotations[DigestAnnotation] != digest {
			digest = ""
		}
	}
	if len(mine) == 0 {
		return "", missing, digest
	}
	worst, detail := install.Ready, ""
	for _, d := range mine {
		switch health, text := healthOf(d); {
		case health == install.Broken:
			return health, text, digest
		case health == install.Progressing:
			worst, detail = health, text
		}
	}
	if missing != "" {
		return install.Progressing, missing, digest
	}
	return worst, detail, digest
}

// access adds permissions, only if a group of the namespace names a service
// account.
func (o *observation) access() error {
	var named []string
	for i := range o.w.Groups {
		if g := &o.w.Groups[i]; g.Namespace == o.w.Namespace && g.Spec.ServiceAccountName != "" {
			named = append(named, g.Spec.ServiceAccountName)
		}
	}
	if named == nil {
		return nil
	}
	for _, name := range named {
		h, err := o.api.Head(o.ctx, accounts, o.w.Namespace, name)
		if err != nil {
			return err
		}
		if h != nil {
			o.w.Accounts = append(o.w.Accounts, scope.Account{Namespace: o.w.Namespace, Name: name})
		}
	}
	return o.readAccess()
}

func (o *observation) readAccess() (err error) {
	o.w.Access, err = Access(func(gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) { return o.list(o.ctx, gvk, "") })
	return err
}

// Access reads all permissions: roles and bindings of both kinds, which list returns.
func Access(list func(schema.GroupVersionKind) ([]unstructured.Unstructured, error)) (a scope.Access, err error) {
	for _, gvk := range []schema.GroupVersionKind{roles, clusterRoles} {
		if err := decodeAll(list, gvk, &a.Roles); err != nil {
			return a, err
		}
	}
	for _, gvk := range []schema.GroupVersionKind{roleBindings, clusterRoleBindings} {
		if err := decodeAll(list, gvk, &a.Bindings); err != nil {
			return a, err
		}
	}
	return a, nil
}

func decodeAll[T any](list func(schema.GroupVersionKind) ([]unstructured.Unstructured, error), gvk schema.GroupVersionKind, into *[]T) error {
	items, err := list(gvk)
	if err != nil {
		return err
	}
	for i := range items {
		var one T
		if err := kube.DecodeObject(&items[i], &one); err != nil {
			return err
		}
		*into = append(*into, one)
	}
	return nil
}

// reportName returns the name of the ConfigMap with the report on a namespace.
func reportName(namespace string) string { return "fairlead-upgradeable-" + namespace }

const reportField = "condition"

// upgradeable reads the last report.
func (o *observation) upgradeable() error {
	if o.opts.ClusterVersion == "" {
		return nil
	}
	var m corev1.ConfigMap
	err := o.client.Get(o.ctx, client.ObjectKey{Namespace: o.opts.ReportNamespace, Name: reportName(o.w.Namespace)}, &m)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the report on whether operators block updates: %w", err)
	}
	var c olm.Condition
	if json.Unmarshal([]byte(m.Data[reportField]), &c) == nil { // otherwise it is written again
		o.w.Upgradeable = &c
	}
	return nil
}

// report writes a decision; the last writer wins.
func (b *Backend) report(ctx context.Context, namespace string, a install.ReportUpgradeable) error {
	ref := refOf(configMaps, b.opts.ReportNamespace, reportName(namespace))
	text, err := json.Marshal(a.Condition)
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	o := kube.Stub(configMaps, ref.Namespace, ref.Name)
	_ = unstructured.SetNestedField(o.Object, string(text), "data", reportField)
	return outcome(ref, b.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(FieldManager), client.ForceOwnership))
}
