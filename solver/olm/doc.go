// Package olm decides which operators to install or update in a namespace:
// given the catalogs, the subscriptions and what is installed, it finds the
// best answer that the rules of the Operator Lifecycle Manager allow, or says
// why there is none and what would help.
//
// A [Resolver] holds the catalogs, and what it learns about them; its method
// Resolve takes a [Request], the state of one namespace, and returns a
// [Resolution]. What is preferred to what, and the rules, stand there. No
// answer depends on the order of maps, on goroutines or on chance: equal
// requests have equal answers. Each is judged against the catalogs by a checker
// of its own before it is returned.
//
// Where a request cannot be satisfied the error is an [*UnsatError]. Its method
// Explain finds which requirement of which bundle nothing meets, or which
// operators exclude each other, the nearest thing that the catalogs have, and,
// by trying, changes that would help.
//
// [Resolver.ResolveExtension] is the other policy, that of OLM v1, which takes one
// package by itself and knows no dependencies.
//
// More can be asked. [Resolver.WhyNot] tells why a bundle is not chosen,
// [Resolver.UpdateOnly] moves only some packages and as few others as possible,
// [Base.WhatIf] tells what a change would do, [Resolver.UpgradePath] finds the
// way to a version over several hops, [Impact] tells what other catalogs do to a
// fleet, and [Resolver.ResolveNamespaces] finds conflicts between namespaces.
// Package lock below this one keeps answers in files.
//
// [Case] is a short form for questions that take no cluster.
//
// # Differences from the reference
//
// The reference resolver can return an answer that leaves a subscription out,
// prefers one without need, or differs from run to run. Beyond that:
//
//   - A bundle whose requirement cannot be read is refused, with the reason;
//     there it fails the namespace. So is one whose olm.package property names
//     another package than the one that lists it.
//   - An installed operator with such a requirement stays, with a warning.
//   - The failure message of a constraint is always shown.
//   - The candidates of a subscription without a catalog are taken catalog by
//     catalog, in order of preference, each with its own channels.
//   - Subscriptions are served before the requirements of installed operators
//     that no subscription refers to; there the order is random.
//   - An update to a bundle of the installed name is not an update.
//
// [Options] has what else the documents promise or users ask for: updates from
// other catalogs, unusable catalogs that nobody refers to, namespaces in which
// one conflict does not stop the rest.
package olm
