// Package release is a gate before a new version of a catalog: [Evaluate] goes
// through every user that the old one may have, by the rules of OLM v0 and v1,
// and says who would be left without updates by the new one, and which edit of
// it would help. What it offers has been tried.
package release
