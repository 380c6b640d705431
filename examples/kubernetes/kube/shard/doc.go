// Package shard lets several processes share the objects of a cluster. A hash of
// its name assigns each object to one of a fixed number of shards, and a Lease
// (coordination.k8s.io) on the API server assigns each shard to one process.
//
//	member, err := shard.New(shard.Options{Client: direct, Namespace: "fairlead", Shards: 16})
//	err = mgr.Add(member)
//	err = drain.SetupWithManager(member.Manager(mgr), drain.Options{Store: member.Store(store)})
//
// Guarantees:
//
//  1. No two processes reconcile one object at the same time. A member stops before
//     its lease ends by its own clock, counted from before it requested the renewal.
//     Another one takes over a shard when the lease has not been renewed for its
//     duration plus the skew, counted from when it noticed. Only the speed of clocks
//     matters, never their time. A pass under way is cancelled; requests that it has
//     already sent may still take effect, so engines save before they act, and every
//     write has a precondition.
//  2. Shards are spread evenly. A member with too many finishes the passes under way
//     and releases shards, which others take at once; so does a member that stops.
//     After a crash that takes the lease's duration.
//  3. A member that takes over a shard reconciles all its objects, as after a
//     start.
//  4. The number of shards is written in the Lease of the group. Members with a
//     different number wait until that Lease has expired. A single leader whose
//     Lease has the same name waits likewise, and members wait for it.
//  5. A shard without a member belongs to no one, as does every shard while the
//     server does not answer: then nothing is done.
//
// Do not delete the Leases of running members: that tells the others that they are
// gone.
//
// A member lists the Leases of its namespace every [Options.Retry], and renews each
// Lease that it holds three times within its duration.
package shard
