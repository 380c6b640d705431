// Package shard lets several processes share the objects of a cluster: each object
// belongs to one of so many shards, by a hash of its name, and each shard to one
// process, by a Lease (coordination.k8s.io) on the API server.
//
//	member, err := shard.New(shard.Options{Client: direct, Namespace: "fairlead", Shards: 16})
//	err = mgr.Add(member)
//	err = drain.SetupWithManager(member.Manager(mgr), drain.Options{Store: member.Store(store)})
//
// What holds:
//
//  1. No two processes make passes over one object at a time. A member stops
//     before its lease ends by its own clock, counted from before it asked for the
//     renewal; another takes a shard over when the lease has not been renewed for
//     its duration and the skew, counted from when it saw that. Only how fast
//     clocks run is compared, never what they say. A pass under way is canceled;
//     what the server has been asked for by then may still be done, which is why
//     engines save before they act, and every write has a precondition.
//  2. Members have an equal number of shards, or one more. Who has too many ends
//     the passes under way and gives shards back, and another takes them at once;
//     so does a member that stops. After a crash it takes the lease's duration.
//  3. Who takes a shard over is told of all its objects, as after a start.
//  4. How many shards there are is written in the Lease of the group. Members that
//     are set to another number wait until it has run out, and so does a single
//     leader whose Lease has the same name, as members wait for that one's.
//  5. A shard without a member, or a server that does not answer, is nobody's: then
//     nothing is done.
//
// Do not delete Leases of members that run: that tells others that they are gone.
//
// A member lists the Leases of its namespace every [Options.Retry], and writes each
// that it holds three times in its duration.
package shard
