// Package rule decides whether the properties of a candidate meet a rule.
//
// A rule is written in the Common Expression Language over one variable,
// properties: a list of {type, value}, each value decoded JSON.
//
//	properties.exists(p, p.type == "certified" && p.value.level >= 2)
//
// [Compile] checks a rule once and reports mistakes with line, column and
// caret ([*SyntaxError]); [Rule.Match] evaluates it on the properties that
// [Prepare] decoded once. Where many rules are read, a [Compiler] compiles each
// distinct text once.
//
// A [Constraint] is the compound that operator catalogs know as
// olm.constraint: all, any and not of further constraints, a required API, a
// package in a version range, or a rule. [ParseConstraint] reads it and says
// precisely what is wrong with one it refuses ([*ConstraintError]).
//
// # Language
//
// In addition to the language's standard functions and macros there is
//
//	semver_compare(a, b) int
//
// which parses both arguments as versions, leniently (v1.0 and 1 are accepted),
// and returns -1, 0 or 1; build metadata is ignored. The static type of a rule
// must be bool. Numbers in properties are float64. Maps are iterated in the order
// of their keys, so that equal input gives equal results.
//
// A malformed regular expression, duration or timestamp literal in a rule is found
// when the rule is compiled.
//
// # Limits
//
// Rules come from catalogs that others wrote, so their time and memory are limited.
// [Options] limits the length of a rule and of a constraint, and the cost of an
// evaluation. The language counts steps, whatever a step does; this package also
// counts the actual cost of comparing nested values, reading long texts and
// matching. + makes no list of more than 262,144 elements and no text of more than
// 4 MiB. A regular expression has at most 1,024 bytes, and is matched only with
// texts that take about 20 milliseconds at most. The context is checked throughout.
//
// # Without CEL
//
// A program built with the tag nocel does not link CEL and is several megabytes smaller.
// [Compile] refuses every rule in it; constraints without rules work as always.
//
// # Errors while evaluating
//
// A rule that fails on some properties, because a key is missing for example, does
// not hold for them: the result is false with a diagnostic ([Result]), not an
// error. The same is true for a rule that exceeds its cost limit. Only the end of
// the context is an error, because it leaves the question open.
//
// # Concurrency
//
// Compilers, rules, constraints, memos and prepared properties are safe for
// concurrent use.
package rule
