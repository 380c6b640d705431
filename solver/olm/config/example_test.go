package config_test

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/config"
)

// The config of a subscription overrides the cluster's proxy.
func ExampleApply() {
	var c config.Config
	err := json.Unmarshal([]byte(`{
		"env": [{"name": "HTTP_PROXY", "value": "http://proxy.shop.example.com"}],
		"nodeSelector": {"team": "shop"}
	}`), &c)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := config.Apply(
		[]byte(`{"metadata":{"name":"shop"},"spec":{"template":{"spec":{"containers":[{"name":"shop"}]}}}}`),
		&c, &config.Proxy{HTTP: "http://proxy.example.com", No: "example.com"}, "shop.v1.0.0")
	fmt.Println(string(out), err)
	// Output:
	// {"metadata":{"name":"shop"},"spec":{"template":{"spec":{"containers":[{"env":[{"name":"HTTP_PROXY","value":"http://proxy.shop.example.com"},{"name":"OPERATOR_CONDITION_NAME","value":"shop.v1.0.0"}],"name":"shop"}],"nodeSelector":{"team":"shop"}}}}} <nil>
}

// Without variables of its own an operator gets the cluster's proxy, and the name under which
// it reports conditions.
func ExampleConfig_Environment() {
	var none *config.Config
	for _, e := range none.Environment(&config.Proxy{HTTPS: "https://proxy.example.com"}, "shop.v1.0.0") {
		fmt.Println(e.Name, e.Value)
	}
	// Output:
	// HTTPS_PROXY https://proxy.example.com
	// OPERATOR_CONDITION_NAME shop.v1.0.0
}
