// Package config decides what the config of a subscription does to the
// deployments of its operator: environment, proxy, volumes, placement,
// resources.
//
// [Apply] takes a deployment as JSON and returns it changed. It keeps unknown
// fields, so that nothing of a manifest is lost. It is a pure function: equal inputs
// give equal bytes.
package config
