// Package reach asks the resolver whether a user gets from an installed bundle
// to the head of a channel, with everything that the bundles on the way require
// of others. It fits where catalog/release wants a resolver.
package reach
