// Package fleet decides about many machines at once: which to delete, in which order,
// and how many at a time. Package lifecycle carries out each deletion.
//
//   - [ScaleDown] picks the machines to delete when a set scales down.
//   - [HealthCheck.Evaluate] finds unhealthy machines to replace, unless too many
//     are unhealthy.
//   - [Replace] moves a control plane to new machines, one at a time.
//   - [Members] lets drain.Admit limit how many machines are being replaced at the
//     same time.
//   - [Why] explains why a machine is being deleted.
//
// All are pure functions. Each says what it does not do, and why.
package fleet
