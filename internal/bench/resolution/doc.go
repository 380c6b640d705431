// Package resolution gives the same namespaces to OLM's resolver and to ours,
// judges both answers by an implementation of the documented rules that shares
// nothing with either, and measures what they cost.
package resolution
