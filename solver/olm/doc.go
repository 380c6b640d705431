// Package olm decides which operators to install or update in a namespace.
// Given the catalogs, the subscriptions and the installed operators, it finds
// the best answer that the rules of the Operator Lifecycle Manager allow, or
// explains why there is none and what would help.
//
// A [Resolver] holds the catalogs and caches what it learns about them.
// [Resolver.Resolve] takes a [Request], the state of one namespace, and returns
// a [Resolution]; its documentation states the rules and the order of
// preference. Answers do not depend on map order, goroutines or randomness:
// equal requests get equal answers. A separate checker compares each answer
// with the catalogs before it is returned.
//
// If a request cannot be satisfied, the error is an [*UnsatError]. Its method
// Explain finds the requirement that nothing meets or the operators that
// exclude each other, the closest alternatives in the catalogs and, by trial
// resolutions, changes that would help.
//
// [Resolver.ResolveExtension] follows OLM v1 instead: it resolves a single
// package and ignores dependencies.
//
// Other methods answer further questions. [Resolver.WhyNot] explains why a
// bundle is not selected. [Resolver.UpdateOnly] updates only some packages, and
// as few others as possible. [Base.WhatIf] shows the effect of a change.
// [Resolver.UpgradePath] finds a path to a version over several hops. [Impact]
// shows what other catalogs would do to a fleet. [Resolver.ResolveNamespaces]
// finds conflicts between namespaces. The subpackage lock stores answers in
// files.
//
// [Case] is a short form for questions that do not need a cluster.
//
// # Differences from the reference
//
// The reference resolver can return an answer that leaves a subscription out,
// prefers a worse bundle without need, or differs from run to run. Beyond that:
//
//   - A bundle whose requirement cannot be parsed is rejected, with the reason;
//     in the reference it fails the namespace. A bundle whose olm.package
//     property names a package other than the one that lists it is rejected as
//     well.
//   - An installed operator with such a requirement stays, with a warning.
//   - The failure message of a constraint is always shown.
//   - The candidates of a subscription without a catalog are taken catalog by
//     catalog, in order of preference, each with its own channels.
//   - Subscriptions are served before the requirements of installed operators
//     that have no subscription; in the reference the order is random.
//   - A bundle with the name of the installed one is not an update.
//
// [Options] adds what the OLM documentation promises or users request: updates
// from other catalogs, tolerance of unusable catalogs that no subscription
// refers to, and namespaces in which one conflict does not stop the rest.
package olm
