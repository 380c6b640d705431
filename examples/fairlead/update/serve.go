package update

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/listen"
)

func serveCommand() *args.Command {
	return &args.Command{
		Name:  "serve",
		Usage: "DIR [-listen ADDRESS] [-reload TIME]",
		About: "run an update service for clusters, from a raw graph and graph data",
		Help: `DIR holds a raw graph in JSON (the metadata of release images) and graph data (channels,
blocked-edges) at any depth. To use it, set spec.upstream of the ClusterVersion to http://ADDRESS/graph
  -listen ADDRESS    where to listen (localhost:8080); metrics are at /metrics
  -reload TIME       how often to read DIR again (1m); if that fails, the last graph is kept`,
		Run: serve,
	}
}

func serve(c *args.Call) error {
	address := c.Flags.String("listen", "localhost:8080", "")
	reload := c.Flags.Duration("reload", time.Minute, "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	if *reload <= 0 {
		return &args.UsageError{Text: "-reload: write a time such as 1m"}
	}
	service := graph.NewService(nil)
	if err := loadService(c, service); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", service)
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { writeMetrics(w, service.Metrics()) })
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	go func() {
		tick := time.NewTicker(*reload)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := loadService(c, service); err != nil {
					c.Warn("keeping the last graph: %v", err)
				}
			}
		}
	}()
	return listen.Serve(ctx, *address, mux, func(at net.Addr) { fmt.Fprintf(c.Stdout, "listening on %s\n", at) })
}

// loadService reads the directory.
func loadService(c *args.Call, s *graph.Service) error {
	raw, data, err := readGraphData(c)
	if err == nil {
		s.Load(raw, data)
	}
	return err
}

// writeMetrics writes the metrics of a service in the text format of Prometheus.
func writeMetrics(w io.Writer, m graph.ServiceMetrics) {
	for _, x := range []struct {
		name, help string
		value      int64
	}{
		{"requests", "requests", m.Requests}, {"not_modified", "requests answered with 304", m.NotModified}, {"refused", "requests that were refused", m.Refused},
		{"kept", "requests answered from the cache", m.Kept}, {"made", "graphs that were assembled", m.Made}, {"loads", "times that graph data was loaded", m.Loads},
	} {
		fmt.Fprintf(w, "# HELP fairlead_updates_%s_total Number of %s.\n# TYPE fairlead_updates_%s_total counter\nfairlead_updates_%s_total %d\n", x.name, x.help, x.name, x.name, x.value)
	}
}
