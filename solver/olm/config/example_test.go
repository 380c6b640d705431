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

// The certificates that the cluster trusts, for an operator behind a proxy.
func ExampleConfig_WithTrustedCA() {
	var none *config.Config
	c := none.WithTrustedCA("trusted-ca", "")
	text, err := json.Marshal(c)
	fmt.Println(string(text), err)
	// Output:
	// {"volumes":[{"name":"trusted-ca","configMap":{"name":"trusted-ca","items":[{"key":"ca-bundle.crt","path":"tls-ca-bundle.pem"}]}}],"volumeMounts":[{"name":"trusted-ca","mountPath":"/etc/pki/ca-trust/extracted/pem","readOnly":true}]} <nil>
}
