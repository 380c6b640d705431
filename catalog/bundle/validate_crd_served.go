package bundle

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// served checks what an API server requires before it serves a CRD: the
// approval of a protected group, printer columns, and conversion.
func (k *crdCheck) served() {
	var t crdTypes
	doc.Decode(k.crd.manifest.src.tree, &t, doc.Exact) // what does not fit is reported elsewhere
	k.approval()
	k.columns(t.Spec.columns, "spec")
	for i, v := range t.Spec.Versions {
		k.columns(v.columns, "spec", "versions", i)
	}
	if k.crd.Spec.Conversion != nil {
		k.conversion(&t)
	}
	k.schemas(&t)
}

// approvalAnnotation says where the API of a protected group was approved.
const approvalAnnotation = "api-approved.kubernetes.io"

// approval: groups of the Kubernetes community need one.
func (k *crdCheck) approval() {
	group := "." + k.crd.Spec.Group
	if k.crd.old() || !strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".kubernetes.io") {
		return
	}
	stated, ok := k.crd.Metadata.Annotations[approvalAnnotation]
	at, err := url.Parse(stated)
	switch {
	case stated == "":
		k.fault(fmt.Sprintf("the group %q belongs to the Kubernetes community, and the annotation %s, which API servers require there, is not set", k.crd.Spec.Group, approvalAnnotation),
			"write the URL of the approval, or unapproved, ... with a reason; or use your own group", "metadata", "annotations")
	case ok && !strings.HasPrefix(stated, "unapproved") && (err != nil || at.Host == "" || at.Scheme == ""):
		k.fault(fmt.Sprintf("the annotation %s is %q, which is neither a URL nor unapproved", approvalAnnotation, stated),
			"write the URL of the approval, or unapproved, ... with a reason", "metadata", "annotations", approvalAnnotation)
	}
}

var (
	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"", "int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

func (k *crdCheck) columns(list columns, path ...any) {
	for i, column := range list.AdditionalPrinterColumns {
		here := append(slices.Clone(path), "additionalPrinterColumns", i)
		what := fmt.Sprintf("printer column %d", i+1)
		if column.Name != "" {
			what = fmt.Sprintf("printer column %q", column.Name)
		} else {
			k.fault(what+" has no name", "write name: with the heading of the column", here...)
		}
		switch {
		case column.Type == "":
			k.fault(what+" has no type", "write one of "+strings.Join(columnTypes, ", "), here...)
		case !slices.Contains(columnTypes, column.Type):
			k.fault(fmt.Sprintf("%s: %q is not a column type", what, column.Type), "write one of "+strings.Join(columnTypes, ", "), append(here, "type")...)
		}
		if !slices.Contains(columnFormats, column.Format) {
			k.fault(fmt.Sprintf("%s: %q is not a column format", what, column.Format), "write one of "+strings.Join(columnFormats[1:], ", "), append(here, "format")...)
		}
		name, value, other := "jsonPath", column.JSONPath, "JSONPath"
		misspelt := column.OldJSONPath != ""
		if k.crd.old() {
			name, value, other = "JSONPath", column.OldJSONPath, "jsonPath"
			misspelt = column.JSONPath != ""
		}
		switch {
		case value == "" && misspelt:
			k.fault(what+" has no "+name, "write "+name+" instead of "+other+", which is the name in another version of CRDs", append(here, other)...)
		case value == "":
			k.fault(what+" has no "+name, "write the path of the value in the object, as in .status.phase", here...)
		case value[0] != '.' && value[0] != '[' || strings.Count(value, "[") != strings.Count(value, "]"):
			k.fault(fmt.Sprintf("%s: %s %q is not a path", what, name, value), "write it as in .status.phase", append(here, name)...)
		}
	}
}

// conversion checks how objects are converted between versions.
func (k *crdCheck) conversion(t *crdTypes) {
	c, path := t.Spec.Conversion, []any{"spec", "conversion"}
	src := k.crd.manifest.src.tree.Get("spec", "conversion")
	config, at := c.Webhook.ClientConfig, append(slices.Clone(path), "webhook", "clientConfig")
	node, reviews := src.Get("webhook", "clientConfig"), c.Webhook.ConversionReviewVersions
	if k.crd.old() {
		config, at = c.WebhookClientConfig, append(slices.Clone(path), "webhookClientConfig")
		node, reviews = src.Get("webhookClientConfig"), c.ConversionReviewVersions
	}
	if k.crd.Spec.Conversion.Strategy != "Webhook" {
		if !node.Null() || !k.crd.old() && !src.Get("webhook").Null() {
			k.fault("spec.conversion describes a webhook, but its strategy is not Webhook", "write strategy: Webhook, or delete the webhook", path...)
		}
		return
	}
	if k.crd.Spec.PreserveUnknownFields {
		k.fault("spec.conversion uses a webhook, which needs preserveUnknownFields: false", "write it", "spec", "preserveUnknownFields")
	}
	if node.Null() {
		k.fault("spec.conversion uses a webhook, but there is no client configuration that says where it is", "write webhook.clientConfig with a service", path...)
	} else {
		k.clientConfig(config, node, at)
		k.placeholder(config, at)
	}
	if len(reviews) == 0 && !k.crd.old() {
		k.fault("spec.conversion uses a webhook, but has no conversionReviewVersions", "write conversionReviewVersions: [v1]", path...)
	}
}

// placeholder reports a service that scaffolds write, for a tool to replace, if nothing in the
// bundle does: OLM replaces it if the CSV has a conversion webhook for the CRD.
func (k *crdCheck) placeholder(config clientConfig, path []any) {
	s := config.Service
	if s.Name != "webhook-service" || s.Namespace != "system" {
		return
	}
	if csv := k.c.b.CSV; csv != nil {
		for _, w := range csv.Spec.Webhooks {
			if slices.Contains(w.ConversionCRDs, k.crd.Metadata.Name) {
				return
			}
		}
	}
	m := k.crd.manifest
	k.c.found.advice(CodeCRD, m.At(append(path, "service")...), m.subject(), "spec.conversion calls the service system/webhook-service, a placeholder that nothing in the bundle replaces: objects cannot be converted",
		"add a conversion webhook with this CRD in its conversionCRDs to the CSV, or delete the conversion")
}

func (k *crdCheck) clientConfig(config clientConfig, node *doc.Value, path []any) {
	service := !node.Get("service").Null()
	switch {
	case (config.URL != nil) == service:
		k.fault("the webhook's client configuration has to name either a service or a url", "keep one of the two", path...)
	case service:
		for field, value := range map[string]string{"name": config.Service.Name, "namespace": config.Service.Namespace} {
			if value == "" {
				k.fault("the webhook's service has no "+field, "write it", append(path, "service", field)...)
			}
		}
		if p := config.Service.Path; p != nil && !strings.HasPrefix(*p, "/") {
			k.fault(fmt.Sprintf("the webhook's path %q does not begin with a slash", *p), "write it with one", append(path, "service", "path")...)
		}
		if p := config.Service.Port; p != nil && (*p < 1 || *p > 65535) {
			k.fault(fmt.Sprintf("the webhook's port %d is not a port number", *p), "write a number from 1 to 65535", append(path, "service", "port")...)
		}
	default:
		if u, err := url.Parse(*config.URL); err != nil || u.Scheme != "https" || u.Host == "" {
			k.fault(fmt.Sprintf("the webhook's url %q is not an https URL", *config.URL), "write it as in https://example.com/convert", append(path, "url")...)
		}
	}
}

// quantity matches resource quantities, as API servers read them.
var quantity = regexp.MustCompile(`^([+-]?)([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$`)

// quantityFault says why a text is not a quantity that containers may
// request, or returns "".
func quantityFault(text string) string {
	m := quantity.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "it is not a number with a unit such as m, Mi or G"
	case m[1] == "-" && strings.Trim(m[2], "0.") != "":
		return "it is negative"
	}
	return ""
}

// quantities checks the requests and limits of containers.
func (c *checker) quantities() {
	c.eachContainer(func(what string, con Container, path []any) {
		for _, kind := range []string{"limits", "requests"} {
			node := c.b.CSV.manifest.src.tree.At(append(path, "resources", kind)...)
			if node.Key != kind {
				continue
			}
			for i := range node.Members {
				m := &node.Members[i]
				text, ok := m.Text()
				if !ok && m.Kind == '0' {
					text, ok = string(m.Raw), true
				}
				why := "it is " + m.Describe()
				if ok {
					why = quantityFault(text)
				}
				if why != "" && !m.Null() {
					c.csvFault(CodeDeployment, fmt.Sprintf("%s: the %s of %s %q is not a quantity: %s", what, m.Key, kind, strings.Trim(string(m.Raw), `"`), why),
						"write it as in 100m or 256Mi", append(path, "resources", kind, m.Key)...)
				}
			}
		}
	})
}
