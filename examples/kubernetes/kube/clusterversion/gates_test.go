package clusterversion_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Required acknowledgements and feature gates are observed. If they cannot be read,
// that is reported and not taken for an empty list.
func TestGatesAreObserved(t *testing.T) {
	gates := set(object("v1", "ConfigMap", "openshift-config-managed/admin-gates"), "data", "{ack-4.18-x-in-4.19: know that}")
	acks := set(object("v1", "ConfigMap", "openshift-config/admin-acks"), "data", "{ack-4.18-x-in-4.19: 'true'}")
	features := set(set(object("config.openshift.io/v1", "FeatureGate", "cluster"), "spec", "{featureSet: TechPreviewNoUpgrade}"),
		"status", "{featureGates: [{version: 4.18.0, enabled: [{name: B}, {name: A}], disabled: [{name: C}]}]}")
	version := set(clusterVersion(), "status", "{desired: {version: 4.18.0, image: x}}")
	for _, c := range []struct {
		name    string
		objects []client.Object
		fails   string
		want    string
	}{
		{"nothing", nil, "", "no gates; [] false"},
		{"gates", []client.Object{gates}, "", "map[ack-4.18-x-in-4.19:know that] map[] ; [] false"},
		{"acknowledged", []client.Object{gates, acks}, "", "map[ack-4.18-x-in-4.19:know that] map[ack-4.18-x-in-4.19:true] ; [] false"},
		{"acknowledgements alone", []client.Object{acks}, "", "no gates; [] false"},
		{"gates that cannot be read", []client.Object{gates}, "get ConfigMap/admin-gates", "ConfigMap openshift-config-managed/admin-gates: no; [] false"},
		{"acknowledgements that cannot be read", []client.Object{gates}, "get ConfigMap/admin-acks", "ConfigMap openshift-config/admin-acks: no; [] false"},
		{"features", []client.Object{features}, "", "no gates; [A B] true TechPreviewNoUpgrade"},
	} {
		k := newCluster(t, clusterversion.Options{}, append([]client.Object{version.DeepCopy()}, c.objects...)...)
		k.fail = func(what string) error {
			if c.fails != "" && strings.HasPrefix(what, c.fails) {
				return errors.New("no")
			}
			return nil
		}
		w := k.observe()
		got := "no gates"
		if g := w.AdminGates; g != nil && g.Error != "" {
			got = g.Error
		} else if g != nil {
			got = fmt.Sprintf("%v %v ", g.Gates, g.Acks)
		}
		got += fmt.Sprintf("; %v %v", w.Gates, w.Gates != nil)
		if w.FeatureSet != nil {
			got += " " + *w.FeatureSet
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
