// Package config decides what the config of a subscription does to the
// deployments of its operator: environment, proxy, volumes, placement,
// resources.
//
// [Apply] takes a deployment as JSON and returns it changed. What it does not
// know it keeps, so that nothing of a manifest is lost. It is pure, and equal
// inputs give equal bytes.
package config
