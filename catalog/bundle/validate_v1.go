package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// The types of webhooks.
const (
	webhookValidating = "ValidatingAdmissionWebhook"
	webhookMutating   = "MutatingAdmissionWebhook"
	webhookConversion = "ConversionWebhook"
)

// v1Files: OLM v1 finds annotations by the name of their file and rejects
// directories in manifests.
func (c *checker) v1Files() {
	for _, f := range c.b.files {
		if f.dir && strings.HasPrefix(f.name, "manifests/") {
			c.found.fault(CodeIgnoredFile, catalog.Position{File: f.name}, "", "OLM v1 rejects directories in manifests", "move its files one level up")
		}
	}
	const name = "metadata/annotations.yaml"
	if pos := c.b.Annotations.Position; pos.File != "" && pos.File != name {
		c.found.fault(CodeAnnotation, pos, c.b.subject(), "OLM v1 looks for annotations in "+name+" only", "rename the file")
	}
	if c.b.Annotations.src != nil && c.b.Package() == "" {
		c.found.fault(CodeAnnotation, c.b.Annotations.At(AnnotationPackage), c.b.subject(), "the package has no name", "write the annotation "+AnnotationPackage)
	}
}

// v1Deployments: names of deployments are unique and valid object names.
func (c *checker) v1Deployments() {
	deployments := c.b.CSV.Spec.Install.Spec.Deployments
	for i, d := range deployments {
		path := []any{"spec", "install", "spec", "deployments", i, "name"}
		if slices.ContainsFunc(deployments[:i], func(o Deployment) bool { return o.Name == d.Name }) {
			c.csvFault(CodeDeployment, fmt.Sprintf("deployment %q is listed twice", d.Name), "rename or delete one of the two", path...)
		}
		if why := subdomainFault(d.Name); why != "" {
			c.csvFault(CodeDeployment, fmt.Sprintf("%q cannot name a deployment: %s", d.Name, why), "write lower-case letters, digits, hyphens and dots", path...)
		}
	}
}

// v1Webhooks: names of webhooks are unique; webhooks run in a deployment of
// the CSV and cannot lock up the cluster.
func (c *checker) v1Webhooks() {
	webhooks := c.b.CSV.Spec.Webhooks
	for i, w := range webhooks {
		path := []any{"spec", "webhookdefinitions", i}
		fault := func(message, hint string, more ...any) {
			c.csvFault(CodeWebhook, fmt.Sprintf("webhook %q of type %q: %s", w.GenerateName, w.Type, message), hint, append(path[:3:3], more...)...)
		}
		if !slices.Contains([]string{webhookValidating, webhookMutating, webhookConversion}, w.Type) {
			fault("there is no such type", "write one of "+webhookValidating+", "+webhookMutating+", "+webhookConversion, "type")
		}
		if !slices.ContainsFunc(c.b.CSV.Spec.Install.Spec.Deployments, func(d Deployment) bool { return d.Name == w.DeploymentName }) {
			fault(fmt.Sprintf("its deployment %q is not in the CSV", w.DeploymentName), "name one of the CSV's deployments", "deploymentName")
		}
		if slices.ContainsFunc(webhooks[:i], func(o Webhook) bool { return o.Type == w.Type && o.GenerateName == w.GenerateName }) {
			fault("it is listed twice", "rename or delete one of the two", "generateName")
		}
		if why := subdomainFault(w.GenerateName); why != "" {
			fault("the name is not valid: "+why, "write lower-case letters, digits, hyphens and dots", "generateName")
		}
		if w.Type != webhookConversion {
			c.webhookRules(w, fault)
		}
	}
}

// guarded are the resources whose webhooks could lock a cluster up.
var guarded = []string{
	"*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
	"validatingwebhookconfiguration", "validatingwebhookconfigurations",
}

func (c *checker) webhookRules(w Webhook, fault func(message, hint string, more ...any)) {
	for j, r := range w.Rules {
		for k, group := range r.APIGroups {
			switch group {
			case "*", "olm.operatorframework.io":
				fault(fmt.Sprintf("its rules must not be about the API group %q: a faulty webhook could then not be removed", group),
					"name the groups it is for", "rules", j, "apiGroups", k)
			case "admissionregistration.k8s.io":
				for l, resource := range r.Resources {
					if slices.Contains(guarded, strings.ToLower(resource)) {
						fault(fmt.Sprintf("its rules must not be about the resource %q of %s: a faulty webhook could then not be removed", resource, group),
							"name the resources it is for", "rules", j, "resources", l)
					}
				}
			}
		}
	}
}

// v1Conversions: conversion webhooks need the install mode AllNamespaces, and
// convert CRDs that the CSV owns, one webhook for each.
func (c *checker) v1Conversions() {
	csv := c.b.CSV
	by := map[string]string{}
	for i, w := range csv.Spec.Webhooks {
		if w.Type != webhookConversion {
			continue
		}
		path := []any{"spec", "webhookdefinitions", i}
		if len(w.ConversionCRDs) == 0 && !csv.onlyAll() { // with CRDs this is reported for both versions of OLM
			c.csvFault(CodeWebhook, fmt.Sprintf("webhook %q converts objects, so %s must be the only install mode supported", w.GenerateName, modeAll),
				"support "+modeAll+" and nothing else", path...)
		}
		for j, name := range w.ConversionCRDs {
			at := append(path[:3:3], "conversionCRDs", j)
			if !slices.ContainsFunc(csv.Spec.CRDs.Owned, func(d CRDDescription) bool { return d.Name == name }) {
				c.csvFault(CodeWebhook, fmt.Sprintf("webhook %q converts the CRD %q, which the CSV does not own", w.GenerateName, name), "list the CRD as owned, or delete it here", at...)
			}
			if other, dup := by[name]; dup {
				c.csvFault(CodeWebhook, fmt.Sprintf("webhooks %q and %q convert the same CRD %q", other, w.GenerateName, name), "keep one of the two", at...)
			} else {
				by[name] = w.GenerateName
			}
		}
	}
}
