package bundle_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/bundle"
)

// directory stands for os.DirFS("my-operator/1.2.0").
var directory = fstest.MapFS{
	"manifests/csv.yaml": {Data: []byte(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: my-operator.v1.2.0
  annotations:
    features.operators.openshift.io/token-auth-aws: "true"
spec:
  displayName: My Operator
  version: 1.2.0
  installModes:
  - type: AllNamespaces
    supported: yes
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: my-operator
        rules:
        - apiGroups: [cloudcredential.openshift.io]
          resources: [credentialsrequests]
          verbs: [get, list, watch]
      deployments:
      - name: my-operator
        spec:
          template:
            spec:
              containers:
              - name: manager
                image: quay.io/example/my-operator-manager:1.2.0
`)},
	"metadata/annotations.yaml": {Data: []byte(`annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: my-operator
  operators.operatorframework.io.bundle.channels.v1: stable
`)},
	"metadata/dependencies.yaml": {Data: []byte(`dependencies:
- type: olm.package
  value:
    packageName: other-operator
    version: ^1.0.0
`)},
}

func ExampleBundle_Render() {
	b, err := bundle.Read(context.Background(), directory, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := b.Render(&bundle.RenderOptions{Image: "quay.io/example/{{.Package}}:v{{.Version}}", CSVMetadata: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Properties = d.Properties[:2] // the third is what consoles show of the CSV
	_ = d.WriteJSON(os.Stdout)
	// Output:
	// {
	//     "schema": "olm.bundle",
	//     "name": "my-operator.v1.2.0",
	//     "package": "my-operator",
	//     "image": "quay.io/example/my-operator:v1.2.0",
	//     "properties": [
	//         {
	//             "type": "olm.package",
	//             "value": {
	//                 "packageName": "my-operator",
	//                 "version": "1.2.0"
	//             }
	//         },
	//         {
	//             "type": "olm.package.required",
	//             "value": {
	//                 "packageName": "other-operator",
	//                 "versionRange": "^1.0.0"
	//             }
	//         }
	//     ],
	//     "relatedImages": [
	//         {
	//             "name": "",
	//             "image": "quay.io/example/my-operator-manager:1.2.0"
	//         },
	//         {
	//             "name": "",
	//             "image": "quay.io/example/my-operator:v1.2.0"
	//         }
	//     ]
	// }
}

func ExampleBundle_Validate() {
	b, err := bundle.Read(context.Background(), directory, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range b.Validate(nil) {
		fmt.Printf("%s (%s)\n%s\n-> %s\n", d.Pos, d.Code, d.Message, d.Hint)
	}
	// Output:
	// metadata/dependencies.yaml:5:14 (bundle-dependency-range)
	// dependency of type "olm.package": "^1.0.0" is not a range of versions: unknown operator "^"
	// -> write ">=1.0.0 <2.0.0-0"
}

func ExampleCSV_TokenAuth() {
	b, err := bundle.Read(context.Background(), directory, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range b.CSV.TokenAuth() {
		if t.Claimed {
			fmt.Printf("%s, from OpenShift %s on, with %q: ready=%t, lacks %q\n", t.Cloud, t.Since, t.Inputs, t.Ready, t.Missing)
		}
	}
	// Output:
	// AWS STS, from OpenShift 4.14 on, with ["ROLEARN"]: ready=false, lacks ["create" "delete" "patch" "update"]
}
