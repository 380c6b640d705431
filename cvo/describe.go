package cvo

import "github.com/fairlead/fairlead/cvo/graph"

// described returns a release, completed with the data of the update service.
func described(r Release, u *graph.Updates) Release {
	if u == nil || r.Image == "" {
		return r
	}
	known := []graph.Release{u.Current}
	for _, list := range [][]graph.Update{u.Available, u.Conditional} {
		for _, to := range list {
			known = append(known, to.Release)
		}
	}
	for _, k := range known {
		if !SameImage(k.Payload, r.Image) {
			continue
		}
		more := release(k)
		if r.Version == "" {
			r.Version = more.Version
		}
		if r.URL == "" {
			r.URL = more.URL
		}
		if r.Channels == nil {
			r.Channels = more.Channels
		}
		return r
	}
	return r
}
