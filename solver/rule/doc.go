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
// Beside the language's standard functions and macros there is
//
//	semver_compare(a, b) int
//
// which reads both arguments as versions, tolerantly (v1.0 and 1 are fine), and
// returns -1, 0 or 1; build metadata is ignored. The result of a rule must be
// bool by its static type. Numbers in properties are float64. Maps are walked
// in the order of their keys, so that equal input gives equal results.
//
// A regular expression, duration or timestamp that is written in the rule and
// malformed is a mistake of the rule, found when it is compiled.
//
// # Limits
//
// Rules come from catalogs that others wrote, so none may take all time or all
// memory. [Options] bounds the length of a rule and of a constraint, and the
// cost of an evaluation. The language counts steps, whatever a step does;
// here comparing nested values, reading long texts and matching are counted by
// what they take, and + makes no list of more than 262,144 elements and no text
// of more than 4 MiB. A regular expression has at most 1,024 bytes, and is
// matched with texts that it can be done with in some milliseconds. The context
// is looked at all the while.
//
// # Errors while evaluating
//
// A rule that fails on some properties, say because a key is missing, does
// not hold for them: that is false with a diagnostic ([Result]), not an error.
// The same is true of a rule that exceeds its cost limit. Only the end of the
// context leaves the question open, and is an error.
//
// # Concurrency
//
// Compilers, rules, constraints, memos and prepared properties are safe for
// concurrent use.
package rule
