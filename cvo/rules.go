package cvo

import (
	"github.com/fairlead/fairlead/internal/semverx"
)

// Rules are how the releases of one minor version decide on an update: the running release
// decides, not the requested one. They were read in the branches of the
// cluster-version-operator (pkg/payload/precondition/clusterversion) and of the
// cluster-kube-apiserver-operator (pkg/operator/kubeletversionskewcontroller).
type Rules struct {
	Minor  string `json:"minor"`  // of the running release, as in 4.18
	Branch string `json:"branch"` // of both repositories
	Commit string `json:"commit"` // of the cluster-version-operator, as read
	Skew   string `json:"skew"`   // the commit of the cluster-kube-apiserver-operator, as read
	// Since is the first release of the minor version that has these rules.
	Since string `json:"since"`
	// OverridesBlockAll is whether spec.overrides blocks every update; otherwise only
	// those to another minor or major version.
	OverridesBlockAll bool `json:"overridesBlockAll"`
	// Rollback is whether a rollback is checked, and GiantHop whether a skipped minor
	// version is. Where it is not, the release begins such an update without a word.
	Rollback bool `json:"rollback"`
	GiantHop bool `json:"giantHop"` // see Rollback
	// NextMajor is whether an update from 4 to 5.0 may be requested.
	NextMajor bool `json:"nextMajor"`
	// Known is whether the release is in the table. If it is not, the rules are those of the
	// nearest older one that is, or of the oldest.
	Known bool `json:"known"`
}

// Branches returns the table of rules, the oldest minor version first. Releases of OKD have
// the rules of their minor version.
//
// What changed, by merge: overrides block only minor and major versions (91b11e271, PR
// 1314, before 4.22 was branched); the check of skipped minor versions (6c0eaed6e, before
// 4.19); the step to 5.0 (d544606e4, before 4.22); the check of rollbacks (9ac845fb4, before
// 4.14). Each precedes the branch, so all releases of the minor version have it.
func Branches() []Rules {
	list := []Rules{
		{Minor: "4.12", Commit: "da2578c6d", Skew: "0217c88fb"},
		{Minor: "4.13", Commit: "8b3acaebb", Skew: "c0d680781"},
		{Minor: "4.14", Commit: "a1bf93010", Skew: "67e982f05"},
		{Minor: "4.15", Commit: "2cb8ce9ef", Skew: "9e3f9ec8a"},
		{Minor: "4.16", Commit: "be820285d", Skew: "d0b79035d"},
		{Minor: "4.17", Commit: "b855c6809", Skew: "84e19b214"},
		{Minor: "4.18", Commit: "f72d7e2c7", Skew: "e9bc90906"},
		{Minor: "4.19", Commit: "842a2ac22", Skew: "1b4840343"},
		{Minor: "4.20", Commit: "ea3fa7695", Skew: "e9accf887"},
		{Minor: "4.21", Commit: "d37e5a056", Skew: "dc1c217c2"},
		{Minor: "4.22", Commit: "9b55234a2", Skew: "9c413cd4d"},
		{Minor: "4.23", Commit: "aad19c110", Skew: "440392249"},
		{Minor: "5.0", Commit: "6e719331f", Skew: "440392249"},
		{Minor: "5.1", Commit: "6e719331f", Skew: "c813e820b"},
	}
	for i := range list {
		r := &list[i]
		r.Branch, r.Since, r.Known = "release-"+r.Minor, r.Minor+".0", true
		v := semverx.Tolerant(r.Since)
		from := func(minor string) bool { return v.Compare(semverx.Tolerant(minor+".0")) >= 0 }
		r.OverridesBlockAll = !from("4.22")
		r.Rollback, r.GiantHop, r.NextMajor = from("4.14"), from("4.19"), from("4.22")
	}
	return list
}

// RulesOf returns the rules of a running release. A version that cannot be read has those of
// the newest minor version.
func RulesOf(version string) Rules {
	list := Branches()
	near := list[len(list)-1]
	v, err := semverx.Parse(version)
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		near = list[i]
		w := semverx.Tolerant(near.Since)
		if w.Major() == v.Major() && w.Minor() == v.Minor() {
			return near
		}
		if w.Major() < v.Major() || w.Major() == v.Major() && w.Minor() < v.Minor() {
			break
		}
	}
	near.Known = false
	return near
}

// KubeletSkew is how many minor versions the kubelets of nodes may be behind the control
// plane of a minor version: two where it is even and one where it is odd; from 5.0 on, one
// to three, as far as the last release with extended support. The kube-apiserver operator
// blocks an update that would exceed it.
func KubeletSkew(major, minor uint64) int {
	if major < 5 {
		return 2 - int(minor%2)
	}
	return 1 + int(minor%3)
}
