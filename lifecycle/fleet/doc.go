// Package fleet decides about many machines at once: which of them are to be
// deleted, in which order, and how many at a time. What then becomes of each is
// the matter of package lifecycle.
//
//   - [ScaleDown] picks the machines that a set gives up.
//   - [HealthCheck.Evaluate] finds the machines that are to be replaced because they
//     are not healthy, unless too many are.
//   - [Replace] takes a control plane to new machines, one at a time.
//   - [Members] has drain.Admit bound how many machines are on their way out at the
//     same time.
//   - [Why] tells what has a machine deleted.
//
// All are pure functions. Each says what it does not do, and why.
package fleet
