// Package release decides whether a new version of a catalog can be released.
// [Evaluate] checks every possible installation from the old catalog, by the rules of
// OLM v0 and v1. It reports who would lose the upgrade path, and which edit of the new
// catalog would fix that. Each edit that it suggests has been tried.
package release
