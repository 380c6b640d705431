package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/config"
)

// TestScripts runs the scenarios of testdata. The command apply configures a
// deployment; its input has one part per line:
//
//	pod JSON          spec.template.spec of the deployment
//	deployment JSON   all of it, instead of pod
//	config JSON       spec.config of the subscription
//	proxy JSON        the cluster's
//	csv NAME
//
// It prints the pod, or the whole deployment if that was given.
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			var conf *config.Config
			var proxy *config.Proxy
			var deployment, csv string
			pod := false
			for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
				key, value, _ := strings.Cut(line, " ")
				switch key {
				case "pod":
					deployment, pod = `{"metadata":{"name":"eagle"},"spec":{"template":{"spec":`+value+`}}}`, true
				case "deployment":
					deployment = value
				case "config":
					if err := json.Unmarshal([]byte(value), &conf); err != nil {
						return "error" + words.Data("Error", err.Error())
					}
				case "proxy":
					if err := json.Unmarshal([]byte(value), &proxy); err != nil {
						t.Fatal(err)
					}
				case "csv":
					csv = value
				default:
					t.Fatalf("%s: no such part: %s", c.Pos, line)
				}
			}
			out, err := config.Apply([]byte(deployment), conf, proxy, csv)
			if err != nil {
				return "error" + words.Data("Error", err.Error())
			}
			if again, err := config.Apply(out, conf, proxy, csv); err != nil || string(again) != string(out) {
				t.Errorf("%s: a second time gives %s, %v", c.Pos, again, err)
			}
			if !pod {
				return string(out)
			}
			text := strings.TrimPrefix(string(out), `{"metadata":{"name":"eagle"},"spec":{"template":{"spec":`)
			return strings.TrimSuffix(text, `}}}`)
		}
	})
}
