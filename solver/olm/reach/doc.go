// Package reach asks the resolver whether an installed bundle can be updated to the
// head of a channel, including everything that the bundles on the path require. It
// is the resolver for catalog/release.
package reach
