// Package cudf reads upgrade problems of package managers in the Common Upgrade
// Description Format, version 2.0, and finds the upgrade that is best by a list
// of criteria, such as the fewest packages removed and then the fewest changed.
//
// [Read] reads a document, [Document.Solve] solves it with package solver, and
// [Document.Write] writes the packages that are installed afterwards. [Document.Check]
// verifies the proof that no upgrade is better ([Result.Certificate]). Criteria are
// those of the Mancoosi competitions (MISC), see [ParseCriteria].
//
// The format: https://www.mancoosi.org/cudf/
package cudf
