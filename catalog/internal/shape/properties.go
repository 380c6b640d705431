package shape

// csvMetadata is the shape of an olm.csv.metadata property. The names are
// those of opm's types.
func csvMetadata() *Shape {
	lists := []Field{{"resources", eachOf(object("v1alpha1.APIResourceReference", "name kind version"))}}
	for _, f := range []struct{ field, name string }{
		{"statusDescriptors", "StatusDescriptor"}, {"specDescriptors", "SpecDescriptor"}, {"actionDescriptors", "ActionDescriptor"},
	} {
		lists = append(lists, Field{f.field, eachOf(object("v1alpha1."+f.name, "path displayName description", Field{"x-descriptors", eachOf(text)}))})
	}
	crds := eachOf(object("v1alpha1.CRDDescription", "name version kind displayName description", lists...))
	api := object("v1alpha1.APIServiceDescription", "name group version kind deploymentName displayName description", lists...)
	api.Fields = append(api.Fields, Field{"containerPort", &Shape{Kind: Int, Name: "int32"}})
	apis := eachOf(api)
	mode := object("v1alpha1.InstallMode", "",
		Field{"type", &Shape{Kind: Text, Name: "v1alpha1.InstallModeType"}}, Field{"supported", &Shape{Kind: Bool, Name: "bool"}})
	link := object("v1alpha1.AppLink", "name url")
	return object("property.CSVMetadata", "description displayName maturity minKubeVersion",
		Field{"annotations", valuesOf(text)},
		Field{"labels", valuesOf(text)},
		Field{"apiServiceDefinitions", object("v1alpha1.APIServiceDefinitions", "", Field{"owned", apis}, Field{"required", apis})},
		Field{"crdDescriptions", object("v1alpha1.CustomResourceDefinitions", "", Field{"owned", crds}, Field{"required", crds})},
		Field{"installModes", eachOf(mode)},
		Field{"keywords", eachOf(text)},
		Field{"links", eachOf(link)},
		Field{"maintainers", eachOf(object("v1alpha1.Maintainer", "name email"))},
		Field{"nativeAPIs", eachOf(object("v1.GroupVersionKind", "group version kind"))},
		Field{"provider", link},
	)
}

// Properties returns the shapes of the values of properties, by type. Other
// types may have any value.
func Properties() map[string]*Shape {
	return map[string]*Shape{
		"olm.package":          object("property.Package", "packageName version release"),
		"olm.package.required": object("property.PackageRequired", "packageName versionRange"),
		"olm.gvk":              object("property.GVK", "group version kind"),
		"olm.gvk.required":     object("property.GVKRequired", "group version kind"),
		"olm.bundle.object":    object("property.BundleObject", "", Field{"data", &Shape{Kind: Base64, Name: "[]uint8"}}),
		"olm.channel":          object("property.Channel", "channelName", Field{"priority", &Shape{Kind: Int, Name: "int"}}),
		"olm.csv.metadata":     csvMetadata(),
	}
}
