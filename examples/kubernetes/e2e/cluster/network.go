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

// ServePods simulates the network of the cluster: connections that the API
// server opens to a service, to call a webhook or for an aggregated API, go to a
// ready pod behind it, and dial connects to what serves at a port of the pod.
// The API server is configured to send all of them through a proxy of the
// cluster, which represents ClusterIPs and the ports of their services; nothing
// else has an address. Without ServePods no such connection is possible.
//
// It ends when ctx is done or the cluster is stopped. It can be called only
// once for a cluster.
func (k *Kubelets) ServePods(ctx context.Context, c *Cluster, dial func(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)) error {
	listener, err := net.Listen("unix", c.networkSocket())
	if err != nil {
		return fmt.Errorf("simulating the network: %w", err)
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

// network is the proxy through which the API server sends connections.
type network struct {
	client  kubernetes.Interface
	dial    func(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)
	running sync.WaitGroup
}

// serve answers one CONNECT, and then forwards the data.
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

// connect finds a pod for the address of a CONNECT.
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
	return nil, fmt.Errorf("there is no service at %s", request.Host)
}

// toPod connects to the first ready pod of a service.
func (n *network) toPod(ctx context.Context, s *corev1.Service, port int) (net.Conn, error) {
	pods, err := n.client.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(s.Spec.Selector).String()})
	if err != nil {
		return nil, err
	}
	errs := []error{fmt.Errorf("none of the %d pods of service %s/%s answers", len(pods.Items), s.Namespace, s.Name)}
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

// proxyName is the user name of the API server for aggregated APIs.
const proxyName = "e2e-proxy"

// networkSocket returns the socket of the proxy.
func (c *Cluster) networkSocket() string { return c.file("net.sock") }

// writeEgress configures the API server to send connections to services there.
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
