package kubectldrain_test

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/kubectldrain"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A program that drains a node, as written for k8s.io/kubectl/pkg/drain: only the
// import has changed.
func ExampleRunNodeDrain() {
	client, err := kubernetes.NewForConfig(ctrl.GetConfigOrDie())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	node, err := client.CoreV1().Nodes().Get(ctx, os.Args[1], metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	drainer := &kubectldrain.Helper{
		Ctx: ctx, Client: client, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
		GracePeriodSeconds: -1, Timeout: time.Hour, Out: os.Stdout, ErrOut: os.Stderr,
	}
	if err := kubectldrain.RunCordonOrUncordon(drainer, node, true); err != nil {
		log.Fatal(err)
	}
	if err := kubectldrain.RunNodeDrain(drainer, node.Name); err != nil {
		log.Fatal(err)
	}
}
