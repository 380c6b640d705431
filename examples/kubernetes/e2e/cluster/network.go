package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// ServePods plays the network of the cluster: connections that the API server
// opens to a service, to call a webhook or for an aggregated API, go to a pod
// behind it that is ready, and dial connects to what serves at a port of it. The
// API server is told to send all of them through a proxy of the cluster's, which
// speaks for a ClusterIP and the ports of its service; nothing else has an
// address. Without ServePods no such connection comes about.
//
// It ends when ctx is done or the cluster is stopped. A cluster has one.
func (k *Kubelets) ServePods(ctx context.Context, c *Cluster, dial func(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)) error {
	listener, err := net.Listen("unix", c.networkSocket())
	if err != nil {
		return fmt.Errorf("playing the network: %w", err)
	}
	n := &network{client: k.client, dial: dial}
	ctx, cancel := context.WithCancel(ctx)
	k.running.Go(func() {
		defer n.running.Wait()
		defer cancel()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			n.running.Go(func() { n.serve(ctx, conn) })
		}
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ending = append(k.ending, func() {
		cancel()
		listener.Close()
	})
	context.AfterFunc(ctx, func() { listener.Close() })
	return nil
}

// network is the proxy that the API server sends connections through.
type network struct {
	client  kubernetes.Interface
	dial    func(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)
	running sync.WaitGroup
}

// serve answers one CONNECT, and then carries what is said.
func (n *network) serve(ctx context.Context, in net.Conn) {
	defer in.Close()
	defer context.AfterFunc(ctx, func() { in.Close() })()
	reader := bufio.NewReader(in)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	out, err := n.connect(ctx, request)
	if err != nil {
		text := err.Error()
		fmt.Fprintf(in, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		return
	}
	defer out.Close()
	defer context.AfterFunc(ctx, func() { out.Close() })()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, reader)
		out.Close()
		close(done)
	}()
	_, _ = io.Copy(in, out)
	in.Close()
	<-done
}

// connect finds a pod for what a CONNECT asks for.
func (n *network) connect(ctx context.Context, request *http.Request) (net.Conn, error) {
	if request.Method != http.MethodConnect {
		return nil, fmt.Errorf("%s is not CONNECT", request.Method)
	}
	host, text, err := net.SplitHostPort(request.Host)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	all, err := n.client.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range all.Items {
		s := &all.Items[i]
		if s.Spec.ClusterIP != host || len(s.Spec.Selector) == 0 {
			continue
		}
		for _, p := range s.Spec.Ports {
			if int(p.Port) == port {
				return n.toPod(ctx, s, p.TargetPort.IntValue())
			}
		}
	}
	return nil, fmt.Errorf("no service is at %s", request.Host)
}

// toPod connects to the first pod of a service that is ready.
func (n *network) toPod(ctx context.Context, s *corev1.Service, port int) (net.Conn, error) {
	pods, err := n.client.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(s.Spec.Selector).String()})
	if err != nil {
		return nil, err
	}
	errs := []error{fmt.Errorf("of %d pods of service %s/%s none answers", len(pods.Items), s.Namespace, s.Name)}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		conn, err := n.dial(ctx, pod, port)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// proxyName is who the API server is to aggregated APIs.
const proxyName = "e2e-proxy"

// networkSocket is where the API server finds the proxy.
func (c *Cluster) networkSocket() string { return c.file("net.sock") }

// writeEgress tells the API server to send connections to services there.
func (c *Cluster) writeEgress() error {
	return os.WriteFile(c.file("egress.yaml"), []byte(`apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: `+c.networkSocket()+"\n"), 0o600)
}
