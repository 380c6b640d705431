// Package status computes the status of a subscription: its state, and the
// conditions that say why an operator is not installed or updated.
//
// [Update] is a pure function of the subscription, the known [Facts] and the time.
// Conditions that do not apply are removed; others keep the time at which they
// began.
package status
