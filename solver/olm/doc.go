// Package olm decides which operators to install or update in a namespace. Given
// the catalogs, the subscriptions and the installed operators, it finds the best
// answer that the rules of the Operator Lifecycle Manager allow, or explains why
// there is none and what would help.
//
// A [Resolver] holds the catalogs, and what it learns about them. Its method Resolve
// takes a [Request], the state of one namespace, and returns a [Resolution]; its
// comment states the rules and the order of preference. Answers do not depend on map
// order, goroutines or chance: equal requests have equal answers. A separate checker
// compares each answer with the catalogs before it is returned.
//
// If a request cannot be satisfied, the error is an [*UnsatError]. Its method Explain
// finds which requirement of which bundle nothing meets, or which operators exclude
// each other, what the catalogs have that comes closest, and, by trying, changes
// that would help.
//
// [Resolver.ResolveExtension] follows OLM v1 instead: it resolves one package alone
// and knows no dependencies.
//
// There are further questions. [Resolver.WhyNot] explains why a bundle is not
// selected. [Resolver.UpdateOnly] updates only some packages, and as few others as
// possible. [Base.WhatIf] shows the effect of a change. [Resolver.UpgradePath] finds
// the way to a version over several hops. [Impact] shows what other catalogs would do
// to a fleet. [Resolver.ResolveNamespaces] finds conflicts between namespaces. Package
// lock, below this one, keeps answers in files.
//
// [Case] is a short form of questions that do not need a cluster.
//
// # Differences from the reference
//
// The reference resolver can return an answer that leaves a subscription out,
// prefers a worse bundle without need, or differs from run to run. Beyond that:
//
//   - A bundle whose requirement cannot be parsed is rejected, with the reason;
//     there it fails the namespace. So is a bundle whose olm.package property names
//     another package than the one that lists it.
//   - An installed operator with such a requirement stays, with a warning.
//   - The failure message of a constraint is always shown.
//   - The candidates of a subscription without a catalog are taken catalog by
//     catalog, in order of preference, each with its own channels.
//   - Subscriptions are served before the requirements of installed operators
//     that have no subscription; there the order is random.
//   - A bundle with the name of the installed one is not an update.
//
// [Options] has what else the documents promise or users ask for: updates from
// other catalogs, unusable catalogs that nobody refers to, and namespaces in which
// one conflict does not stop the rest.
package olm
